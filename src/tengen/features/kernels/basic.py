"""The tutorial's inputs: seven planes of 0 and 1, nothing for the whole board."""

from __future__ import annotations

import numpy as np

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
GLOBALS: tuple[str, ...] = ()
_STONES = PLANES.index("own stone")
_MOVES = PLANES.index("last move")
_LEGAL = PLANES.index("legal move")
_BLACK = PLANES.index("Black to play")


@kernel
def encode(board, history, scratch, planes, globals_):  # noqa: ARG001
    """Fill planes[7, height, width] for the side to play; globals_[0] and scratch stay unused."""
    planes[:] = 0
    mark_stones(board, planes[_STONES:_MOVES])
    mark_moves(board, history, planes[_MOVES:_LEGAL])
    for y in range(board.height):
        for x in range(board.width):
            # Also after the end of a game: whoever asks then wants to know how to play on.
            planes[_LEGAL, y, x] = is_legal(board, history, point_of(board, x, y))
            planes[_BLACK, y, x] = board.to_play == BLACK


@kernel
def mark_stones(board, planes):
    """Mark own stones, the opponent's and empty points in planes[3, height, width] of zeros."""
    for y in range(board.height):
        for x in range(board.width):
            color = board.color[point_of(board, x, y)]
            planes[2 if color == EMPTY else 0 if color == board.to_play else 1, y, x] = 1


@kernel
def mark_moves(board, history, planes):
    """Mark where the last moves were played in planes[turns, height, width] of zeros.

    The last one comes first. A pass has no place, and uses up its turn.
    """
    for turn in range(min(board.ply, planes.shape[0])):
        p = np.int64(move_at(history, board.ply - turn))
        if p != PASS:
            planes[turn, p // board.stride - 1, p % board.stride - 1] = 1
