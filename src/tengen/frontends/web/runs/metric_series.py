"""The measurements of a run as columns, few enough to be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

MOST_POINTS = 512  # of a curve; no screen shows more
PROGRESS = ("step", "minutes", "games")  # what curves are drawn over

Row = dict[str, float]


class Series(NamedTuple):
    """Columns of equal length by name; None where nothing was measured."""

    columns: dict[str, list[float | None]]
    last: Row  # the latest of each, as it was written


def rows_by_step(lines: Iterable[Mapping[str, Any]]) -> list[Row]:
    """What was measured at each step, in order: several lines of one step are one row."""
    rows: dict[float, Row] = {}
    for line in lines:
        values = {name: value for name, value in line.items() if is_number(value)}
        if "step" in values:
            rows.setdefault(values["step"], {}).update(values)
    return [rows[step] for step in sorted(rows)]


def series_of(rows: list[Row]) -> Series:
    """Rows as columns. Of a long run neighbours are averaged, always the same ones together."""
    stride = 1
    while len(rows) > MOST_POINTS * stride:
        stride *= 2
    groups = [rows[first : first + stride] for first in range(0, len(rows), stride)]
    last: Row = {}
    for row in rows:
        last.update(row)
    columns = {name: [_joined(name, group) for group in groups] for name in last}
    return Series(columns, last)


def _joined(name: str, group: list[Row]) -> float | None:
    values = [row[name] for row in group if name in row]
    if not values:
        return None
    if name in PROGRESS:
        return values[-1]
    return short(sum(values) / len(values))


def short(value: float) -> float | None:
    """Five figures, which is more than a screen shows; None for what is no number."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def is_number(value: object) -> bool:
    """Can it be drawn? True and false cannot."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300  # which NaN is not either
