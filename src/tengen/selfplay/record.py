"""Records of self-play games, as flat arrays.

Values and scores are Black's; a *place* is y * width + x, or width * height for a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.kernels.board import TERMS

Records: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]

# Kinds of turns.
SETUP = 0  # a stone of the initial position, such as handicap; colours need not alternate
OPENING = 1  # drawn from the policy without a search
FAST = 2  # searched with few visits; not learned from
FULL = 3  # searched in full; learned from

# How a game ended.
BY_PASSES, BY_MOVE_LIMIT, BY_REPETITION, BY_DECISION = 0, 1, 2, 3

GAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("number", "u8"),  # unique in the run
                ("step", "i8"),  # training steps of the network when the game began
                ("width", "i4"),
                ("height", "i4"),
                ("terms", np.dtype(TERMS.descr)),  # komi and rules
                ("move_limit", "i4"),
                ("n_turns", "i4"),
                ("n_targets", "i4"),
                ("end", "i4"),  # BY_PASSES ...
                ("no_result", "i4"),  # 1: ended without a winner or a score
                ("score", "f4"),  # Black's points minus White's, komi included
            ]
        ),
    )
)
TURN = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("place", "u2"),
                ("color", "u1"),  # who moved
                ("kind", "u1"),  # SETUP ...
                ("visits", "u2"),  # of the search
                ("n_targets", "u2"),  # 0 unless the kind is FULL
                ("weight", "f4"),  # mean number of training rows; 0 unless the kind is FULL
                ("value", "f4"),  # of the search: win minus loss
                ("no_result", "f4"),  # chance of no result
                ("score", "f4"),  # points at the end that the search expects
                ("lead", "f4"),
            ]
        ),
    )
)
# A move's weight in the policy target of its turn, in no particular scale.
TARGET = np.dtype((np.record, np.dtype([("place", "u2"), ("weight", "u2")])))


class Games(NamedTuple):
    """Finished games, their turns, targets and points concatenated in the order of the games."""

    games: Records  # [games] of GAME
    turns: Records  # [sum of n_turns] of TURN
    targets: Records  # [sum of n_targets] of TARGET, in the order of the turns
    ownership: NDArray[np.int8]  # [sum of areas] at the end: 1 Black's, -1 White's, 0 nobody's


def offsets(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """[n + 1] where each of n runs of these lengths begins; the last entry is the total."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def no_games() -> Games:
    """No games at all."""
    return Games(np.zeros(0, GAME), np.zeros(0, TURN), np.zeros(0, TARGET), np.zeros(0, np.int8))


def split_games(games: Games, size: int) -> list[Games]:
    """The same games in groups of at most this many."""
    played = games.games
    turns, targets = offsets(played["n_turns"]), offsets(played["n_targets"])
    points = offsets(played["width"] * played["height"])
    groups = []
    for a in range(0, len(played), size):
        b = min(a + size, len(played))
        groups.append(
            Games(
                played[a:b],
                games.turns[turns[a] : turns[b]],
                games.targets[targets[a] : targets[b]],
                games.ownership[points[a] : points[b]],
            )
        )
    return groups


def joined(parts: Sequence[Games]) -> Games:
    """All these games, in order."""
    if not parts:
        return no_games()
    return Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
