"""What was said, for those who look for the cause of something."""

from __future__ import annotations

import threading
from pathlib import Path


class Log:
    """A file with all lines in and out, or none."""

    def __init__(self, path: str | None) -> None:
        """Raises OSError if the file cannot be written."""
        self._file = None if path is None else Path(path).open("a", encoding="utf-8")  # noqa: SIM115
        self._lock = threading.Lock()

    def write(self, direction: str, text: str) -> None:
        """Note a line."""
        if self._file is not None:
            with self._lock:
                self._file.write(f"{direction} {text.rstrip()}\n")
                self._file.flush()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
