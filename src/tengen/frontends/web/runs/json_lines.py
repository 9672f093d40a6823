"""Files of JSON lines that grow while somebody else writes them: each line is read once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

_REMEMBERED = 512  # bytes before the place where reading ended, to know the file again


class GrowingLines:
    """The whole lines of such a file. One that was replaced or cut is read anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._file = -1  # as the system numbers files
        self._end = 0  # of what was read
        self._last = b""  # bytes before it

    def refresh(self) -> bool:
        """Read what is new; was there anything? A line without its end waits to be whole."""
        known = self._end
        try:
            with self._path.open("rb") as file:
                number = os.fstat(file.fileno()).st_ino
                if not self._goes_on(file, number):
                    self._forget()
                self._file = number
                file.seek(self._end)
                fresh = file.read()
        except OSError:  # not there yet, or no more
            self._forget()
            return known > 0
        began, whole = self._end, fresh[: fresh.rfind(b"\n") + 1]
        self.lines += [values for line in whole.split(b"\n") if (values := _object(line))]
        self._end += len(whole)
        self._last = (self._last + whole)[-_REMEMBERED:]
        return bool(whole) or began != known

    def _goes_on(self, file: BinaryIO, number: int) -> bool:
        """Is it the file that was read, with nothing of that changed?"""
        if number != self._file:
            return False
        file.seek(self._end - len(self._last))
        return file.read(len(self._last)) == self._last


def _object(line: bytes) -> dict[str, Any]:
    """The object on a line; an empty one if it is damaged."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
