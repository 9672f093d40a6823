"""Line charts as SVG: curves with their error bands, and named levels to compare them with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 900, 500
_LEFT, _RIGHT, _BOTTOM = 76, 24, 58  # margins of the plot
_TITLE_Y, _LEGEND_Y, _LEGEND_ROW = 32, 58, 20
_LETTER = 7.0  # pixels of an average letter in the legend
_DOTS = 80  # a longer curve is drawn without dots
_BAND_SHARE = 0.25  # of the height that bands may claim beyond the curves

# Readable on white and on black, and told apart by the colour-blind as far as six can be.
_COLOURS = ("#2f7fd6", "#e07b00", "#0f9d76", "#c2529b", "#8a6fd1", "#a3892b")
_STYLE = """
  text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #333b45 }
  .title { font-size: 17px; font-weight: 600 }
  .tick { font-size: 12px; fill: #66707c }
  .page { fill: #ffffff }
  .grid { stroke: #e6e9ed }
  .axis { stroke: #9aa3ad }
  .anchor { stroke: #7b8590; stroke-dasharray: 6 5 }
  .name { font-size: 12px; fill: #66707c; stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
  .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round }
  .band { fill-opacity: 0.16; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #dfe4ea }
    .tick { fill: #9aa5b1 }
    .page { fill: #14181d }
    .grid { stroke: #262d35 }
    .axis { stroke: #59636e }
    .anchor { stroke: #8893a0 }
    .name { fill: #a9b3be; stroke: #14181d }
    .band { fill-opacity: 0.24 }
  }
"""


class Series(NamedTuple):
    """One curve; what is not finite leaves a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()  # of the error band; none: no band
    high: Sequence[float] = ()


class Anchor(NamedTuple):
    """A level to compare curves with."""

    name: str
    y: float


class _Axis(NamedTuple):
    """A range of values and the pixels it is drawn on."""

    low: float
    high: float
    start: float
    end: float
    ticks: list[float]

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


class _Point(NamedTuple):
    x: float
    y: float
    low: float
    high: float


def line_chart(
    series: Sequence[Series], anchors: Sequence[Anchor], title: str, x_label: str, y_label: str
) -> str:
    """A picture of 900 by 500 pixels, for light and dark pages. Raises ValueError.

    The x axis begins at 0 unless there are values below it.
    """
    curves = [_pieces(each) for each in series]
    points = [point for pieces in curves for piece in pieces for point in piece]
    legend, top = _legend(series)
    x_axis = _axis([0.0, *(point.x for point in points)], _LEFT, WIDTH - _RIGHT, 9, tight=True)
    y_axis = _axis(_heights(points, anchors), HEIGHT - _BOTTOM, top, 7)
    lines, names = _levels(anchors, x_axis, y_axis)
    parts = [*_frame(title, x_label, y_label, x_axis, y_axis), *legend, *lines]
    for n, (each, pieces) in enumerate(zip(series, curves, strict=True)):
        parts += _curve(n, each.name, pieces, x_axis, y_axis)
    if not points:
        place = f'x="{WIDTH / 2:g}" y="{HEIGHT / 2:g}" text-anchor="middle"'
        parts.append(f'<text class="tick" {place}>nothing to show yet</text>')
    return "\n".join([*parts, *names, "</svg>"]) + "\n"


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers, at most so many, from at most `low` to at least `high`."""
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 2.5, 5, 10, 20, 25, 50):
        step = factor * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first + 1 <= most:
            break
    return [n * step for n in range(first, last + 1)]


def _pieces(series: Series) -> list[list[_Point]]:
    """The points of a curve, broken where a value is not finite."""
    x, y = list(series.x), list(series.y)
    low, high = list(series.low) or [math.nan] * len(x), list(series.high) or [math.nan] * len(x)
    if not len(x) == len(y) == len(low) == len(high):
        counts = f"{len(x)} x, {len(y)} y, {len(low)} low, {len(high)} high"
        raise ValueError(f"the curve {series.name!r} must have as many of each, not {counts}")
    pieces: list[list[_Point]] = [[]]
    for values in zip(x, y, low, high, strict=True):
        point = _Point(*map(float, values))
        if math.isfinite(point.x) and math.isfinite(point.y):
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _heights(points: Iterable[_Point], anchors: Iterable[Anchor]) -> list[float]:
    """What the y axis must show: all curves and anchors, and bands as far as they leave room."""
    points = list(points)
    values = [point.y for point in points] + [anchor.y for anchor in anchors]
    if not values:
        return [0.0, 1.0]
    least, most = min(values), max(values)
    room = _BAND_SHARE * (most - least or 1.0)
    for point in points:
        if math.isfinite(point.low) and math.isfinite(point.high):
            values += [max(point.low, least - room), min(point.high, most + room)]
    return values


def _axis(
    values: Iterable[float], start: float, end: float, most: int, tight: bool = False
) -> _Axis:
    """From a round number to a round number; `tight`: no further than the values."""
    values = list(values)
    low, high = min(values), max(values)
    if low == high:
        high = low + max(1.0, abs(low) * 1e-3)
    ticks = nice_ticks(low, high, most)
    if tight:
        ticks = [tick for tick in ticks if low <= tick <= high]
        return _Axis(low, high, start, end, ticks)
    return _Axis(ticks[0], ticks[-1], start, end, ticks)


def _legend(series: Sequence[Series]) -> tuple[list[str], int]:
    """Names beside their colours, in rows; and where the plot begins below them."""
    parts: list[str] = []
    x, y = float(_LEFT), _LEGEND_Y
    for n, each in enumerate(series):
        width = 34 + _LETTER * len(each.name) + 14
        if x > _LEFT and x + width > WIDTH - _RIGHT:
            x, y = float(_LEFT), y + _LEGEND_ROW
        parts.append(
            f'<path {_pen(n)} d="M{x:g} {y - 4}h22"/>'
            f'<text x="{x + 29:g}" y="{y}">{_text(each.name)}</text>'
        )
        x += width
    return parts, y + 18 if series else _LEGEND_Y


def _frame(title: str, x_label: str, y_label: str, x_axis: _Axis, y_axis: _Axis) -> list[str]:
    """Everything but the curves and what belongs to them."""
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" {size} role="img"'
    top, width = y_axis.end, x_axis.end - x_axis.start
    plot = f'x="{_LEFT}" y="{top:g}" width="{width:g}" height="{y_axis.start - top:g}"'
    below = f'x="{_LEFT + width / 2:g}" y="{HEIGHT - 14}" text-anchor="middle"'
    middle = (y_axis.start + top) / 2
    left = f'x="20" y="{middle:g}" text-anchor="middle" transform="rotate(-90 20 {middle:g})"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view}>',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<clipPath id="plot"><rect {plot}/></clipPath>',
        f'<rect class="page" {size}/>',
        f'<text class="title" x="{_LEFT}" y="{_TITLE_Y}">{_text(title)}</text>',
        *_grid(x_axis, y_axis),
        f"<text {below}>{_text(x_label)}</text>",
        f"<text {left}>{_text(y_label)}</text>",
    ]


def _grid(x_axis: _Axis, y_axis: _Axis) -> list[str]:
    parts = []
    for tick in y_axis.ticks:
        y = y_axis.at(tick)
        parts.append(f'<path class="grid" d="M{x_axis.start:g} {y:.1f}H{x_axis.end:g}"/>')
        parts.append(
            f'<text class="tick" x="{x_axis.start - 9:g}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_number(tick)}</text>"
        )
    for tick in x_axis.ticks:
        x = x_axis.at(tick)
        parts.append(f'<path class="axis" d="M{x:.1f} {y_axis.start:g}v5"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{y_axis.start + 20:g}" text-anchor="middle">'
            f"{_number(tick)}</text>"
        )
    parts.append(f'<path class="axis" d="M{x_axis.start:g} {y_axis.start:g}H{x_axis.end:g}"/>')
    return parts


def _levels(anchors: Sequence[Anchor], x_axis: _Axis, y_axis: _Axis) -> tuple[list[str], list[str]]:
    """Dashed lines, and their names at the right end, side by side where lines are close."""
    lines, names = [], []
    taken: list[tuple[float, float]] = []  # height of a name, its left end
    for anchor in sorted(anchors, key=lambda anchor: anchor.y):
        y = y_axis.at(anchor.y)
        x = min((left for other, left in taken if abs(other - y) < 15), default=x_axis.end) - 8
        taken.append((y, x - _LETTER * len(anchor.name)))
        lines.append(f'<path class="anchor" d="M{x_axis.start:g} {y:.1f}H{x_axis.end:g}"/>')
        place = f'x="{x:g}" y="{y - 5:.1f}" text-anchor="end"'
        names.append(f'<text class="name" {place}>{_text(anchor.name)}</text>')
    return lines, names


def _colour(n: int) -> str:
    return _COLOURS[n % len(_COLOURS)]


def _pen(n: int) -> str:
    """How the curve with this number is drawn: beyond the last colour, dashed."""
    rounds = n // len(_COLOURS)
    dashes = f' stroke-dasharray="{10 / rounds:g} 5"' if rounds else ""
    return f'class="curve" stroke="{_colour(n)}"{dashes}'


def _curve(
    n: int, name: str, pieces: list[list[_Point]], x_axis: _Axis, y_axis: _Axis
) -> list[str]:
    parts = ['<g clip-path="url(#plot)">']
    for piece in pieces:
        band = [each for each in piece if math.isfinite(each.low) and math.isfinite(each.high)]
        if band:
            upper = [(each.x, each.high) for each in band]
            lower = [(each.x, each.low) for each in reversed(band)]
            path = _path(upper + lower, x_axis, y_axis)
            parts.append(f'<path class="band" fill="{_colour(n)}" d="{path}Z"/>')
        path = _path([(each.x, each.y) for each in piece], x_axis, y_axis)
        parts.append(f'<path {_pen(n)} d="{path}"/>')
    parts.append("</g>")
    points = [point for piece in pieces for point in piece]
    if len(points) <= _DOTS:
        parts += [_dot(name, point, _colour(n), x_axis, y_axis) for point in points]
    return parts


def _path(points: Iterable[tuple[float, float]], x_axis: _Axis, y_axis: _Axis) -> str:
    return "M" + "L".join(f"{x_axis.at(x):.1f} {y_axis.at(y):.1f}" for x, y in points)


def _dot(name: str, point: _Point, colour: str, x_axis: _Axis, y_axis: _Axis) -> str:
    """A point with its values as a tooltip."""
    title = f"{name}: {_number(round(point.y, 2))} at {_number(round(point.x, 2))}"
    if math.isfinite(point.low) and math.isfinite(point.high):
        title += f" [{_number(round(point.low, 2))}, {_number(round(point.high, 2))}]"
    x, y = x_axis.at(point.x), y_axis.at(point.y)
    return (
        f'<circle fill="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
        f"<title>{_text(title)}</title></circle>"
    )


def _number(value: float) -> str:
    text = f"{value:,.10g}" if abs(value) < 1e9 else f"{value:g}"
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def _text(text: str) -> str:
    """Fit for XML, which has no control characters."""
    return escape("".join(c if c.isprintable() else " " for c in text))
