"""The arrays of self-play: game parameters, a slot for each game under way, finished games."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import TERMS
from tengen.selfplay.params import SelfPlayParams, fair_komi
from tengen.selfplay.record import GAME, TARGET, TURN, Games, Records

SLOT = np.dtype(
    (
        np.record,
        np.dtype(
            [
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
            ],
            align=True,
        ),
    )
)

# The settings that are numbers, as kernels read them.
_NUMBERS = [each.name for each in fields(SelfPlayParams) if isinstance(each.default, int | float)]


class GameParams(NamedTuple):
    """The settings of self-play, for kernels."""

    numbers: Records  # [1] _NUMBERS; slots in all, number of the first one, training step
    sizes: NDArray[np.int32]  # [sizes]
    komi: NDArray[np.float32]  # [sizes]
    size_chances: NDArray[np.float64]  # [sizes] cumulative
    terms: Records  # [rules] of TERMS


class GameSlots(NamedTuple):
    """The games under way."""

    slots: Records  # [games] of SLOT
    turns: NDArray[np.void]  # [games, most turns] of TURN
    targets: NDArray[np.void]  # [games, room] of TARGET


class FinishedGames(NamedTuple):
    """Finished games by the chunk that played them, until they are taken away."""

    counts: NDArray[np.int64]  # [chunks, 3] games, turns, targets
    games: NDArray[np.void]  # [chunks, games] of GAME
    turns: NDArray[np.void]  # [chunks, turns] of TURN
    targets: NDArray[np.void]  # [chunks, targets] of TARGET
    ownership: NDArray[np.int8]  # [chunks, games, area]


def new_game_params(params: SelfPlayParams, slots: int, first: int) -> GameParams:
    """The settings for slots first, first + 1, ... of so many in all."""
    kinds = [(name, "f8") for name in _NUMBERS]
    extra = [("slots", "u8"), ("first", "u8"), ("step", "i8")]
    numbers = np.zeros(1, np.dtype((np.record, np.dtype([*kinds, *extra], align=True))))
    for name in _NUMBERS:
        numbers[name] = getattr(params, name)
    numbers["slots"], numbers["first"] = slots, first
    sides = params.board_sizes
    weights = np.array(params.size_weights or [1.0] * len(sides))
    komi = params.komi or [fair_komi(side) for side in sides]
    terms = np.zeros(len(params.rules), TERMS)
    for k, rules in enumerate(params.parsed_rules()):
        terms[k] = terms_of(rules, 0.0)
    terms["friendly_pass"] = 0  # stones left on the board count as alive
    return GameParams(
        numbers,
        np.array(sides, np.int32),
        np.array(komi, np.float32),
        np.cumsum(weights / weights.sum()),
        terms,
    )


def new_game_slots(params: SelfPlayParams, games: int, first: int, seed: int) -> GameSlots:
    """Empty slots, each with a random generator of its own."""
    turns = params.most_turns
    slots = np.zeros(games, SLOT)
    for k in range(games):
        slots["rng"][k] = np.random.SeedSequence([seed, first + k]).generate_state(1, np.uint64) | 1
    return GameSlots(
        slots,
        np.zeros((games, turns), TURN),
        np.zeros((games, turns * (params.largest_side**2 + 1)), TARGET),
    )


def new_finished_games(params: SelfPlayParams, chunks: int, games: int) -> FinishedGames:
    """Room for this many games of each chunk, even if all are as long as possible."""
    turns, area = params.most_turns, params.largest_side**2
    return FinishedGames(
        np.zeros((chunks, 3), np.int64),
        np.zeros((chunks, games), GAME),
        np.zeros((chunks, games * turns), TURN),
        np.zeros((chunks, games * turns * (area + 1)), TARGET),
        np.zeros((chunks, games, area), np.int8),
    )


def take_from(finished: FinishedGames) -> Games:
    """Take all finished games, chunk by chunk."""
    n_games, n_turns, n_targets = finished.counts.T.copy()
    finished.counts[:] = 0
    games = _first_of_each(finished.games, n_games)
    ownership = _first_of_each(finished.ownership, n_games)  # [games, area of the largest board]
    on_board = np.arange(ownership.shape[1]) < (games["width"] * games["height"])[:, None]
    return Games(
        games,
        _first_of_each(finished.turns, n_turns),
        _first_of_each(finished.targets, n_targets),
        ownership[on_board],
    )


def _first_of_each(rows: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """The first counts[k] entries of each row k, concatenated."""
    starts = np.arange(len(counts)) * rows.shape[1]
    before = np.cumsum(counts) - counts
    entries = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    taken: NDArray[Any] = rows.reshape(-1, *rows.shape[2:])[entries]
    return taken
