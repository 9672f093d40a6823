"""Evaluators that know a little Go, for sessions without a network."""

from __future__ import annotations

import numpy as np

from tengen.features.feature_set import KATAGO
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform

OWN, OTHER = (KATAGO.planes.index(name) for name in ("own stone", "opponent's stone"))
OWN_AREA, OTHER_AREA = (KATAGO.planes.index(name) for name in ("own area", "opponent's area"))
KOMI = KATAGO.globals.index("own komi")


def surveyor(batch: Batch) -> Evaluation:
    """Counts stones and what they surround; wants to play where nobody owns anything yet."""
    planes = batch.planes
    n, _, height, width = planes.shape
    own = np.maximum(planes[:, OWN_AREA], planes[:, OWN])
    other = np.maximum(planes[:, OTHER_AREA], planes[:, OTHER])
    lead = own.sum((1, 2)) - other.sum((1, 2)) + 20 * batch.globals[:, KOMI]
    win = (1 / (1 + np.exp(-lead / 4))).astype(np.float32)
    # A move's wish depends on where it is, so that no two are alike.
    wish = 2 - 3 * own - other + 0.3 * np.sin(np.arange(height * width)).reshape(height, width)
    policy = np.concatenate([wish.reshape(n, -1), np.full((n, 1), -1.5)], 1)
    return uniform(batch)._replace(
        policy=policy.astype(np.float32),
        value=np.stack([win, 1 - win, 0 * win], 1),
        score=lead,
        spread=np.full(n, 5, np.float32),
        lead=lead,
        ownership=(own - other).astype(np.float32),
    )


def black_wins(batch: Batch) -> Evaluation:
    """Black wins 99 games of 100, whatever happens; komi must be positive."""
    black = batch.globals[:, KOMI] < 0
    win = np.where(black, 0.99, 0.01).astype(np.float32)
    lead = np.where(black, 30, -30).astype(np.float32)
    area = np.where(black, 1, -1).astype(np.float32)[:, None, None]
    return surveyor(batch)._replace(
        value=np.stack([win, 1 - win, 0 * win], 1),
        lead=lead,
        score=lead,
        ownership=np.broadcast_to(area, batch.planes[:, 0].shape).astype(np.float32),
    )
