"""The tutorial's network: two heads on post-activation residual blocks, tied to one board size."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.features.feature_set import BASIC


@dataclass(frozen=True)
class TutorialArchitecture:
    """How large it is."""

    side: int = 9
    blocks: int = 4
    channels: int = 64
    value_hidden: int = 64
    planes: int = len(BASIC.planes)


class ResidualBlock(nn.Module):
    """Convolution, norm, ReLU, convolution, norm, what came in, ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(x + self.norm2(self.conv2(inner)))


class TutorialNetwork(nn.Module):
    """Planes to the logits of all moves and one value from -1 to 1, for the side to play."""

    def __init__(self, architecture: TutorialArchitecture) -> None:
        super().__init__()
        a = architecture
        area = a.side * a.side
        self.conv = nn.Conv2d(a.planes, a.channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(a.channels)
        self.blocks = nn.Sequential(*(ResidualBlock(a.channels) for _ in range(a.blocks)))
        self.policy_conv = nn.Conv2d(a.channels, 2, 1, bias=False)
        self.policy_norm = nn.BatchNorm2d(2)
        self.policy = nn.Linear(2 * area, area + 1)
        self.value_conv = nn.Conv2d(a.channels, 1, 1, bias=False)
        self.value_norm = nn.BatchNorm2d(1)
        self.value_hidden = nn.Linear(area, a.value_hidden)
        self.value = nn.Linear(a.value_hidden, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [batch, area + 1] and values [batch] of planes[batch, planes, side, side]."""
        x = self.blocks(functional.relu(self.norm(self.conv(planes))))
        policy = functional.relu(self.policy_norm(self.policy_conv(x))).flatten(1)
        value = functional.relu(self.value_norm(self.value_conv(x))).flatten(1)
        value = torch.tanh(self.value(functional.relu(self.value_hidden(value))))
        return self.policy(policy), value[:, 0]
