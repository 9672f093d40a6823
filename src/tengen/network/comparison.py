"""Two evaluators of one network compared: how far their evaluations of positions are apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.position import Position
from tengen.network.evaluator import Evaluation, Evaluator, encode_for, evaluate

SIDES = 9, 13, 19
RULES = "tromp-taylor", "japanese", "chinese"
AT_A_TIME = 8


class Bounds(NamedTuple):
    """The largest differences that rounding explains."""

    policy: float  # of the probability of a move
    winrate: float
    score: float  # points
    ownership: float  # from -1 to 1


# Measured with networks of 6 to 8 blocks: 1% of EXACT in float32, a third of ROUNDED in bf16 and
# int8.
EXACT = Bounds(policy=1e-4, winrate=1e-4, score=5e-3, ownership=1e-3)
ROUNDED = Bounds(policy=0.2, winrate=0.1, score=5.0, ownership=0.5)


class Deviation(NamedTuple):
    """How far the evaluations of one output are apart."""

    output: str
    mean: float
    largest: float
    bound: float

    @property
    def within_bound(self) -> bool:
        """Is the largest difference within the bound? NaN is not."""
        return self.largest <= self.bound


def random_positions(count: int, seed: int, board_size: int = 0) -> list[Position]:
    """Positions after random moves, on boards of several sizes unless one is given."""
    draw = np.random.default_rng(seed)
    sides = (board_size,) if board_size else SIDES
    positions = []
    for number in range(count):
        side = sides[number % len(sides)]
        position = Position(side, RULES[number % len(RULES)])
        for _ in range(int(draw.integers(side * side))):
            moves = position.legal_moves()
            position = position.play(moves[draw.integers(len(moves))] if moves else None)
            if position.is_over:
                position = position.resumed()
        positions.append(position)
    return positions


def compare(
    first: Evaluator, second: Evaluator, positions: Iterable[Position], bounds: Bounds
) -> list[Deviation]:
    """How far two evaluators are apart on positions, by output."""
    by_size: dict[tuple[int, int], list[Position]] = {}
    for position in positions:
        by_size.setdefault(position.size, []).append(position)
    found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in Bounds._fields}
    for alike in by_size.values():
        for begin in range(0, len(alike), AT_A_TIME):
            batch = alike[begin : begin + AT_A_TIME]
            one, other = (
                _outputs(evaluate(each, encode_for(each, batch)), batch) for each in (first, second)
            )
            for name in Bounds._fields:
                found[name].append(np.abs(one[name] - other[name]).ravel())
    values = {name: np.concatenate(parts) for name, parts in found.items()}
    return [
        Deviation(name, float(each.mean()), float(each.max()), getattr(bounds, name))
        for name, each in values.items()
    ]


def _outputs(
    evaluation: Evaluation, positions: Sequence[Position]
) -> dict[str, NDArray[np.float64]]:
    """What a search makes use of: probabilities of legal moves, winrate, score, ownership."""
    legal = np.stack([position.legal_mask() for position in positions])
    logits = np.where(legal, evaluation.policy.astype(np.float64), -np.inf)
    policy = np.exp(logits - logits.max(1, keepdims=True))
    win, loss = evaluation.value[:, 0].astype(np.float64), evaluation.value[:, 1]
    return {
        "policy": policy / policy.sum(1, keepdims=True),
        "winrate": 0.5 + (win - loss) / 2,
        "score": evaluation.score.astype(np.float64),
        "ownership": evaluation.ownership.astype(np.float64),
    }
