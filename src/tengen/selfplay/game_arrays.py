"""The arrays of a fleet that kernels work on: settings, games under way, finished games."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Size
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import TERMS
from tengen.kernel_records import record_type
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import GAME, MOVE_VALUE, TARGET, TURN, Games, Records

_SLOT_FIELDS = [
    ("number", "u8"),  # of the game
    ("begun", "i8"),  # games begun in this slot
    ("step", "i8"),  # of the network when the game began
    ("button", "i4"),  # was there one at the start?
    ("kind", "i4"),  # of the turn being searched: FAST or FULL
    ("n_turns", "i4"),
    ("n_targets", "i4"),
    ("opening", "i4"),  # opening moves still to be drawn from the policy
    ("fair", "i4"),  # 1: the komi is to be made fair after the opening
    ("decided", "i4"),  # turns in a row whose outcome was clear
    ("played_out", "i4"),  # 1: searched as if it were never decided
    ("waiting", "i4"),  # 1: its leaf is with the network
    ("over", "i4"),  # 1: the game has ended and is not recorded yet
    ("rng", "u8", (1,)),
]
SLOT = record_type(f"{__name__}.SLOT", _SLOT_FIELDS)

# The settings that are numbers, as kernels read them.
_NUMBERS = [each.name for each in fields(SelfPlayParams) if isinstance(each.default, int | float)]
# What else they read: of a half, and the network's training steps.
_OF_HALF = [
    ("width", "i8"),
    ("height", "i8"),
    ("slots", "u8"),  # in the fleet
    ("first", "u8"),  # number of the first slot
    ("step", "i8"),
]
_PARAMS = record_type(f"{__name__}._PARAMS", [*((name, "f8") for name in _NUMBERS), *_OF_HALF])


class Numbering(NamedTuple):
    """Which slots of a fleet a half has."""

    slots: int  # in the fleet
    first: int  # number of its first slot's first game
    first_of_size: int  # number of its first slot among those of its board size


class GameParams(NamedTuple):
    """The settings of self-play, for kernels."""

    numbers: Records  # [1] of _PARAMS
    terms: Records  # [rules] of TERMS, with the mean komi


class GameSlots(NamedTuple):
    """The games under way."""

    slots: Records  # [games] of SLOT
    turns: NDArray[np.void]  # [games, most turns] of TURN
    targets: NDArray[np.void]  # [games, room] of TARGET
    move_values: NDArray[np.void]  # [games, room] of MOVE_VALUE, or [games, 0]


class FinishedGames(NamedTuple):
    """Finished games by the chunk that played them, until they are taken away."""

    counts: NDArray[np.int64]  # [chunks, 3] games, turns, targets
    games: NDArray[np.void]  # [chunks, games] of GAME
    turns: NDArray[np.void]  # [chunks, turns] of TURN
    targets: NDArray[np.void]  # [chunks, targets] of TARGET
    ownership: NDArray[np.int8]  # [chunks, games, area]
    move_values: NDArray[np.void]  # [chunks, targets] of MOVE_VALUE, or [chunks, 0]


def new_game_params(params: SelfPlayParams, size: Size, numbering: Numbering) -> GameParams:
    """The settings for the games of one half; raises ValueError if they have no such size."""
    if size not in params.sizes:
        raise ValueError(f"board_sizes must include {size}, as there are buffers for it")
    numbers = np.zeros(1, _PARAMS)
    for name in _NUMBERS:
        numbers[name] = getattr(params, name)
    numbers["width"], numbers["height"] = size
    numbers["slots"], numbers["first"] = numbering.slots, numbering.first
    terms = [terms_of(rules, params.mean_komi(size, rules)) for rules in params.drawn_rules]
    return GameParams(numbers, np.array(terms, TERMS))


def new_game_slots(games: int, area: int, turns: int, move_values: bool) -> GameSlots:
    """Empty slots for games of so many turns at most."""
    room = turns * (area + 1)
    return GameSlots(
        np.zeros(games, SLOT),
        np.zeros((games, turns), TURN),
        np.zeros((games, room), TARGET),
        np.zeros((games, room if move_values else 0), MOVE_VALUE),
    )


def new_finished_games(
    chunks: int, games: int, area: int, turns: int, move_values: bool
) -> FinishedGames:
    """Room for this many games of each chunk, even if all are as long as possible."""
    room = games * turns * (area + 1)
    return FinishedGames(
        np.zeros((chunks, 3), np.int64),
        np.zeros((chunks, games), GAME),
        np.zeros((chunks, games * turns), TURN),
        np.zeros((chunks, room), TARGET),
        np.zeros((chunks, games, area), np.int8),
        np.zeros((chunks, room if move_values else 0), MOVE_VALUE),
    )


def take_from(finished: FinishedGames) -> Games:
    """Take all finished games, chunk by chunk."""
    n_games, n_turns, n_targets = finished.counts.T.copy()
    finished.counts[:] = 0
    games = _first_of_each(finished.games, n_games)
    return Games(
        games,
        _first_of_each(finished.turns, n_turns),
        _first_of_each(finished.targets, n_targets),
        _first_of_each(finished.ownership, n_games).reshape(-1),
        _first_of_each(finished.move_values, np.minimum(n_targets, finished.move_values.shape[1])),
    )


def _first_of_each(rows: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """The first counts[k] entries of each row k, concatenated."""
    starts = np.arange(len(counts)) * rows.shape[1]
    before = np.cumsum(counts) - counts
    entries = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    taken: NDArray[Any] = rows.reshape(-1, *rows.shape[2:])[entries]
    return taken
