"""Kernels: sets of places of a board, one bit each. Place `y * width + x` is the point (x, y)."""

from __future__ import annotations

import numpy as np

from tengen.game.geometry import MAX_AREA
from tengen.jit import kernel

_BITS = 64


def words_for(area: int) -> int:
    """How many uint64 hold one bit for each point of a board."""
    return (area + _BITS - 1) // _BITS


MAX_WORDS = words_for(MAX_AREA)


@kernel(inline=True)
def place_of(board, p):
    """The place of a point on the board."""
    p, stride = np.uint32(p), np.uint32(board.stride)
    return (p // stride - 1) * board.width + p % stride - 1


@kernel(inline=True)
def add_place(words, place):
    """Put a place into a set."""
    words[place // _BITS] |= np.uint64(1) << np.uint64(place % _BITS)


@kernel(inline=True)
def has_place(words, place):
    """1 if the place is in the set, else 0."""
    return words[place // _BITS] >> np.uint64(place % _BITS) & np.uint64(1)


@kernel(inline=True)
def has_any(words):
    """Is anything in the set?"""
    some = np.uint64(0)
    for k in range(words.shape[0]):
        some |= words[k]
    return some != 0
