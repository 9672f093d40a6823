"""Boards as text diagrams (read and written) and as SVG (for notebooks and web pages)."""

from __future__ import annotations

import re
from html import escape

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, Color
from tengen.game.geometry import COLUMN_LETTERS, Point, Size, board_size, most_handicap_stones
from tengen.game.geometry import handicap_points as star_points

_BLACK_SIGNS = "Xx#@Bb●"
_WHITE_SIGNS = "OoWw○"
_EMPTY_SIGNS = ".+,"
_SIGNS = bytes.maketrans(bytes(range(3)), b".XO")
_ROW = re.compile(rf"\d*([{_BLACK_SIGNS}{_WHITE_SIGNS}{re.escape(_EMPTY_SIGNS)}]+)\d*")


def read_diagram(diagram: str) -> tuple[Size, dict[Point, Color]]:
    """Parse a diagram into a size and stones; raises ValueError that names the line."""
    rows: list[str] = []
    for number, line in enumerate(diagram.splitlines(), 1):
        signs = re.sub(r"[\s()|]+", "", line)
        if not signs or COLUMN_LETTERS.startswith(signs):
            continue
        match = _ROW.fullmatch(signs)
        if not match:
            raise ValueError(f"diagram line {number} is not a row of a board: {line.strip()!r}")
        rows.append(match[1])
        if len(rows[-1]) != len(rows[0]):
            raise ValueError(f"diagram line {number} has another length than the rows above")
    if not rows:
        raise ValueError("the diagram has no rows")
    stones = {}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign not in _EMPTY_SIGNS:
                stones[Point(x, y)] = Color.BLACK if sign in _BLACK_SIGNS else Color.WHITE
    return board_size((len(rows[0]), len(rows))), stones


def write_diagram(
    stones: NDArray[np.int8], last: Point | None = None, *, coordinates: bool = False
) -> str:
    """Draw stones[height, width]; `coordinates` adds star points and marks the last move."""
    height, width = stones.shape
    if not coordinates:
        return "\n".join(" ".join(".XO"[stone] for stone in row) for row in stones)
    stars = _stars(Size(width, height))
    header = "   " + " ".join(COLUMN_LETTERS[:width])
    lines = [header]
    for y, row in enumerate(stones):
        signs = [
            "+" if stone == 0 and Point(x, y) in stars else ".XO"[stone]
            for x, stone in enumerate(row)
        ]
        text = " " + " ".join(signs) + " "
        if last is not None and last.y == y:
            at = 2 * last.x
            text = f"{text[:at]}({text[at + 1]}){text[at + 3 :]}"
        lines.append(f"{height - y:2}{text}{height - y}")
    return "\n".join([*lines, header])


def stones_text(stones: NDArray[np.int8]) -> str:
    """stones[height, width] as one character each, from the top: `.`, `X` Black, `O` White."""
    return stones.tobytes().translate(_SIGNS).decode()


def _stars(size: Size) -> set[Point]:
    """The star points of a board."""
    most = most_handicap_stones(size)
    return set(star_points(size, most)) if most else set()


def write_svg(stones: NDArray[np.int8], last: Point | None, caption: str) -> str:
    """Draw stones[height, width] as SVG; the caption is escaped."""
    height, width = stones.shape
    cell, margin = 24, 30
    xs = [margin + cell * x for x in range(width)]
    ys = [margin + cell * y for y in range(height)]
    right, bottom = xs[-1] + margin, ys[-1] + margin
    frame = f'width="{right}" height="{bottom + 18}" role="img" aria-label="{escape(caption)}"'
    font = 'font-family="sans-serif" font-size="11" text-anchor="middle"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {font}>']
    parts.append(f'<rect width="{right}" height="{bottom}" fill="#e3b564"/>')
    parts.append('<g stroke="#5b4420" stroke-linecap="square">')
    parts += [f'<line x1="{x}" y1="{ys[0]}" x2="{x}" y2="{ys[-1]}"/>' for x in xs]
    parts += [f'<line x1="{xs[0]}" y1="{y}" x2="{xs[-1]}" y2="{y}"/>' for y in ys]
    parts.append('</g><g fill="#5b4420">')
    stars = sorted(_stars(Size(width, height)))
    parts += [f'<circle cx="{xs[x]}" cy="{ys[y]}" r="2.5"/>' for x, y in stars]
    parts += [f'<text x="{x}" y="14">{COLUMN_LETTERS[i]}</text>' for i, x in enumerate(xs)]
    parts += [f'<text x="10" y="{y + 4}">{height - i}</text>' for i, y in enumerate(ys)]
    parts.append("</g>")
    for y, x in np.argwhere(stones):
        fill, ink = ("#111", "#fff") if stones[y, x] == BLACK else ("#fafafa", "#111")
        centre = f'cx="{xs[x]}" cy="{ys[y]}"'
        parts.append(f'<circle {centre} r="11.2" fill="{fill}" stroke="#222" stroke-width="0.8"/>')
        if last is not None and (last.x, last.y) == (x, y):
            parts.append(f'<circle {centre} r="5" fill="none" stroke="{ink}" stroke-width="1.6"/>')
    parts.append(f'<text x="{right // 2}" y="{bottom + 13}">{escape(caption)}</text></svg>')
    return "".join(parts)
