"""Colours: the numbers of points on the board, and the two players."""

from __future__ import annotations

from enum import IntEnum

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3


class Color(IntEnum):
    """A player; the value is the number of its stones on the board."""

    BLACK = BLACK
    WHITE = WHITE

    @property
    def opponent(self) -> Color:
        return Color.WHITE if self is Color.BLACK else Color.BLACK

    @property
    def letter(self) -> str:
        return self.name[0]

    def __str__(self) -> str:
        return self.name.lower()


def parse_color(value: Color | str | int) -> Color:
    """Parse ``black``, ``B``, ``w`` and so on; raises ValueError."""
    if isinstance(value, str):
        by_name = {"b": Color.BLACK, "black": Color.BLACK, "w": Color.WHITE, "white": Color.WHITE}
        color = by_name.get(value.strip().lower())
        if color is not None:
            return color
    elif value in (BLACK, WHITE):
        return Color(value)
    raise ValueError(f"not a colour: {value!r} (black or white)")
