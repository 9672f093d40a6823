"""Evaluations under symmetries of the board: one at random, or the average of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.evaluator import Batch, Evaluation, Evaluator, EvaluatorWrapper, Pending

Symmetries: TypeAlias = Literal["random", "average"]


class SymmetricEvaluator(EvaluatorWrapper):
    """Evaluates each batch under one random symmetry, or under all and averages.

    Boards that are not square have four symmetries, square ones eight.
    """

    def __init__(self, inner: Evaluator, symmetries: Symmetries, seed: int = 0) -> None:
        super().__init__(inner)
        self._symmetries = symmetries
        self._random = np.random.default_rng(seed)
        self.device = f"{inner.device}, {symmetries} symmetry"

    def submit(self, batch: Batch) -> Pending:
        """Start the evaluations of the transformed batch."""
        size = Size(batch.planes.shape[3], batch.planes.shape[2])
        usable = [s for s in Symmetry if size.width == size.height or not s.transposes]
        if self._symmetries == "random":
            usable = [usable[self._random.integers(len(usable))]]
        pending = [
            (symmetry, self._inner.submit(_transformed(batch, symmetry, size)))
            for symmetry in usable
        ]
        return _Average(pending, size)


def _transformed(batch: Batch, symmetry: Symmetry, size: Size) -> Batch:
    n, count = batch.planes.shape[:2]
    after = symmetry.size(size)
    planes = batch.planes.reshape(n, count, size.area)[:, :, symmetry_points(symmetry, size)]
    return Batch(planes.reshape(n, count, after.height, after.width), batch.globals)


@dataclass(frozen=True)
class _Average:
    pending: list[tuple[Symmetry, Pending]]
    size: Size

    def result(self) -> Evaluation:
        evaluations = [
            self._restored(symmetry, pending.result()) for symmetry, pending in self.pending
        ]
        if len(evaluations) == 1:
            return evaluations[0]
        fields = zip(*evaluations, strict=True)
        return Evaluation(*(np.asarray(np.mean(field, 0), np.float32) for field in fields))

    def _restored(self, symmetry: Symmetry, evaluation: Evaluation) -> Evaluation:
        """The evaluation with its points back where they are on the board."""
        places = np.argsort(symmetry_points(symmetry, self.size))
        n = len(evaluation.policy)
        policy = np.concatenate(
            [evaluation.policy[:, :-1][:, places], evaluation.policy[:, -1:]], 1
        )
        ownership = evaluation.ownership.reshape(n, -1)[:, places]
        shape = (n, self.size.height, self.size.width)
        return evaluation._replace(policy=policy, ownership=ownership.reshape(shape))
