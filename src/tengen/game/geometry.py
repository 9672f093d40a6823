"""Points, their text coordinates, handicap points and the eight symmetries of a board.

Points have two numberings. Row 0 is the top row, as in SGF.

- *Board index*, in kernels: ``(y + 1) * stride + x + 1`` with ``stride = width + 1``, on an array
  with a border. The border right of a row is also the one left of the next row; 0 is border.
- *Policy index*, in policies, masks and records: ``y * width + x``; ``area`` is the pass.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_SIDE = 19
MAX_AREA = MAX_SIDE * MAX_SIDE
MAX_POINTS = (MAX_SIDE + 2) * (MAX_SIDE + 1) + 1

COLUMN_LETTERS = "ABCDEFGHJKLMNOPQRST"


class Point(NamedTuple):
    """An intersection: x from the left edge, y from the top edge, both from 0."""

    x: int
    y: int


class Size(NamedTuple):
    """The sides of a board."""

    width: int
    height: int

    @property
    def area(self) -> int:
        return self.width * self.height

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


def parse_size(text: int | str) -> Size:
    """The size that 9 or "9x13" (width x height) names; raises ValueError."""
    match = re.fullmatch(r"(\d+)(?: *[x×] *(\d+))?", str(text).strip(), re.ASCII)
    if match is None:
        raise ValueError(f'a board size is a number or a text such as "9x13", not {text!r}')
    size = Size(int(match[1]), int(match[2] or match[1]))
    if not 2 <= min(size) <= max(size) <= MAX_SIDE:
        raise ValueError(f"sides of boards must be from 2 to {MAX_SIDE}, not {text!r}")
    return size


def board_size(size: int | tuple[int, int]) -> Size:
    """Check a size given as one side or as width and height; raises ValueError."""
    try:
        width, height = (size, size) if isinstance(size, int) else size
    except (TypeError, ValueError):
        raise ValueError(f"a board size is one number or two, not {size!r}") from None
    sides = isinstance(width, int | np.integer) and isinstance(height, int | np.integer)
    if not (sides and 1 <= min(width, height) <= max(width, height) <= MAX_SIDE):
        raise ValueError(f"board sides run from 1 to {MAX_SIDE}, not {width}x{height}")
    return Size(int(width), int(height))


def point_index(point: tuple[int, int], width: int) -> int:
    """The board index of a point."""
    x, y = point
    return (y + 1) * (width + 1) + x + 1


def index_point(index: int, width: int) -> Point:
    """The point with this board index."""
    row, column = divmod(index, width + 1)
    return Point(column - 1, row - 1)


def policy_point(index: int, size: Size) -> Point | None:
    """The point with this policy index; None for the pass."""
    return Point(index % size.width, index // size.width) if index < size.area else None


def policy_place(point: tuple[int, int] | None, size: Size) -> int:
    """The policy index of a point; the last one for the pass, None."""
    return size.area if point is None else point[1] * size.width + point[0]


def point_text(point: tuple[int, int] | None, height: int) -> str:
    """Coordinates as players and GTP write them: columns skip I, rows count from the bottom.

    None is a pass.
    """
    if point is None:
        return "pass"
    x, y = point
    return f"{COLUMN_LETTERS[x]}{height - y}"


def parse_point(text: str, height: int) -> Point:
    """Parse coordinates such as ``D4`` or ``d4``; the point may be off the board.

    Raises ValueError for text that is not a letter and a number.
    """
    match = re.fullmatch(r"([A-HJ-Z])([0-9]{1,3})", text.strip().upper(), re.ASCII)
    if not match:
        raise ValueError(f"not a point: {text!r} (a letter without I and a number, such as D4)")
    column = ord(match[1]) - ord("A")
    return Point(column - (column > ord("I") - ord("A")), height - int(match[2]))


class Symmetry(IntEnum):
    """The eight symmetries of a board: bit 1 flips top and bottom, 2 left and right, 4 transposes.

    Flips come before the transposition, which swaps width and height.
    """

    IDENTITY = 0
    FLIP_Y = 1
    FLIP_X = 2
    ROTATE_180 = 3
    TRANSPOSE = 4
    ROTATE_LEFT = 6
    ROTATE_RIGHT = 5
    ANTI_TRANSPOSE = 7

    @property
    def transposes(self) -> bool:
        return bool(self & 4)

    @property
    def inverse(self) -> Symmetry:
        """The symmetry that undoes this one."""
        swapped = {Symmetry.ROTATE_LEFT: 5, Symmetry.ROTATE_RIGHT: 6}
        return Symmetry(swapped.get(self, self))

    def size(self, size: Size) -> Size:
        """The size of a board of this size after the symmetry."""
        return Size(size.height, size.width) if self.transposes else size

    def point(self, point: tuple[int, int], size: Size) -> Point:
        """The image of a point of a board of this size."""
        x, y = point
        if self & 1:
            y = size.height - 1 - y
        if self & 2:
            x = size.width - 1 - x
        return Point(y, x) if self.transposes else Point(x, y)


def symmetry_points(symmetry: Symmetry, size: Size) -> NDArray[np.int16]:
    """[area]: for each policy index of the transformed board, the index it comes from."""
    rows = np.arange(size.area, dtype=np.int16).reshape(size.height, size.width)
    if symmetry & 1:
        rows = rows[::-1]
    if symmetry & 2:
        rows = rows[:, ::-1]
    return np.ascontiguousarray(rows.T if symmetry.transposes else rows).reshape(-1)


def most_handicap_stones(size: Size) -> int:
    """The largest fixed handicap on this board; 0 if there is none."""
    if min(size) < 7:
        return 0
    odd = size.width % 2 == 1 and size.height % 2 == 1
    return 9 if odd and min(size) >= 9 else 4


def handicap_points(size: Size, stones: int) -> list[Point]:
    """GTP's fixed handicap placement on the star points; raises ValueError.

    Corners first, then the centre if the number is odd, then the sides.
    """
    most = most_handicap_stones(size)
    if not 2 <= stones <= most:
        allowed = f"2 to {most}" if most else "none"
        raise ValueError(f"fixed handicap stones on a {size} board: {allowed}, not {stones}")
    left, top = (3 if side >= 13 else 2 for side in size)
    right, bottom = size.width - 1 - left, size.height - 1 - top
    middle, centre = size.width // 2, size.height // 2
    corners = [(left, bottom), (right, top), (left, top), (right, bottom)]
    sides = [(left, centre), (right, centre), (middle, bottom), (middle, top)]
    with_centre = stones >= 5 and stones % 2 == 1
    points = [*corners[:stones], *sides[: stones - 4 - with_centre if stones > 4 else 0]]
    return [Point(*point) for point in (*points, *([(middle, centre)] if with_centre else []))]
