"""Batch sizes that graphs are compiled for, and batches padded to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIZES_BY_BATCH = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
LARGE_BATCH = 16


def padded_size(n: int) -> int:
    """The batch size to compute for n positions.

    Up to 32 it is the next one that can have a graph of its own, unless that adds over a tenth to a
    large batch, which gains less by such a graph. Beyond, all batches share a graph, in which each
    new size costs time and megabytes: these sizes are an eighth of a power of two apart.
    """
    if n > SIZES_BY_BATCH[-1]:
        step = 1 << (n - 1).bit_length() - 4
        return -(-n // step) * step
    size = next(size for size in SIZES_BY_BATCH if size >= n)
    return size if n <= LARGE_BATCH or size - n <= n // 10 else n


def static_size(n: int) -> int:
    """The next power of 4: for devices whose graphs take batches of one size alone."""
    size = 1
    while size < n:
        size *= 4
    return size


def padded(values: NDArray[np.float32], more: int) -> NDArray[np.float32]:
    """Pad a batch by repeating its last row."""
    return np.concatenate([values, np.repeat(values[-1:], more, 0)]) if more else values
