"""For protocols on stdin and stdout: exclusive use of stdout, and a log of all lines."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tengen.closeable import Closeable


@contextmanager
def own_stdout() -> Iterator[int]:
    """A descriptor of stdout for the protocol; all other prints go to stderr meanwhile."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    try:
        yield descriptor
    finally:
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)


class Log(Closeable):
    """A file with all lines in and out, or none; thread-safe.

    Close it, or use it in a `with` statement.
    """

    def __init__(self, path: str | None) -> None:
        """Raises OSError if the file cannot be opened."""
        self._file = Path(path).open("a", encoding="utf-8") if path else None  # noqa: SIM115
        self._lock = threading.Lock()

    def add(self, mark: str, text: str) -> None:
        """Add lines, with the time and a mark of their direction."""
        if self._file is None:
            return
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        with self._lock, suppress(OSError, ValueError):  # a full disk must not end a game
            for line in text.rstrip().split("\n"):
                self._file.write(f"{now} {mark} {line}\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
