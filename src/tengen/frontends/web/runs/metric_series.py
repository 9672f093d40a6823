"""The metrics of a run as columns, averaged to as many points as a chart shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

MOST_POINTS = 512  # of a curve
PROGRESS = ("step", "minutes", "games")  # possible x axes

Row = dict[str, float]


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
