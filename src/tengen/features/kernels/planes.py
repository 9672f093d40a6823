"""Kernels: write planes as arrays of numbers, or as the bits of one number per point.

Bits are what is stored for training and sent to a GPU: a 9x9 board takes 324 bytes instead of
7,128. `planes` is planes[planes, height, width] or bits[height, width] throughout; the number of
dimensions is known when a kernel is compiled.
"""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel


@kernel(inline=True)
def mark(planes, plane, y, x):
    """Set a point of a plane to 1."""
    if planes.ndim == 2:
        planes[y, x] |= np.uint32(1) << np.uint32(plane)
    else:
        planes[plane, y, x] = 1


@kernel(inline=True)
def mark_if(condition, planes, plane, y, x):
    """Set a point of an empty plane to 1 if a condition holds, without a branch."""
    if planes.ndim == 2:
        planes[y, x] |= np.uint32(condition) << np.uint32(plane)
    else:
        planes[plane, y, x] = condition


@kernel(inline=True)
def fill_uniform(value, board, planes, plane, globals_, k):
    """Fill a uniform plane with a number. Bits only mark the plane, and globals_[k] is the number.

    The numbers of uniform planes follow the set's own globals.
    """
    for y in range(board.height):
        for x in range(board.width):
            if planes.ndim == 2:
                planes[y, x] |= np.uint32(1) << np.uint32(plane)
            else:
                planes[plane, y, x] = value
    if planes.ndim == 2:
        globals_[k] = value
