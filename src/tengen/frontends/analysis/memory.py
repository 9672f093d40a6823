"""Memory for search trees: enough for each, and not too much for all of them."""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress

LEAST_MEGABYTES = 16.0  # for a tree
TRIM_FROM = 0.0  # megabytes
# A tree of n visits takes less than (n + spare) nodes of these sizes.
_SPARE_NODES = 600
_NODE_BYTES, _NODE_BYTES_PER_POINT = 500, 6


def megabytes_for(visits: int, area: int) -> float:
    """What a tree of so many visits takes at most, on a board of this area."""
    return (visits + _SPARE_NODES) * (_NODE_BYTES + _NODE_BYTES_PER_POINT * area) / 1e6


class Memory:
    """Megabytes shared by trees: a large one gets at most half of what is left."""

    def __init__(self, megabytes: float) -> None:
        self._left = megabytes
        self._lock = threading.Lock()

    def take(self, need: float) -> float:
        """As many as are needed, or as can be had."""
        with self._lock:
            taken = min(need, max(self._left / 2, LEAST_MEGABYTES))
            self._left -= taken
            return taken

    def give_back(self, megabytes: float) -> None:
        """They are free again, the tree being gone."""
        with self._lock:
            self._left += megabytes
        if megabytes >= TRIM_FROM:
            _trim()


def _trim() -> None:
    """Give what large trees leave behind back to the system, which the C library else keeps."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # not every C library can
            ctypes.CDLL(None).malloc_trim(0)
