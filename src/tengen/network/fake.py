"""An evaluator without a network, for tests and for measuring everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tengen.features.feature_set import KATAGO, FeatureSet
from tengen.network.evaluator import Batch, Evaluation


class Ready(NamedTuple):
    """A pending evaluation that is done already."""

    evaluation: Evaluation

    def result(self) -> Evaluation:
        """The evaluation."""
        return self.evaluation


def uniform(batch: Batch) -> Evaluation:
    """All moves alike, an even game, neutral points."""
    n, _, height, width = batch.planes.shape
    nothing = np.zeros(n, np.float32)
    return Evaluation(
        policy=np.zeros((n, height * width + 1), np.float32),
        value=np.tile(np.array([0.5, 0.5, 0.0], np.float32), (n, 1)),
        score=nothing,
        spread=nothing,
        lead=nothing,
        variance_time=nothing,
        value_error=nothing,
        score_error=nothing,
        ownership=np.zeros((n, height, width), np.float32),
    )


@dataclass(frozen=True)
class FakeEvaluator:
    """Evaluates batches by a Python function."""

    script: Callable[[Batch], Evaluation] = uniform
    features: FeatureSet = KATAGO
    name: str = "fake"
    device: str = "none"
    best_batch: int = 8
    parallel_batches: int = 1
    on_processor: bool = False
    has_optimism: bool = False
    imitates_people: bool = False

    def submit(self, batch: Batch) -> Ready:
        """Evaluate at once."""
        return Ready(self.script(batch))
