"""Handicap stones that clients lay out as Black's first moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.game.geometry import Point


def stones_before_white(moves: Sequence[tuple[Color, Point | None]]) -> int:
    """How many stones Black put down before White's first one.

    0 if White moves twice in a row, then: that sets up a position.
    """
    count = 0
    for k, (color, point) in enumerate(moves):
        if color is Color.BLACK:
            count += point is not None
        elif k + 1 < len(moves) and moves[k + 1][0] is Color.WHITE:
            return 0
        elif point is not None:
            break
    return count
