"""Liberties of groups, for those who are told about the board in words."""

from __future__ import annotations

from tengen.game.board_view import neighbours
from tengen.game.geometry import Point
from tengen.game.position import Position


def liberties_of(position: Position, point: Point) -> tuple[frozenset[Point], frozenset[Point]]:
    """The stones of the group at a point, none if it is empty, and the group's liberties."""
    chain = frozenset(position.chain(point))
    stones = position.stones
    around = {each for stone in chain for each in neighbours(stone, position.size)}
    return chain, frozenset(each for each in around if not stones[each.y, each.x])


def groups_in_atari(position: Position) -> list[Point]:
    """A stone of each group that the last move left with one liberty: its own and adjacent ones."""
    last = position.last_move
    if last is None or last.point is None:
        return []
    found: dict[frozenset[Point], Point] = {}
    for point in (last.point, *neighbours(last.point, position.size)):
        chain, liberties = liberties_of(position, point)
        if len(liberties) == 1 and chain:
            found.setdefault(chain, point)
    return list(found.values())
