"""The positions that a query is about: stones to begin with, then moves as a game record has them.

Ko, superko and suicide stop no move, as in KataGo: records contain them, and a review must go on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from tengen.frontends.katago_reports import stones_before_white
from tengen.game.color import Color
from tengen.game.geometry import Point, Size, parse_point
from tengen.game.position import Position
from tengen.game.rules import HandicapBonus, Rules
from tengen.search.request import Avoid

MOST_MOVES = 5000  # each keeps a board and the history up to it


class Placed(NamedTuple):
    """A stone or a move, by its colour; the point is None for a pass."""

    color: Color
    point: Point | None


@dataclass(frozen=True)
class QueryGame:
    """Where a game begins, and its moves."""

    size: Size
    rules: Rules
    komi: float
    stones: tuple[Placed, ...]
    moves: tuple[Placed, ...]
    first_player: Color | None  # None: as the moves or the stones tell


def read_point(text: str, size: Size) -> Point | None:
    """A point from `D4` or `(3,15)`, x from the left and y from the top; None for a pass.

    Raises ValueError.
    """
    if text.strip().lower() == "pass":
        return None
    numbers = re.fullmatch(r"\s*\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)\s*", text, re.ASCII)
    point = Point(int(numbers[1]), int(numbers[2])) if numbers else parse_point(text, size.height)
    if not (0 <= point.x < size.width and 0 <= point.y < size.height):
        raise ValueError(f"{text.strip()} is off the {size} board")
    return point


def positions_of(game: QueryGame) -> list[Position]:
    """[moves + 1] the positions before the first and after each move; raises ValueError.

    An IllegalMoveError is about a move, all else about the stones to begin with.
    """
    handicap = _handicap(game, 0)
    line = [_start(game, handicap)]
    for turn, move in enumerate(game.moves, 1):
        before = line[-1]
        if (now := _handicap(game, turn)) != handicap:
            handicap = now
            before = _replayed(game, turn - 1, handicap)
        line.append(before.play(move.point, move.color, strict=False))
    return line


def _replayed(game: QueryGame, turns: int, handicap: int) -> Position:
    """The position after so many moves, White's bonus being that for this handicap."""
    position = _start(game, handicap)
    for move in game.moves[:turns]:
        position = position.play(move.point, move.color, strict=False)
    return position


def _start(game: QueryGame, handicap: int) -> Position:
    empty = Position(game.size, game.rules, game.komi)
    stones = {stone.point: stone.color for stone in game.stones if stone.point is not None}
    player = game.first_player
    if player is None and game.moves:
        player = game.moves[0].color
    if player is None:
        player = Color.WHITE if _stones_given(game) >= 2 else Color.BLACK
    if not stones and player is Color.BLACK and not handicap:
        return empty
    return empty.set_up(
        [point for point, color in stones.items() if color is Color.BLACK],
        [point for point, color in stones.items() if color is Color.WHITE],
        to_play=player,
        handicap=handicap,
    )


def _handicap(game: QueryGame, turn: int) -> int:
    """The handicap stones that White's bonus counts after so many moves."""
    if game.rules.white_handicap_bonus is HandicapBonus.ZERO:
        return 0
    if any(stone.color is Color.WHITE for stone in game.stones):
        return 0
    stones = _stones_given(game) + stones_before_white(game.moves[: min(turn, 64)])
    return stones if stones >= 2 else 0


def _stones_given(game: QueryGame) -> int:
    """Black's stones to begin with, unless White has some too."""
    if any(stone.color is Color.WHITE for stone in game.stones):
        return 0
    return len({stone.point for stone in game.stones})


class SearchRoot(NamedTuple):
    """A position to search, and moves to forbid that its missing history would have forbidden."""

    position: Position
    forbidden: tuple[Avoid, ...]


def root_of(position: Position, ignore_history: bool) -> SearchRoot:
    """The position to search: a finished game is searched as if it went on.

    Without its history a position forgets ko and superko, so the moves that they forbid are told.
    """
    if position.is_over:
        return SearchRoot(position.set_up(to_play=position.to_play), ())
    if not ignore_history or not position.moves:
        return SearchRoot(position, ())
    anew = position.set_up(to_play=position.to_play)
    legal = set(position.legal_moves())
    banned = [point for point in anew.legal_moves() if point not in legal]
    return SearchRoot(anew, tuple(Avoid(position.to_play, point) for point in banned))
