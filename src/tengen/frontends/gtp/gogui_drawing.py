"""A search as GoGui draws it: for its analyze commands, and live by stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tengen.frontends.gtp.search_text import summary
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.search.result import SearchResult


def drawing(found: SearchResult) -> str:
    """A search as commands of GoGui's graphics, one a line."""
    from tengen.game.geometry import Point

    text, position = found.position.text, found.position
    lines = [f"TEXT {summary(found)}"]
    if found.ownership is not None:
        sign = 1 if position.to_play is Color.BLACK else -1
        owners = (sign * found.ownership).tolist()
        points = (Point(x, y) for y in range(position.height) for x in range(position.width))
        lines.append(f"INFLUENCE {' '.join(f'{text(p)} {owners[p.y][p.x]:.2f}' for p in points)}")
    color, line = position.to_play, []
    for move in found.pv:
        line.append(f"{color.letter.lower()} {text(move)}")
        color = color.opponent
    if line:
        lines.append(f"VAR {' '.join(line)}")
    if labels := labels_of(found):
        lines.append(f"LABEL {' '.join(labels)}")
    return "\n".join(lines)


def draw_live(found: SearchResult) -> None:
    """Draw a search under way on GoGui's board, by stderr."""
    print(f"gogui-gfx:\n{drawing(found)}\n", file=sys.stderr, flush=True)


def stop_drawing() -> None:
    """Take off what was drawn, before a command ends."""
    print("gogui-gfx: CLEAR", file=sys.stderr, flush=True)


def labels_of(found: SearchResult) -> list[str]:
    """The moves searched with their visits, passes left out."""
    text = found.position.text
    return [f"{text(move.move)} {move.visits}" for move in found.moves if move.move is not None]
