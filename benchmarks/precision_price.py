"""The cost of lower precision: errors of bf16 and int8 against float32, and games against it.

Errors are means over positions of the network's own games on 9x9, 13x13 and 19x19. Games are on
9x9 at one visit (the most probable move), from random openings, each played with both colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point, policy_point
from tengen.game.position import Position
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.openvino_int8 import calibration_batches, log_softmax
from tengen.network.evaluator import Batch, Evaluator, encode, evaluate
from tengen.network.files.loading import load_network

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
GAMES = 16  # on each board size; every sixth position counts, some thousand in all
PAIRS = 200  # of games, with colours exchanged
OPENING = 8  # moves drawn from the policy


class QuantizationError(NamedTuple):
    """How far one evaluator is from another, as means over positions."""

    positions: int
    policy: float  # Kullback-Leibler divergence over all moves, in nats
    win: float  # probability
    lead: float  # points
    ownership: float  # from 0 to 2


def quantization_error(
    exact: Evaluator, quantized: Evaluator, batches: Iterable[Batch]
) -> QuantizationError:
    """How far the quantized evaluator is from the exact one on boards that fill their batches."""
    errors: list[NDArray[np.float64]] = []
    for batch in batches:
        mine, theirs = evaluate(exact, batch), evaluate(quantized, batch)
        policy, other = log_softmax(mine.policy), log_softmax(theirs.policy)
        divergence = (np.exp(policy) * (policy - other)).sum(1)
        win = np.abs(mine.value[:, 0] - theirs.value[:, 0])
        owned = np.abs(mine.ownership - theirs.ownership).mean((1, 2))
        errors.append(np.stack([divergence, win, np.abs(mine.lead - theirs.lead), owned], 1))
    together = np.concatenate(errors)
    return QuantizationError(len(together), *(float(error) for error in together.mean(0)))


def best_moves(evaluator: Evaluator, positions: list[Position]) -> list[Point | None]:
    """The most probable legal move of each position."""
    policies = evaluate(evaluator, encode(KATAGO, positions)).policy
    moves: list[Point | None] = []
    for position, policy in zip(positions, policies, strict=True):
        place = int(np.where(position.legal_mask(), policy, -np.inf).argmax())
        moves.append(policy_point(place, position.size))
    return moves


def openings(evaluator: Evaluator, count: int) -> list[Position]:
    """Positions after a few moves drawn from the policy."""
    choice = np.random.default_rng(7)
    positions = [Position(9, "chinese", 7.5, move_limit=200) for _ in range(count)]
    for _ in range(OPENING):
        policies = evaluate(evaluator, encode(KATAGO, positions)).policy.astype(float)
        for i, policy in enumerate(policies):
            logits = np.where(positions[i].legal_mask(), policy, -np.inf)
            chances = np.exp(logits - logits.max())
            chances[-1] = 0  # no passes in the opening
            place = int(choice.choice(len(chances), p=chances / chances.sum()))
            positions[i] = positions[i].play(policy_point(place, positions[i].size))
    return positions


def wins(black: Evaluator, white: Evaluator, starts: list[Position]) -> float:
    """The number of games from these positions that Black wins."""
    games = list(starts)
    while going := [i for i, game in enumerate(games) if not game.is_over]:
        for color, evaluator in ((Color.BLACK, black), (Color.WHITE, white)):
            mine = [i for i in going if games[i].to_play is color]
            if mine:
                moves = best_moves(evaluator, [games[i] for i in mine])
                for i, move in zip(mine, moves, strict=True):
                    games[i] = games[i].play(move)
            going = [i for i in going if not games[i].is_over]
    return sum(game.score().margin > 0 for game in games)


def main() -> None:
    if not NETWORK.exists():
        print(f"nothing measured: no network at {NETWORK}")
        return
    data = load_network(NETWORK)
    exact = OpenVinoEvaluator(data, Precision.FLOAT32)
    sample = list(calibration_batches(exact, games=GAMES, every=6, seed=99))
    starts = openings(exact, PAIRS)
    for precision in (Precision.BF16, Precision.INT8):
        rounded = OpenVinoEvaluator(data, precision)
        error = quantization_error(exact, rounded, sample)
        print(f"{precision}: {error}")
        games = 2 * len(starts)
        won = wins(rounded, exact, starts) + len(starts) - wins(exact, rounded, starts)
        share = won / games
        elo = -400 * math.log10(1 / share - 1)
        spread = 400 / math.log(10) / math.sqrt(games * share * (1 - share))
        result = f"{won:.0f} of {games} games against float32: {elo:+.0f} ± {spread:.0f} Elo"
        print(f"{precision}: {result}")


if __name__ == "__main__":
    main()
