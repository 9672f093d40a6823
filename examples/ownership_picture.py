"""Who will own each point of a board, as a picture.

python examples/ownership_picture.py game.sgf --out ownership.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen import Color, Engine, Position, load_sgf

CELL = 24


def draw(position: Position, ownership: NDArray[np.float32]) -> str:
    """An SVG picture; `ownership` [height, width] runs from -1, White's, to 1, Black's."""
    width, height = position.width * CELL, position.height * CELL
    shapes = [f'<rect width="{width}" height="{height}" fill="#dcb35c"/>']
    for (y, x), owner in np.ndenumerate(ownership):
        shade = "black" if owner > 0 else "white"
        shapes.append(
            f'<rect x="{x * CELL}" y="{y * CELL}" width="{CELL}" height="{CELL}" '
            f'fill="{shade}" fill-opacity="{0.6 * abs(owner):.2f}"/>'
        )
        if (color := position.at((x, y))) is not None:
            shapes.append(
                f'<circle cx="{(x + 0.5) * CELL}" cy="{(y + 0.5) * CELL}" r="{0.45 * CELL}" '
                f'fill="{color}" stroke="black"/>'
            )
    body = "\n".join(shapes)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n{body}</svg>'


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", help="an SGF file; the end of its first game is drawn")
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("ownership.svg"))
    arguments = parser.parse_args()

    end = load_sgf(arguments.game)[0].final_position()
    end = end.resumed() if end.is_over else end
    with Engine(first_game=end) as engine:
        result = engine.search(end, visits=arguments.visits)
    assert result.ownership is not None
    # Results are for the side to play: turn them round where that is White.
    sign = 1 if end.to_play is Color.BLACK else -1
    arguments.out.write_text(draw(end, sign * result.ownership), encoding="utf-8")
    print(f"Wrote {arguments.out}; Black leads by {result.black_lead:.1f} points")
