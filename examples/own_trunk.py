"""A torch module of one's own between Tengen's inputs and heads, in training and in search.

    tengen --module examples/own_trunk.py train RUN --model lines --board-size 7 --minutes 10
    tengen --module examples/own_trunk.py play --model RUN/latest.safetensors --board-size 7

This one looks along rows and columns. Self-play, the losses, checkpoints, ratings, and every
command that takes a network work with it as with any other; torch runs it.
"""

from __future__ import annotations

from torch import Tensor, nn

from tengen.network.architecture import Architecture
from tengen.network.own_trunks import own_trunk
from tengen.network.torch.blocks import Boards

CHANNELS = 32


@own_trunk("lines", channels=CHANNELS)
class Lines(nn.Module):
    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.inputs = nn.Conv2d(architecture.planes, CHANNELS, 3, padding=1)
        self.rules = nn.Linear(architecture.globals, CHANNELS)
        self.row = nn.Conv2d(CHANNELS, CHANNELS, (1, 9), padding=(0, 4))
        self.column = nn.Conv2d(CHANNELS, CHANNELS, (9, 1), padding=(4, 0))

    def forward(self, planes: Tensor, globals_: Tensor, boards: Boards) -> Tensor:
        x: Tensor = self.inputs(planes) + self.rules(globals_)[:, :, None, None]
        for _ in range(3):  # with the same weights each time
            x = x + self.column(self.row(x.relu() * boards.mask).relu() * boards.mask)
        return x
