"""Kernels: what two moves in a row and their surroundings have in common with others."""

from __future__ import annotations

import numpy as np

from tengen.game.color import EMPTY
from tengen.game.kernels.moves import move_at
from tengen.jit import kernel

REACH = 2  # points around a move that belong to it, in each direction
_SIDE = 2 * REACH + 1
# [cell, color, in atari] random bits of each, 0 for empty points; the key of a pattern is their
# exclusive or.
_CELLS = np.random.default_rng(20_251_116).integers(
    1, 2**64 - 1, (_SIDE * _SIDE, 3, 2), np.uint64, endpoint=True
)
_CELLS[:, EMPTY] = 0


@kernel
def local_key(board, history, point):
    """The key of a stone that is about to be played: where, after which move, among which stones.

    Equal where the last move, this one, the ko and all stones within reach are; stones in atari
    differ from others.
    """
    before = np.uint64(move_at(history, board.ply))
    key = mixed(
        before
        | np.uint64(point) << np.uint64(10)
        | np.uint64(board.ko) << np.uint64(20)
        | np.uint64(board.to_play) << np.uint64(40)
    )
    x0, y0 = point % board.stride - 1, point // board.stride - 1
    # Without a branch for each point: which ones have stones is unpredictable.
    for y in range(max(y0 - REACH, 0), min(y0 + REACH + 1, board.height)):
        for x in range(max(x0 - REACH, 0), min(x0 + REACH + 1, board.width)):
            p = np.uint32((y + 1) * board.stride + x + 1)
            atari = np.int64(board.libs[board.head[p]] == 1)
            cell = (y - y0 + REACH) * _SIDE + x - x0 + REACH
            key ^= _CELLS[cell, board.color[p], atari]
    return key


@kernel(inline=True)
def mixed(x):
    """A well-spread number for a small one (the finaliser of splitmix64)."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
