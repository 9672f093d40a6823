"""JSON Lines files that another process appends to: each line is read once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

_REMEMBERED = 512  # last bytes read, to notice a file that was rewritten


class GrowingLines:
    """The complete lines of a growing file; one that was replaced or truncated is read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._inode = -1
        self._end = 0  # offset up to which lines were read
        self._last = b""  # bytes before it

    def refresh(self) -> bool:
        """Read new lines; did anything change? An incomplete last line is left for later."""
        known = self._end
        try:
            with self._path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if not self._continues(file, inode):
                    self._forget()
                self._inode = inode
                file.seek(self._end)
                fresh = file.read()
        except OSError:  # no such file, yet or any more
            self._forget()
            return known > 0
        began, whole = self._end, fresh[: fresh.rfind(b"\n") + 1]
        self.lines += [values for line in whole.split(b"\n") if (values := _object(line))]
        self._end += len(whole)
        self._last = (self._last + whole)[-_REMEMBERED:]
        return bool(whole) or began != known

    def _continues(self, file: BinaryIO, inode: int) -> bool:
        """Is it the same file, unchanged up to where it was read?"""
        if inode != self._inode:
            return False
        file.seek(self._end - len(self._last))
        return file.read(len(self._last)) == self._last


def _object(line: bytes) -> dict[str, Any]:
    """The object on a line; an empty one if the line is damaged."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
