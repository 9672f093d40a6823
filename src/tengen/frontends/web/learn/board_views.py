"""Boards as JSON, for the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from tengen.game.diagram import stones_text
from tengen.game.geometry import Point
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
