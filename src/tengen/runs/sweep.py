"""Sweeps: the same run with several settings and seeds, and their mean curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.runs.folder import RunFolder, read_lines
from tengen.svg_chart import Series

POINTS = 100  # at most, of a joint curve
# Student's t for intervals of 95%, by degrees of freedom.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_T95_OF_MANY = 1.96


class Variant(NamedTuple):
    """Settings that a sweep tries, such as training.rate=0.001."""

    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """The settings in words; of a sweep over seeds alone, `as it is`."""
        return ", ".join(self.settings) or "as it is"

    @property
    def folder(self) -> str:
        """A name for its folder."""
        return re.sub(r"[^\w.=+-]+", "_", ",".join(self.settings)).strip("_") or "as-it-is"


class Curve(NamedTuple):
    """A metric of one run."""

    x: Sequence[float]
    y: Sequence[float]


def variants(varied: Iterable[str]) -> list[Variant]:
    """All combinations of settings such as `training.rate=0.001,0.002`; raises ValueError."""
    choices = []
    for text in varied:
        key, equals, values = text.partition("=")
        found = [value.strip() for value in _split(values)]
        if not (equals and key.strip() and found and all(found)):
            raise ValueError(
                f"{text}: write section.key=value,value, as in training.rate=0.001,0.002"
            )
        choices.append([f"{key.strip()}={value}" for value in found])
    found_variants = [Variant(settings) for settings in product(*choices)]
    if len({each.folder for each in found_variants}) < len(found_variants):
        raise ValueError("two of the variants are the same; name each value once")
    return found_variants


def _split(values: str) -> list[str]:
    """Values between commas; those of a list such as [7,9] belong together."""
    return re.findall(r"(?:\[[^\]]*\]|[^,\[\]])+", values)


def read_curve(run: Path, metric: str, over: str) -> Curve:
    """The curve of `metric` (y) against `over` (x), which may be `step`.

    Ratings are on lines of their own, without other metrics: there x is that of the line with the
    same step.
    """
    lines = read_lines(RunFolder(run).metrics)
    of_step = {line["step"]: line[over] for line in lines if over in line}
    found = [
        (line.get(over, of_step.get(line["step"])), line[metric])
        for line in lines
        if metric in line
    ]
    points = [(float(x), float(y)) for x, y in found if x is not None and y is not None]
    return Curve([x for x, _ in points], [y for _, y in points])


def joint_series(name: str, curves: Sequence[Curve]) -> Series:
    """The mean of several runs with its interval of 95%, as far as all of them have come.

    Curves are interpolated between their points; one run has no interval.
    """
    curves = [curve for curve in curves if curve.x]
    if not curves:
        return Series(name, (), ())
    begin, end = max(curve.x[0] for curve in curves), min(curve.x[-1] for curve in curves)
    if end < begin:
        return Series(name, (), ())  # they have no range in common
    count = min(POINTS, max(len(curve.x) for curve in curves))
    grid = np.linspace(begin, end, count if end > begin else 1)
    values = np.array([np.interp(grid, curve.x, curve.y) for curve in curves])
    mean, half = values.mean(0), _half_interval(values)
    if len(curves) == 1:
        return Series(name, grid.tolist(), mean.tolist())
    low, high = mean - half, mean + half
    return Series(name, grid.tolist(), mean.tolist(), low.tolist(), high.tolist())


def _half_interval(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """[points] half the width of the 95% interval of the mean of values[runs, points]."""
    runs = len(values)
    if runs < 2:
        return np.zeros(values.shape[1])
    freedom = runs - 1
    factor = _T95[freedom - 1] if freedom <= len(_T95) else _T95_OF_MANY
    half: NDArray[np.float64] = factor * values.std(0, ddof=1) / math.sqrt(runs)
    return half


def summary(series: Mapping[str, Series]) -> list[tuple[str, float, float]]:
    """Each variant with the mean at its end and half the width of the interval; NaN without any."""
    rows = []
    for name, each in series.items():
        last = each.y[-1] if each.y else math.nan
        rows.append((name, last, each.high[-1] - last if each.high else math.nan))
    return rows
