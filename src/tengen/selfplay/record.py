"""Games that were played to learn from, as flat arrays: what the fleet writes and replay keeps.

Everything is seen by Black, and a *place* is y * width + x, a pass being width * height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.kernels.board import TERMS

Records: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]

# Where a turn's move comes from.
SETUP = 0  # part of the start, handicap stones for one; need not alternate
OPENING = 1  # drawn from the policy without a search, or at random
FAST = 2  # searched with few visits; not learned from
FULL = 3  # searched in full: its targets are learned from

# How a game ended.
BY_PASSES, BY_MOVE_LIMIT, BY_REPETITION, BY_DECISION = 0, 1, 2, 3

GAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("number", "u8"),  # of the run: no two games share it
                ("step", "i8"),  # steps the network had been trained when the game began
                ("width", "i4"),
                ("height", "i4"),
                ("terms", np.dtype(TERMS.descr)),  # komi and rules
                ("move_limit", "i4"),
                ("n_turns", "i4"),
                ("n_targets", "i4"),
                ("end", "i4"),  # BY_PASSES ...
                ("no_result", "i4"),  # 1: nobody won, and nothing was counted
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
                ("weight", "f4"),  # how often it is to be learned from; 0 unless the kind is FULL
                ("value", "f4"),  # of the search: win minus loss
                ("no_result", "f4"),  # chance
                ("score", "f4"),  # points at the end that the search expects
                ("lead", "f4"),
            ]
        ),
    )
)
# How much a move deserves to be played, by the search; they need not sum up to anything.
TARGET = np.dtype((np.record, np.dtype([("place", "u2"), ("weight", "u2")])))


class Games(NamedTuple):
    """Finished games one after another: what belongs to a game lies where those before it end."""

    games: Records  # [games] of GAME
    turns: Records  # [sum of n_turns] of TURN
    targets: Records  # [sum of n_targets] of TARGET, in the order of the turns
    ownership: NDArray[np.int8]  # [sum of areas] at the end: 1 Black's, -1 White's, 0 nobody's


def offsets(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """[n + 1] where each of n runs of these lengths begins; the last entry is the total."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def no_games() -> Games:
    """Nothing played yet."""
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
    """All games of these, in order."""
    if not parts:
        return no_games()
    return Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
