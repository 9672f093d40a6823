"""A network for tests: Black is ahead, owns the left half of the board, and White the right."""

from __future__ import annotations

import time

import numpy as np

from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tests.frontends.analysis.conversation import OWN_KOMI, black_is_ahead


def halves(batch: Batch) -> Evaluation:
    n, _, height, width = batch.planes.shape
    sign = np.where(batch.globals[:, OWN_KOMI] > 0, -1, 1)
    owners = -0.9 * np.sign(np.arange(width) - width // 2)
    ownership = np.broadcast_to(sign[:, None, None] * owners, (n, height, width))
    return black_is_ahead(batch)._replace(ownership=ownership.astype(np.float32))


HALVES = FakeEvaluator(halves)


def slow_halves(seconds: float) -> FakeEvaluator:
    """The same, but each batch takes its time."""

    def script(batch: Batch) -> Evaluation:
        time.sleep(seconds)
        return halves(batch)

    return FakeEvaluator(script)
