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


def centre_is_worth_twenty(batch: Batch) -> Evaluation:
    """Whoever has a stone in the centre leads by 20 points, and nobody else does."""
    found = halves(batch)
    middle = batch.planes.shape[-1] // 2
    own, theirs = (batch.planes[:, plane, middle, middle] for plane in (1, 2))
    lead = (20 * (own - theirs)).astype(np.float32)
    win = 0.5 + lead / 50
    value = np.stack([win, 1 - win, np.zeros_like(win)], axis=1).astype(np.float32)
    policy = np.zeros_like(found.policy)
    policy[:, middle * batch.planes.shape[-1] + middle] = 3
    return found._replace(policy=policy, value=value, lead=lead, score=lead)


CENTRE_IS_WORTH_TWENTY = FakeEvaluator(centre_is_worth_twenty)
