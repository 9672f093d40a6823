"""A network of one's own: learn moves from SGF files with torch, then search with it.

python examples/own_torch_module.py games/ --epochs 5
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from tengen import Engine, load_sgf
from tengen.features.feature_set import KATAGO
from tengen.game.sgf.files import sgf_files
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator, uniform


class Module(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(len(KATAGO.planes), 32, 3, padding=1)
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.policy = nn.Conv2d(32, 1, 1)

    def forward(self, planes: Tensor) -> Tensor:
        """Logits [batch, points + 1] of all moves; a pass is never expected."""
        points = self.policy(self.second(self.first(planes).relu()).relu()).flatten(1)
        return torch.cat([points, torch.full((len(points), 1), -10.0)], 1)

    def evaluate(self, batch: Batch) -> Evaluation:
        policy = self(torch.from_numpy(batch.planes)).detach().numpy()
        return uniform(batch)._replace(policy=policy)  # it knows moves, but not who is ahead


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--epochs", type=int, default=5)
    arguments = parser.parse_args()
    pairs = [  # positions, and the moves that were played in them
        (position.undo(), move.point.y * position.width + move.point.x)
        for file in sgf_files(arguments.sources)
        for position in load_sgf(file)[0].positions()
        if (move := position.last_move) is not None and move.point is not None
    ]
    planes = torch.from_numpy(encode(KATAGO, [position for position, _ in pairs]).planes)
    moves = torch.tensor([move for _, move in pairs])
    module = Module()
    optimizer = torch.optim.Adam(module.parameters(), 0.003)
    for epoch in range(arguments.epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(planes), moves)
        torch.autograd.backward(loss)
        optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss:.3f}")
    with Engine(FakeEvaluator(module.evaluate, KATAGO, "own module")) as engine:
        print(engine.search(pairs[0][0], visits=32))
