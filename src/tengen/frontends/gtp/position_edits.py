"""Positions after GTP's commands: moves of either colour, handicap, other rules on the way."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.handicap import stones_before_white
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.rules import Rules


class Stones(NamedTuple):
    """The points of a board by what stands on them."""

    black: list[Point]
    white: list[Point]
    empty: list[Point]


def stones_of(position: Position) -> Stones:
    """Sort the points of a board by what stands on them."""
    from tengen.game.geometry import Point

    by_color: tuple[list[Point], ...] = ([], [], [])
    for y, row in enumerate(position.stones.tolist()):
        for x, stone in enumerate(row):
            by_color[stone].append(Point(x, y))
    return Stones(by_color[1], by_color[2], by_color[0])


def vertices(position: Position, points: list[Point]) -> str:
    """Points as clients read them: row by row from the top, as KataGo lists them."""
    return " ".join(position.text(point) for point in sorted(points, key=lambda p: (p.y, p.x)))


def anew(position: Position, to_play: Color | None = None) -> Position:
    """The board as it stands with no history: no ko, no passes, the game not over."""
    mover = position.to_play if to_play is None else to_play
    return position.set_up(to_play=mover, handicap=position.handicap)


def for_search(position: Position, color: Color) -> Position:
    """The position with this colour to move, in a game that goes on."""
    if position.to_play is color and not position.is_over:
        return position
    return anew(position, color)


def on_terms(position: Position, rules: Rules, komi: float) -> Position:
    """The same game under other rules and komi, which forbid none of its moves."""
    from tengen.game.position import Position

    line = list(position.line())
    changed = Position(position.size, rules, komi, move_limit=position.move_limit)
    for earlier, later in pairwise(line):
        last = later.last_move
        if last is not None and later.move_number == earlier.move_number + 1:
            changed = changed.play(last.point, last.color, strict=False)
        else:
            black, white, empty = stones_of(later)
            changed = changed.set_up(black, white, empty, later.to_play, later.handicap)
    return changed


def played(position: Position, color: Color, vertex: str) -> Position:
    """The position after a move of either colour; raises GtpError.

    Servers have rules of their own: ko, superko, suicide of several stones and the end of the
    game stop no move.
    """
    from tengen.game.illegal_moves import IllegalMoveError, SuicideError

    try:
        return position.play(vertex, color)
    except SuicideError as error:
        after = position.play(vertex, color, strict=False)
        if after.captured(color) - position.captured(color) < 2:
            raise GtpError(f"illegal move: {error}") from None
        return after
    except IllegalMoveError as error:
        try:
            return position.play(vertex, color, strict=False)
        except IllegalMoveError:
            raise GtpError(f"illegal move: {error}") from None


def with_handicap_moves(position: Position, given: int) -> Position:
    """The position with White's compensation for what Black was given.

    Clients may lay out handicap stones as Black's moves in a row; `given` are those laid out
    otherwise. Two white moves in a row after them show that a position is being laid out.
    """
    moves = position.moves
    first = moves[:2]
    if position.handicap == given and not (
        first and all(move.color is Color.BLACK for move in first) and (given or len(first) == 2)
    ):
        return position
    extra = stones_before_white(moves)
    handicap = given + extra if given + extra > 1 else given
    if position.handicap == handicap:
        return position
    base = _start(position)
    black, white, empty = stones_of(base)
    before = base.previous or base
    start = before.set_up(black, white, empty, base.to_play, handicap)
    for color, point in moves:
        start = start.play(point, color, strict=False)
    return start


def _start(position: Position) -> Position:
    """Where the history of a position begins."""
    return next(each for each in reversed(list(position.line())) if each.move_number == 0)


def before_last_move(position: Position) -> Position:
    """The position before the last move; raises GtpError if there is none."""
    if any(each.move_number for each in position.line()):
        return position.undo()
    raise GtpError("cannot undo")
