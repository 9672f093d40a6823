"""Kernels: planes of 0 and 1, as numbers of their own or as the bits of one number for each point.

Bits are what travels between processor and GPU: a 9x9 board is 324 bytes instead of 7,128.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.jit import kernel


@kernel(inline=True)
def mark(planes, plane, y, x):
    """Set a point of a plane, in planes[planes, height, width] or in bits[height, width]."""
    if planes.ndim == 2:
        planes[y, x] |= np.uint32(1) << np.uint32(plane)
    else:
        planes[plane, y, x] = 1


@kernel(inline=True)
def mark_if(condition, planes, plane, y, x):
    """As `mark`, if a condition holds that no processor could guess."""
    if planes.ndim == 2:
        planes[y, x] |= np.uint32(condition) << np.uint32(plane)
    elif condition:
        planes[plane, y, x] = 1


def unpacked(bits: NDArray[np.uint32], count: int) -> NDArray[np.float32]:
    """[batch, count, height, width] from bits[batch, height, width]."""
    shifts = np.arange(count, dtype=np.uint32)[:, None, None]
    return (bits[:, None] >> shifts & np.uint32(1)).astype(np.float32)
