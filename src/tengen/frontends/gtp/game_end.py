"""The end of a game: which stones are in seki, and what remains to be captured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tengen.frontends.gtp.position_edits import stones_of
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.scoring import Outcome


def result_text(outcome: Outcome) -> str:
    """A result as GTP writes it, which has 0 for a draw and for a game without a result."""
    from tengen.game.scoring import Reason

    return "0" if outcome.reason is Reason.NO_RESULT else str(outcome)


def stones_in_seki(position: Position, dead: Iterable[Point]) -> frozenset[Point]:
    """The stones that live without two eyes, once the dead ones are off the board.

    Players leave dame open, so this has a meaning at the end of a game alone: elsewhere none.
    """
    if not position.is_over:
        return frozenset()
    from tengen.game.geometry import point_index
    from tengen.game.kernels.board import NO_CHAIN, remove_chain
    from tengen.game.kernels.life import new_life_scratch
    from tengen.game.kernels.scoring import area, mark_seki
    from tengen.game.scoring import on_board

    boards, _ = position.arrays(room=0)
    for point in dead:
        head = int(boards[0]["head"][point_index(point, position.width)])
        if head != NO_CHAIN:
            remove_chain(boards[0], head)
    scratch = new_life_scratch(1)[0]
    area(boards[0], scratch)
    mark_seki(boards[0], scratch, False, scratch["groups"])
    seki = on_board(scratch["seki"], position.width, position.height)
    gone = set(dead)
    black, white, _ = stones_of(position)
    return frozenset(p for p in (*black, *white) if seki[p.y, p.x] and p not in gone)


def points_to_clean_up(position: Position, color: Color, dead: Iterable[Point]) -> list[Point]:
    """Where a colour may play to capture the opponent's dead stones.

    These are the empty points of the places that dead stones lie in.
    """
    from tengen.game.geometry import Point

    stones = position.stones
    todo = [point for point in dead if position.at(point) is color.opponent]
    gone = set(dead)
    found = set(todo)
    while todo:
        x, y = todo.pop()
        for near in (Point(x + 1, y), Point(x - 1, y), Point(x, y + 1), Point(x, y - 1)):
            inside = 0 <= near.x < position.width and 0 <= near.y < position.height
            if inside and near not in found and (near in gone or not stones[near.y, near.x]):
                found.add(near)
                todo.append(near)
    return sorted(point for point in found if not stones[point.y, point.x])
