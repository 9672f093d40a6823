"""The board as text, in the shape that KataGo gives it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.game.position import Position

SHOWN_MOVES = 3  # the last ones, numbered


def board_text(position: Position) -> str:
    """The board with what matters about the game."""
    from tengen.game.color import Color
    from tengen.game.geometry import COLUMN_LETTERS, Point

    total = sum(later.last_move is not None and later.move_number > 0 for later in position.line())
    rules = {**position.rules.as_json(), "komi": position.komi}
    recent = position.moves[-SHOWN_MOVES:]
    numbers = {move.point: str(i) for i, move in enumerate(recent, 1) if move.point is not None}
    lines = [
        f"MoveNum: {total} HASH: {position.stones_hash:016X}",
        "   " + " ".join(COLUMN_LETTERS[: position.width]),
    ]
    for y, row in enumerate(position.stones.tolist()):
        signs = "".join(".XO"[stone] + numbers.get(Point(x, y), " ") for x, stone in enumerate(row))
        lines.append(f"{position.height - y:2} {signs.rstrip()}")
    lines += [
        f"Next player: {'Black' if position.to_play is Color.BLACK else 'White'}",
        f"Rules: {json.dumps(rules, sort_keys=True, separators=(',', ':'))}",
        f"B stones captured: {position.captured(Color.BLACK)}",
        f"W stones captured: {position.captured(Color.WHITE)}",
    ]
    return "\n".join(lines)
