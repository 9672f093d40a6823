"""Game records as the records of self-play hold games, so that a network can learn from them.

Every move becomes a turn to learn from, with the move played as its target and the game's result as
its value. Targets that the record does not give are not learned: a game won by resignation has no
score, and ownership is known only where the board, counted as it stands, gives the recorded result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, WHITE, Color
from tengen.game.kernel_rules import terms_of
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import SgfError, SgfGame
from tengen.selfplay.record import (
    BY_AGREEMENT,
    BY_DECISION,
    BY_PASSES,
    FULL,
    GAME,
    SETUP,
    TARGET,
    TURN,
    UNFINISHED,
    Games,
)

_SET_UP = ("AB", "AW", "AE", "PL")


class Ending(NamedTuple):
    """What is known of the end of a game."""

    end: int  # BY_PASSES ...
    score: float  # Black's points minus White's; 1 or -1 where only the winner is known
    ownership: NDArray[np.int8]  # [height, width] 1 Black's, -1 White's, 0 nobody's or not known


def games_of_sgf(source: SgfGame, number: int, rules: str = "japanese") -> Games:
    """The main line of a record as a game of this number; `rules` are for records without any.

    Stones that are set up after the first move end it, and so does a move onto a stone. Raises
    SgfError for a record without moves or with impossible ones.
    """
    start, final, is_whole = _line(source, rules)
    moves = final.moves
    if not moves:
        raise SgfError(source.source, source.root.offset, "has no moves to learn from")
    ending = _ending(source.outcome, final, is_whole)
    area, width = final.size.area, final.width
    stones = [
        (int(y) * width + int(x), int(start.stones[y, x])) for y, x in np.argwhere(start.stones)
    ]
    played = [
        (area if point is None else point.y * width + point.x, int(color)) for color, point in moves
    ]
    turns = np.zeros(len(stones) + len(played), TURN)
    turns["move"], turns["color"] = np.array(stones + played).T
    turns["kind"], turns["weight"] = SETUP, 0
    own = turns[len(stones) :]
    own["kind"], own["weight"] = FULL, 1
    if ending.end != UNFINISHED:
        own["value"] = np.sign(ending.score)
    if ending.end in (BY_PASSES, BY_AGREEMENT):
        own["score"] = own["lead"] = ending.score
    game = np.zeros(1, GAME)
    game["number"], game["move_limit"] = number, len(turns)
    game["width"], game["height"] = final.size
    bonus = final.rules.white_handicap_bonus.points(final.handicap)
    game["terms"] = terms_of(final.rules, final.komi + bonus)
    game["n_turns"], game["end"], game["score"] = len(turns), ending.end, ending.score
    return Games(game, turns, np.zeros(0, TARGET), ending.ownership.reshape(-1))


def _line(source: SgfGame, rules: str) -> tuple[Position, Position, bool]:
    """The positions before the first move and after the last, and whether that is all of it."""
    position = source.start(rules)
    for node in source.root.main_line():
        moves = position.move_number
        if moves and any(name in node.properties for name in _SET_UP):
            return _start_of(position), position, False
        after = source.after(position, node)
        if after.move_number < moves:  # a move onto a stone has begun a new history
            return _start_of(position), position, False
        position = after
    return _start_of(position), position, True


def _start_of(position: Position) -> Position:
    for _ in range(position.move_number):
        position = position.undo()
    return position


def _ending(outcome: Outcome | None, final: Position, is_whole: bool) -> Ending:
    """How a game ended, as far as its record has it."""
    nobody = np.zeros(final.stones.shape, np.int8)
    by_the_board = (Reason.SCORE, Reason.MOVE_LIMIT, Reason.RESIGNATION)
    if outcome is None or outcome.reason not in by_the_board:
        return Ending(UNFINISHED, 0.0, nobody)  # on time, by forfeit: not seen on the board
    sign = {Color.BLACK: 1, Color.WHITE: -1, None: 0}[outcome.winner]
    if outcome.margin is None:
        return Ending(BY_DECISION, float(sign), nobody)
    margin = sign * outcome.margin
    counted = final.score()
    if not is_whole or counted.margin != margin:
        return Ending(BY_AGREEMENT, margin, nobody)
    owner = counted.owner
    ownership = np.where(owner == BLACK, 1, np.where(owner == WHITE, -1, 0)).astype(np.int8)
    return Ending(BY_PASSES, margin, ownership)
