"""Networks that are made up, for tests of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Point
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform

Script: TypeAlias = Callable[[Batch], Evaluation]

OWN, OPPONENT, BANNED = (
    KATAGO.planes.index(name) for name in ("own stone", "opponent's stone", "ko or superko ban")
)
OWN_AREA, OPPONENT_AREA = (KATAGO.planes.index(name) for name in ("own area", "opponent's area"))
KOMI = KATAGO.globals.index("own komi")
_FACTORS = np.random.default_rng(5).integers(2**63, size=3 * 361, dtype=np.uint64)


def opinions(seed: int = 0, sharpness: float = 2.0) -> Script:
    """Random ones, always the same of the same position, whoever's the stones are."""

    def script(batch: Batch) -> Evaluation:
        n, _, height, width = batch.planes.shape
        area = height * width
        seen = batch.planes[:, [OWN, OPPONENT, BANNED]].reshape(n, -1).astype(np.uint64)
        komi = np.rint(1024 * batch.globals[:, KOMI]).astype(np.int64).view(np.uint64)
        key = seen @ _FACTORS[: 3 * area] + komi * _FACTORS[0] + np.uint64(seed)
        draws = scattered(key[:, None] * np.uint64(4096) + np.arange(2 * area + 4, dtype=np.uint64))
        win, score, spread = draws[:, 0], 20 * draws[:, 1] - 10, 4 * draws[:, 2]
        return uniform(batch)._replace(
            policy=sharpness * (2 * draws[:, 3 : area + 4] - 1),
            value=np.stack([win, 1 - win, 0 * win], 1),
            score=score,
            spread=spread,
            lead=score + 1,
            ownership=(2 * draws[:, area + 4 :] - 1).reshape(n, height, width),
        )

    return script


def doubting(batch: Batch) -> Evaluation:
    """Opinions with uncertainties of their own; nobody passes."""
    evaluation = opinions()(batch)
    evaluation.policy[:, -1] = -20
    uncertainty = np.abs(evaluation.ownership[:, 0, 0])
    return evaluation._replace(
        value_error=np.asarray(uncertainty / 2, np.float32),
        score_error=np.asarray(3 * uncertainty, np.float32),
    )


def scattered(numbers: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Numbers between 0 and 1 that look random."""
    for _ in range(2):
        numbers = (numbers ^ (numbers >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return ((numbers >> np.uint64(40)) / 2**24).astype(np.float32)


def by_area(batch: Batch) -> Evaluation:
    """Counts the board as it stands, and is sure of it."""
    count = batch.planes[:, [OWN_AREA, OPPONENT_AREA]].sum((2, 3))
    lead = count[:, 0] - count[:, 1] + 20 * batch.globals[:, KOMI]
    win = (lead > 0).astype(np.float32)
    value = np.stack([win, 1 - win, 0 * win], 1)
    return uniform(batch)._replace(value=value, score=lead, lead=lead)


def black_leads(batch: Batch) -> Evaluation:
    """Black wins four games of five, by seven points; komi must be positive."""
    sign = np.where(batch.globals[:, KOMI] < 0, 1, -1).astype(np.float32)
    win = 0.5 + 0.3 * sign
    return uniform(batch)._replace(
        value=np.stack([win, 1 - win, 0 * win], 1), score=7 * sign, lead=7 * sign
    )


def preferring(*moves: Point | None, logit: float = 5.0) -> Script:
    """Policy for some moves wherever they are legal; an even game otherwise."""

    def script(batch: Batch) -> Evaluation:
        evaluation = uniform(batch)
        width = batch.planes.shape[3]
        for move in moves:
            place = -1 if move is None else move.y * width + move.x
            evaluation.policy[:, place] = logit
        return evaluation

    return script
