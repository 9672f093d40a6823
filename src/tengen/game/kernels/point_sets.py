"""Sets of points as bits in arrays of uint64. Bit y * width + x stands for the point (x, y)."""

from __future__ import annotations

import numpy as np

from tengen.game.geometry import MAX_AREA
from tengen.jit import kernel

_BITS = 64


def words_for(area: int) -> int:
    """Number of uint64 that hold one bit for each point of a board."""
    return (area + _BITS - 1) // _BITS


MAX_WORDS = words_for(MAX_AREA)


@kernel(inline=True)
def bit_of(board, p):
    """The bit of a point in a set."""
    p, stride = np.uint32(p), np.uint32(board.stride)
    return (p // stride - 1) * board.width + p % stride - 1


@kernel(inline=True)
def add_bit(words, bit):
    """Add a point, given by its bit, to a set."""
    words[bit // _BITS] |= np.uint64(1) << np.uint64(bit % _BITS)


@kernel(inline=True)
def has_bit(words, bit):
    """1 if the point with this bit is in the set, else 0."""
    return words[bit // _BITS] >> np.uint64(bit % _BITS) & np.uint64(1)


@kernel(inline=True)
def has_any(words):
    """Whether the set has any point."""
    some = np.uint64(0)
    for k in range(words.shape[0]):
        some |= words[k]
    return some != 0
