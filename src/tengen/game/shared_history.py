"""Histories of positions that share their entries, so that a long game takes linear memory."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

_FIRST_ROOM = 16


class SharedHistory:
    """Room for the entries of a line of positions, each of which sees as many as it has moves.

    The first move after the last position adds an entry in place; any other one, of a variation,
    begins with a copy. Entries in use never change. Thread-safe, as positions look immutable to
    all threads.
    """

    __slots__ = ("_entries", "_lock", "_used")

    def __init__(self, entries: NDArray[np.uint64], room: int = _FIRST_ROOM) -> None:
        """Copies these entries, with room for more."""
        self._used = len(entries)
        self._entries = np.empty(self._used + room, np.uint64)
        self._entries[: self._used] = entries
        self._lock = threading.Lock()

    def longer(self, history: NDArray[np.uint64]) -> tuple[SharedHistory, NDArray[np.uint64]]:
        """A history of this room with one entry more, yet to be set, and the room it is in."""
        length = len(history) + 1
        with self._lock:
            if self._used == len(history) and length <= len(self._entries):
                self._used = length
                return self, self._entries[:length]
        room = SharedHistory(history, max(_FIRST_ROOM, length // 2))
        room._used = length
        return room, room._entries[:length]

    def give_back(self, history: NDArray[np.uint64]) -> None:
        """Free the last entry of a history of this room, whose move was not played after all."""
        with self._lock:
            if self._used == len(history):
                self._used -= 1
