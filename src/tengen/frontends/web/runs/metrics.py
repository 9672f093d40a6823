"""The metrics of a run: read as their file grows, and as columns for charts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MOST_POINTS = 512  # of a curve
PROGRESS = ("step", "minutes", "games")  # possible x axes
_REMEMBERED = 512  # last bytes read, to notice a file that was rewritten

Row = dict[str, float]


class GrowingLines:
    """The JSON objects in a file that another process appends to, each complete line read once.

    A file that was replaced or truncated is read again.
    """

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


class MetricSeries(NamedTuple):
    """Columns of equal length by name; None where nothing was measured."""

    columns: dict[str, list[float | None]]
    last: Row  # the latest value of each, not averaged


def rows_by_step(lines: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The metrics of each step, in order; lines of the same step are merged."""
    rows: dict[float, Row] = {}
    for line in lines:
        values = {name: value for name, value in line.items() if is_number(value)}
        if "step" in values:
            rows.setdefault(values["step"], {}).update(values)
    return [rows[step] for step in sorted(rows)]


def series_of(rows: list[Row]) -> MetricSeries:
    """Rows as columns. In long runs neighbours are averaged, in groups that do not shift."""
    stride = 1
    while len(rows) > MOST_POINTS * stride:
        stride *= 2
    groups = [rows[first : first + stride] for first in range(0, len(rows), stride)]
    last: Row = {}
    for row in rows:
        last.update(row)
    columns = {name: [_joined(name, group) for group in groups] for name in last}
    return MetricSeries(columns, last)


def _joined(name: str, group: list[Row]) -> float | None:
    values = [row[name] for row in group if name in row]
    if not values:
        return None
    if name in PROGRESS:
        return values[-1]
    return short(sum(values) / len(values))


def short(value: float) -> float | None:
    """The value with five significant digits; None if it is not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def is_number(value: object) -> bool:
    """Is it a number that can be drawn?"""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300  # False for NaN
