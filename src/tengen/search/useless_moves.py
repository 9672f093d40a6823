"""Moves that a search need not look at, when one side only passes."""

from __future__ import annotations

import numpy as np

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.request import Avoid

_PASSES = 4  # of the opponent, one after another


def useless_moves(position: Position) -> list[Avoid]:
    """The moves in pass-alive areas of either side, if the opponent's last moves were passes.

    Otherwise a side might fill them all before the game ends. As KataGo has it.
    """
    passed, opponent = position, position.to_play.opponent
    for turn in range(2 * _PASSES - 1):
        last = passed.last_move
        if last is None or (turn % 2 == 0 and last != (opponent, None)):
            return []
        passed = passed.undo()
    settled = np.logical_or(*(position.pass_alive(color) for color in Color))
    return [Avoid(position.to_play, Point(x, y)) for y, x in np.argwhere(settled).tolist()]
