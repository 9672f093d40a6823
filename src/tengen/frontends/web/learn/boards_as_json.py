"""Boards as JSON for the page, and the moves that it sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, TypeAlias

from tengen.frontends.web.limits import RefusedError
from tengen.game.diagram import stones_text
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position

Json: TypeAlias = dict[str, Any]


def board_view(position: Position, marked: Iterable[Point] = ()) -> Json:
    """A position: stones row by row from the top, the last move, the point that ko forbids."""
    last, ko = position.last_move, position.ko
    return {
        "width": position.width,
        "height": position.height,
        "stones": stones_text(position.stones),
        "to_play": str(position.to_play),
        "last": None if last is None else position.text(last),
        "ko": None if ko is None else position.text(ko),
        "captures": {"black": position.captured("white"), "white": position.captured("black")},
        "marked": sorted(map(position.text, marked)),
    }


def position_after(
    position: Position,
    moves: Iterable[str],
    is_over: Callable[[Position], bool] = attrgetter("is_over"),
) -> Position:
    """The position after moves, each a point or "pass"; raises RefusedError."""
    for text in moves:
        if is_over(position):
            raise RefusedError("not_now", "the game is over")
        try:
            position = position.play(None if text == "pass" else position.point(text))
        except IllegalMoveError as error:
            raise RefusedError("illegal_move", str(error), reason=error.reason) from None
        except ValueError as error:
            raise RefusedError("bad_point", str(error)) from None
    return position
