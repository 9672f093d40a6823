"""The moves of a game's main line, each with the positions before and after it."""

from __future__ import annotations

from typing import NamedTuple

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import GameOverError, IllegalMoveError, OccupiedError
from tengen.game.position import Position
from tengen.game.sgf.records import SgfError, SgfGame


class Turn(NamedTuple):
    """A move as it was played; `move` is None for a pass."""

    number: int  # of the move, from 1
    node: int  # place of its node in the main line; the root is 0
    color: Color
    move: Point | None
    before: Position  # with the mover to play
    after: Position


class MainLine(NamedTuple):
    """The moves that can be reviewed, and why they end before the record does."""

    turns: tuple[Turn, ...]
    broken_off: str  # what is wrong with the move after the last turn; "" if nothing is


def main_line(game: SgfGame) -> MainLine:
    """The moves of the main line, up to the first that the rules do not allow.

    Passes after the end of the game are left out. Raises SgfError if there is nothing to review.
    """
    turns: list[Turn] = []
    broken_off = ""
    node, position = 0, None
    try:
        for node, reached in enumerate(game.positions()):
            turns += _turns_of_node(position, reached, node, len(turns) + 1)
            position = reached
    except IllegalMoveError as error:
        broken_off = f"move {len(turns) + 1}, {error.color} {error.move}: {error.why}"
    except SgfError as error:
        if not turns:
            raise
        broken_off = f"move {len(turns) + 1}: {error.reason}"
    if not turns:
        raise SgfError(game.source, 0, broken_off or "there are no moves to review")
    return MainLine(tuple(turns), broken_off)


def _turns_of_node(
    earlier: Position | None, reached: Position, node: int, number: int
) -> list[Turn]:
    """The moves of one node, one as a rule; raises IllegalMoveError.

    The SGF reader accepts illegal moves: for a stone on an occupied point it removes the old one
    first, which must be found out here.
    """
    steps = [reached]
    while steps[-1] is not earlier and steps[-1].previous is not None:
        steps.append(steps[-1].previous)
    turns: list[Turn] = []
    for before, after in zip(steps[:0:-1], steps[-2::-1], strict=True):
        if after.move_number <= before.move_number or after.last_move is None:
            continue  # stones were set up
        color, point = after.last_move
        cleared_from = before.previous if before is not steps[-1] else None
        if point is not None and cleared_from is not None and cleared_from.at(point) is not None:
            raise OccupiedError(before.text(point), color, number)
        try:
            before.play(point, color)
        except GameOverError:
            if point is not None:
                raise
            continue
        if before.to_play is not color:
            before = before.set_up(to_play=color, handicap=before.handicap)
        turns.append(Turn(number + len(turns), node, color, point, before, after))
    return turns
