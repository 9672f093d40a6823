"""The memory that all search trees of an engine share."""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress

LEAST_MEGABYTES = 16.0  # for a tree
# Freed blocks of this size go back to the system. The C library would raise the threshold with
# each one freed, and keep ever more of the memory of dropped trees.
_OWN_BLOCK = 1 << 20
_MMAP_THRESHOLD = -3  # the C library's name for it


class TreeMemory:
    """Megabytes shared by trees: a large one gets at most half of what is left."""

    def __init__(self, megabytes: float) -> None:
        """Tells the C library, for the whole process, not to keep what large trees leave behind."""
        _c_library("mallopt", _MMAP_THRESHOLD, _OWN_BLOCK)
        self._left = megabytes
        self._lock = threading.Lock()

    def has(self, need: float) -> bool:
        """Would `take` give all that is needed?"""
        return need <= self._left / 2

    def take(self, need: float) -> float:
        """As many megabytes as are needed, or as can be had."""
        with self._lock:
            taken = min(need, max(self._left / 2, LEAST_MEGABYTES))
            self._left -= taken
            return taken

    def give_back(self, megabytes: float) -> None:
        """Free the memory of a dropped tree."""
        with self._lock:
            self._left += megabytes
        _c_library("malloc_trim", 0)


def _c_library(function: str, *arguments: int) -> None:
    """Call a function of the C library, if it has it: not every one can."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)
