"""BoardView: what can be read off one board, without its history."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, EMPTY, WHITE, Color, parse_color
from tengen.game.geometry import Point, Size, index_point, parse_point, point_index
from tengen.game.kernels.board import NO_CHAIN, Boards
from tengen.game.kernels.ladder import is_caught_in_ladder, new_ladder_scratch
from tengen.game.kernels.life import find_own_eyes, new_life_scratch, pass_alive
from tengen.game.scoring import on_board

PointLike: TypeAlias = str | tuple[int, int]
ColorLike: TypeAlias = Color | str


class BoardView:
    """A read-only view of a board record. Points are text (``"D4"``) or (x, y).

    Methods that take a point raise ValueError if it is off the board.
    """

    __slots__ = ("_boards", "size")

    size: Size
    _boards: Boards  # [1]

    @property
    def width(self) -> int:
        return self.size.width

    @property
    def height(self) -> int:
        return self.size.height

    @property
    def to_play(self) -> Color:
        """The side to move."""
        return Color(int(self._boards[0]["to_play"]))

    @property
    def stones(self) -> NDArray[np.int8]:
        """[height, width]: 0 empty, 1 black, 2 white, the top row first."""
        return on_board(self._boards[0]["color"], self.width, self.height)

    def at(self, point: PointLike) -> Color | None:
        """The colour of the stone on a point, None if it is empty."""
        color = int(self._boards[0]["color"][self._index(point)])
        return Color(color) if color in (BLACK, WHITE) else None

    def chain(self, point: PointLike) -> list[Point]:
        """The stones of the chain on a point; empty if there is none."""
        board = self._boards[0]
        stone = first = int(board["head"][self._index(point)])
        width, following = self.width, board["next"]
        stones = []
        while stone != NO_CHAIN:
            stones.append(index_point(stone, width))
            stone = int(following[stone])
            if stone == first:
                break
        return sorted(stones)

    def liberties(self, point: PointLike) -> int:
        """The number of liberties of the chain on a point; 0 if there is none."""
        board = self._boards[0]
        head = int(board["head"][self._index(point)])
        return int(board["libs"][head]) if head != NO_CHAIN else 0

    def captured(self, color: ColorLike) -> int:
        """The number of stones of this colour that were captured."""
        return int(self._boards[0]["captured"][parse_color(color)])

    @property
    def ko(self) -> Point | None:
        """The point where the simple ko rule forbids the side to play to retake now."""
        index = int(self._boards[0]["ko"])
        return index_point(index, self.width) if index else None

    @property
    def passes(self) -> int:
        """The number of consecutive passes just played that count towards the end."""
        return int(self._boards[0]["passes"])

    @property
    def phase(self) -> int:
        """1 and 2 in the clean-up phases of territory scoring that is played out, otherwise 0."""
        return int(self._boards[0]["phase"])

    @property
    def stones_hash(self) -> int:
        """A 64-bit hash of the stones alone."""
        return int(self._boards[0]["hash"])

    def pass_alive(self, color: ColorLike) -> NDArray[np.bool_]:
        """[height, width]: the points that a colour keeps even if it always passes (Benson)."""
        scratch = new_life_scratch(1)[0]
        pass_alive(self._boards[0], scratch, int(parse_color(color)))
        owned: NDArray[np.bool_] = on_board(scratch["owner"], self.width, self.height) != EMPTY
        return owned

    def own_eyes(self) -> NDArray[np.bool_]:
        """[height, width]: the empty points that look like eyes of the side to play."""
        eyes = np.zeros((self.height, self.width), np.bool_)
        find_own_eyes(self._boards[0], eyes)
        return eyes

    def is_caught_in_ladder(self, point: PointLike) -> bool:
        """Whether a ladder captures the chain on a point.

        A chain in atari moves first; a chain with two liberties moves second.
        """
        index, scratch = self._index(point), new_ladder_scratch()
        if self.at(point) is None:
            return False
        return bool(is_caught_in_ladder(self._boards[0], scratch, index))

    def point(self, point: PointLike) -> Point:
        """A point of this board from text or (x, y)."""
        x, y = parse_point(point, self.height) if isinstance(point, str) else point
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise ValueError(f"{point!r} is off the {self.size} board")
        return Point(int(x), int(y))

    def _index(self, point: PointLike) -> int:
        """The board index of a point."""
        return point_index(self.point(point), self.width)


def neighbours(point: Point, size: Size) -> list[Point]:
    """The points next to one, on a board."""
    x, y = point
    around = Point(x, y - 1), Point(x - 1, y), Point(x + 1, y), Point(x, y + 1)
    return [each for each in around if 0 <= each.x < size.width and 0 <= each.y < size.height]
