"""Kernels: encode by the kind of a set; stones caught in ladders as bits, one for each place."""

from __future__ import annotations

import numpy as np

from tengen.features import basic, katago, rich
from tengen.game.board import point_of
from tengen.jit import kernel

BASIC, RICH, KATAGO, KATAGO_WITHOUT_LADDERS = 0, 1, 2, 3
_BITS = 64


@kernel
def encode_by_kind(kind, board, history, scratch, planes, globals_):
    """Call the encoder of a set of inputs."""
    if kind == BASIC:
        basic.encode(board, history, scratch, planes, globals_)
    elif kind == RICH:
        rich.encode(board, history, scratch, planes, globals_)
    elif kind == KATAGO_WITHOUT_LADDERS:
        katago.encode_without_ladders(board, history, scratch, planes, globals_)
    else:
        katago.encode(board, history, scratch, planes, globals_)


@kernel
def unpack(board, words, points):
    """Turn bits by place into marks by point."""
    place = 0
    for y in range(board.height):
        for x in range(board.width):
            word = words[place // _BITS] >> np.uint64(place % _BITS)
            points[point_of(board, x, y)] = word & np.uint64(1)
            place += 1


@kernel
def pack(board, points, words):
    """Turn marks by point into bits by place."""
    words[:] = 0
    place = 0
    for y in range(board.height):
        for x in range(board.width):
            marked = np.uint64(points[point_of(board, x, y)] != 0)
            words[place // _BITS] |= marked << np.uint64(place % _BITS)
            place += 1
