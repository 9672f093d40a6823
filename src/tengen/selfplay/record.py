"""Records of self-play games, as flat arrays, and their check, since kernels do not check input.

Values and scores are Black's; a *move* is y * width + x, or width * height for a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, WHITE
from tengen.game.geometry import MAX_SIDE
from tengen.game.kernels.board import PLAYED_OUT, SITUATIONAL_SUPERKO, TAX_ON_GROUPS, TERMS
from tengen.kernel_records import record_type

MAX_WEIGHT = 1000.0  # rows that a turn may become

Records: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]

# Kinds of turns.
SETUP = 0  # a stone of the initial position, such as handicap; colours need not alternate
OPENING = 1  # drawn from the policy without a search
FAST = 2  # searched with few visits; not learned from
FULL = 3  # searched in full; learned from

# How a game ended. The last three are for imported records, whose boards were not counted: with a
# winner (the score is 1 or -1), with a score, with neither.
BY_PASSES, BY_MOVE_LIMIT, BY_REPETITION, BY_DECISION, BY_AGREEMENT, UNFINISHED = range(6)

_TERMS = record_type(f"{__name__}._TERMS", TERMS.descr, align=False)
_GAME_FIELDS = [
    ("number", "u8"),  # unique in the run
    ("step", "i8"),  # training steps of the network when the game began
    ("width", "i4"),
    ("height", "i4"),
    ("terms", _TERMS),  # komi and rules
    ("move_limit", "i4"),
    ("n_turns", "i4"),
    ("n_targets", "i4"),
    ("end", "i4"),  # BY_PASSES ...
    ("no_result", "i4"),  # 1: ended without a winner or a score
    ("score", "f4"),  # Black's points minus White's, komi included
]
GAME = record_type(f"{__name__}.GAME", _GAME_FIELDS, align=False)
_TURN_FIELDS = [
    ("move", "u2"),
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
TURN = record_type(f"{__name__}.TURN", _TURN_FIELDS, align=False)
# A move's weight in the policy target of its turn, in no particular scale.
TARGET = record_type(f"{__name__}.TARGET", [("move", "u2"), ("weight", "u2")], align=False)
_MOVE_VALUE_FIELDS = [("visits", "u2"), ("value", "f4"), ("score", "f4")]
# What the search found after the move of a target.
MOVE_VALUE = record_type(f"{__name__}.MOVE_VALUE", _MOVE_VALUE_FIELDS)


class Games(NamedTuple):
    """Finished games, their turns, targets and points concatenated in the order of the games."""

    games: Records  # [games] of GAME
    turns: Records  # [sum of n_turns] of TURN
    targets: Records  # [sum of n_targets] of TARGET, in the order of the turns
    ownership: NDArray[np.int8]  # [sum of areas] at the end: 1 Black's, -1 White's, 0 nobody's
    # [targets] of MOVE_VALUE, or empty: fleets keep them on request, shards do not. With them all
    # moves tried are among the targets, those of weight 0 included.
    move_values: Records = np.zeros(0, MOVE_VALUE)


def offsets(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """[n + 1] where each of n runs of these lengths begins; the last entry is the total."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def no_games() -> Games:
    """No games at all."""
    return Games(np.zeros(0, GAME), np.zeros(0, TURN), np.zeros(0, TARGET), np.zeros(0, np.int8))


def split_games(games: Games, size: int) -> list[Games]:
    """The same games in groups of at most this many."""
    played = games.games
    if not len(played):
        return []
    area = played["width"] * played["height"]
    n_values = played["n_targets"] if len(games.move_values) else np.zeros_like(area)
    counts = (np.ones_like(area), played["n_turns"], played["n_targets"], area, n_values)
    tables = (
        np.split(table, offsets(count)[size:-1:size])
        for table, count in zip(games, counts, strict=True)
    )
    return list(map(Games, *tables))


def games_where(games: Games, wanted: NDArray[np.bool_]) -> Games:
    """Those of the games [games] that are wanted, in their order."""
    played = games.games
    n_values = played["n_targets"] if len(games.move_values) else np.zeros_like(played["n_targets"])
    counts = (played["n_turns"], played["n_targets"], played["width"] * played["height"], n_values)
    tables: list[Any] = [
        table[np.repeat(wanted, count)] for table, count in zip(games[1:], counts, strict=True)
    ]
    return Games(played[wanted], *tables)


def joined(parts: Sequence[Games]) -> Games:
    """All these games, in order."""
    if not parts:
        return no_games()
    return Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def check_games(games: Games) -> None:
    """Raise ValueError that names the first value which is impossible or inconsistent."""
    played, turns, targets = games.games, games.turns, games.targets
    width, height, terms = played["width"], played["height"], played["terms"]
    _demand((width >= 1) & (width <= MAX_SIDE), "the width of a board")
    _demand((height >= 1) & (height <= MAX_SIDE), "the height of a board")
    _demand(np.isfinite(terms["komi"]), "a komi")
    _demand((terms["ko_rule"] >= 0) & (terms["ko_rule"] <= SITUATIONAL_SUPERKO), "a ko rule")
    _demand((terms["tax"] >= 0) & (terms["tax"] <= TAX_ON_GROUPS), "a tax")
    _demand((terms["territory"] >= 0) & (terms["territory"] <= PLAYED_OUT), "a rule (territory)")
    for switch in ("suicide_allowed", "friendly_pass", "button"):
        _demand((terms[switch] == 0) | (terms[switch] == 1), f"a rule ({switch})")
    _demand((played["end"] >= 0) & (played["end"] <= UNFINISHED), "the end of a game")
    _demand(np.isfinite(played["score"]), "the score of a game")
    area = width * height
    for count, array, what in (
        (played["n_turns"], turns, "turns"),
        (played["n_targets"], targets, "targets"),
        (area, games.ownership, "points"),
    ):
        _demand(count >= 0, f"the number of {what} of a game")
        _demand(np.array(count.sum(dtype=np.int64) == len(array)), f"the number of {what}")
    area_of_turn = np.repeat(area, played["n_turns"])
    n_targets = turns["n_targets"]
    _demand(turns["move"] <= area_of_turn, "the point of a move")
    _demand((turns["color"] == BLACK) | (turns["color"] == WHITE), "the colour of a move")
    _demand(turns["kind"] <= FULL, "the kind of a turn")
    weight = turns["weight"]
    _demand((weight >= 0) & (weight <= MAX_WEIGHT), "the weight of a turn")
    for number in ("value", "no_result", "score", "lead"):
        _demand(np.isfinite(turns[number]), f"a search result ({number})")
    # By game, so that one game's surplus cannot hide another's lack.
    by_game = offsets(n_targets)[offsets(played["n_turns"])]
    _demand(by_game == offsets(played["n_targets"]), "the number of targets of a turn")
    _demand(targets["move"] <= np.repeat(area_of_turn, n_targets), "the move of a target")
    _demand((games.ownership >= -1) & (games.ownership <= 1), "the owner of a point")
    _demand(np.array(len(games.move_values) in (0, len(targets))), "the number of move values")


def _demand(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], what: str) -> None:
    if not holds.all():
        raise ValueError(f"{what} is impossible")
