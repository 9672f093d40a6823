"""Positions under other rules, after undo, and at the end of a game: seki, dead stones, results."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from tengen.frontends.gtp.protocol import GtpError
from tengen.game.color import Color
from tengen.game.outcome import Outcome, Reason

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.rules import Rules


def stones_of(position: Position) -> tuple[list[Point], list[Point], list[Point]]:
    """The points with black stones, with white ones, and the empty ones."""
    from tengen.game.geometry import Point

    points: tuple[list[Point], ...] = ([], [], [])
    for y, row in enumerate(position.stones.tolist()):
        for x, stone in enumerate(row):
            points[stone].append(Point(x, y))
    return points[1], points[2], points[0]


def vertices(position: Position, points: list[Point]) -> str:
    """Points as clients read them: row by row from the top, as KataGo lists them."""
    return " ".join(position.text(point) for point in sorted(points, key=lambda p: (p.y, p.x)))


def on_terms(position: Position, rules: Rules, komi: float) -> Position:
    """The same game under other rules and komi, which forbid none of its moves."""
    from tengen.game.position import Position

    line = list(position.line())
    changed = Position(position.size, rules, komi, move_limit=position.move_limit)
    for earlier, later in pairwise(line):
        last = later.last_move
        if last is not None and later.move_number == earlier.move_number + 1:
            changed = changed.play(last.point, last.color, strict=False)
            changed = changed.compensated(later.handicap)
        else:
            black, white, empty = stones_of(later)
            changed = changed.set_up(black, white, empty, later.to_play, later.handicap)
    return changed


def before_last_move(position: Position) -> Position:
    """The position before the last move; raises GtpError if there is none."""
    before: Position | None = position
    while before is not None and not before.move_number:
        before = before.previous
    if before is None:
        raise GtpError("cannot undo")
    return position.undo()


def result_text(outcome: Outcome | None) -> str:
    """A result as GTP writes it, which has 0 for a draw and for a game without a result."""
    return "0" if outcome is None or outcome.reason is Reason.NO_RESULT else str(outcome)


def stones_in_seki(position: Position, dead: Iterable[Point]) -> frozenset[Point]:
    """The stones that live without two eyes, once the dead ones are off the board.

    Only at the end of a game does this mean anything; elsewhere no stones are returned.
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

    These are the empty points of the regions in which dead stones lie.
    """
    from tengen.game.board_view import neighbours

    stones = position.stones
    todo = [point for point in dead if position.at(point) is color.opponent]
    gone = set(dead)
    found = set(todo)
    while todo:
        for near in neighbours(todo.pop(), position.size):
            if near not in found and (near in gone or not stones[near.y, near.x]):
                found.add(near)
                todo.append(near)
    return sorted(point for point in found if not stones[point.y, point.x])
