"""Groups whose fate textbooks know, as positions with the question about them."""

from __future__ import annotations

from collections.abc import Callable

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.region import region_around
from tengen.problems.solver import Question

SIDE = 11


def question_about(
    position: Position, stone: str, is_safe: Callable[[Point], bool] | None = None
) -> Question:
    """The question about the chain on a point; by default the other side's stones are safe."""
    at = position.point(stone)
    color = position.at(at)
    assert color is not None

    def theirs(point: Point) -> bool:
        return position.at(point) is color.opponent

    region = region_around(position, at, is_safe or theirs)
    assert region is not None
    return Question(region, frozenset(position.chain(at)), color)


def drawn(diagram: str, stone: str) -> tuple[Position, Question]:
    """A position of a diagram, and the question about one of its chains."""
    position = Position.from_diagram(diagram, Color.BLACK, rules="chinese")
    return position, question_about(position, stone)


def eye_space(picture: str) -> tuple[Position, Question]:
    """Black stones around an eye space in the middle of a board, tightly surrounded by White.

    Of the picture, `#` are the points of the eye space.
    """
    eyes = {
        Point(x + 3, y + 3)
        for y, row in enumerate(picture.strip("\n").splitlines())
        for x, sign in enumerate(row)
        if sign == "#"
    }
    black = _around(eyes)
    white = _around(eyes | black)
    position = Position(SIDE, "chinese").set_up(black, white, to_play=Color.BLACK)
    return position, question_about(position, position.text(min(black)))


def _around(points: set[Point]) -> set[Point]:
    """The points next to some, diagonally too."""
    near = {Point(x + dx, y + dy) for x, y in points for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    return near - points
