"""Bounds on what waits in memory: positions to be searched, answers to be read."""

from __future__ import annotations

import threading

POSITION_BYTES = 6_400  # of a game: a board, its share of the history, the objects around them
MOST_POSITIONS = 2 << 30  # bytes of positions that wait or are searched, of all clients together
MOST_ANSWERS = 256 << 20  # bytes of answers that wait for a client to read them


class Backlog:
    """Bytes of things that wait, up to a limit. Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = 0
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """Is the limit reached?"""
        return self._held >= self.most

    @property
    def held(self) -> int:
        """The bytes that wait."""
        return self._held

    def try_hold(self, n_bytes: int) -> bool:
        """Count something that is to wait, unless the limit would be exceeded."""
        with self._lock:
            if self._held + n_bytes > self.most:
                return False
            self._held += n_bytes
            return True

    def hold(self, n_bytes: int) -> None:
        """Count something that waits whatever the limit."""
        with self._lock:
            self._held += n_bytes

    def release(self, n_bytes: int) -> None:
        """Count something that waits no longer."""
        with self._lock:
            self._held -= n_bytes
