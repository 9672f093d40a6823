"""The `basic` set: seven planes of 0 and 1, as textbooks use them."""

from __future__ import annotations

import numpy as np

from tengen.features.kernels.planes import mark, mark_if
from tengen.game.color import BLACK, EMPTY
from tengen.game.kernels.board import point_of
from tengen.game.kernels.moves import PASS, is_legal, move_at
from tengen.jit import kernel

PLANES = (
    "own stone",
    "opponent's stone",
    "empty point",
    "last move",
    "move before the last",
    "legal move",
    "Black to play",
)
_STONES = PLANES.index("own stone")
_MOVES = PLANES.index("last move")
_LEGAL = PLANES.index("legal move")
_BLACK = PLANES.index("Black to play")


@kernel
def encode(board, history, scratch, planes, globals_):  # noqa: ARG001
    """Fill 7 planes for the side to play; the set has no globals."""
    planes[:] = 0
    mark_stones(board, planes, _STONES)
    mark_moves(board, history, planes, _MOVES, 2)
    for y in range(board.height):
        for x in range(board.width):
            # After the end of a game, too: a player may be asked how to play on.
            mark_if(is_legal(board, history, point_of(board, x, y)), planes, _LEGAL, y, x)
            mark_if(board.to_play == BLACK, planes, _BLACK, y, x)


@kernel
def mark_stones(board, planes, first):
    """Mark own stones, the opponent's and empty points in three planes from `first` on."""
    for y in range(board.height):
        for x in range(board.width):
            color = board.color[point_of(board, x, y)]
            plane = 2 if color == EMPTY else 0 if color == board.to_play else 1
            mark(planes, first + plane, y, x)


@kernel
def mark_moves(board, history, planes, first, turns):
    """Mark the last moves, the latest in plane `first`; a pass takes its turn and marks nothing."""
    for turn in range(min(board.ply - board.hidden, turns)):
        p = np.int64(move_at(history, board.ply - turn))
        if p != PASS:
            mark(planes, first + turn, p // board.stride - 1, p % board.stride - 1)
