"""Positions after GTP's commands, and the end of a game: seki, stones to capture, results.

Moves are of either colour; handicap is laid out by moves, rules change on the way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.katago_reports import HandicapCount, after_move, handicap_counts
from tengen.game.color import Color
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.outcome import Outcome, Reason
from tengen.game.rules import Scoring

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.rules import Rules


MOST_MOVES = 20_000  # of a game: each position takes 6 kB


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


def anew(position: Position, to_play: Color | None = None) -> Position:
    """The board as it stands with no history: no ko, no passes, the game not over."""
    mover = position.to_play if to_play is None else to_play
    return position.set_up(to_play=mover, handicap=position.handicap)


def for_search(position: Position, color: Color) -> Position:
    """The position with this colour to move, in a game that goes on."""
    if position.to_play is color and not position.is_over:
        return position
    return anew(position, color)


def to_clean_up(position: Position) -> Point | None:
    """A move towards the capture of stones that are dead in the player's pass-alive area, if there
    are any and rules count them for their owner; else None, a pass.
    """
    import numpy as np

    from tengen.game.geometry import Point

    rules, mine = position.rules, position.pass_alive(position.to_play)
    board = position.arrays(room=0)[0][0]
    if rules.scoring is not Scoring.AREA or rules.friendly_pass or board["button"]:
        return None
    theirs = np.pad(position.stones == position.to_play.opponent, 1)
    beside = theirs[:-2, 1:-1] | theirs[2:, 1:-1] | theirs[1:-1, :-2] | theirs[1:-1, 2:]
    legal = position.legal_mask()[:-1].reshape(mine.shape)
    for y, x in np.argwhere(mine & beside & legal).tolist():
        return Point(x, y)
    return None


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


class Mover:
    """Plays the moves of a game, counting White's bonus for handicap on the way.

    It remembers the count of its last position: a move after another one costs the same in a long
    game as in a short one.
    """

    def __init__(self) -> None:
        self._last: tuple[Position, HandicapCount] | None = None

    def played(self, position: Position, color: Color, vertex: str) -> Position:
        """The position after a move of either colour, with White's bonus; raises GtpError."""
        if position.move_number >= MOST_MOVES:
            raise GtpError(f"a game may have {MOST_MOVES:,} moves, not more")
        try:
            after = after_move(position, vertex, color)
        except IllegalMoveError as error:
            raise GtpError(f"illegal move: {error}") from None
        count = self._count(position).after(position, after)
        after = after.compensated(count.handicap)
        self._last = after, count
        return after

    def _count(self, position: Position) -> HandicapCount:
        if self._last is not None and self._last[0] is position:
            return self._last[1]
        line = list(position.line())[-1 - position.move_number :]
        return deque(handicap_counts(line), 1)[0]


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
