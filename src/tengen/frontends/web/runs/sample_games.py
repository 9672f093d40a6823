"""Sample games of a run as JSON: each position, with the evaluation of the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from tengen.frontends.web.board_text import board_text
from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame, SgfNode, load_sgf

_NUMBER = r"([-+]?\d+(?:\.\d+)?)"


class SampleGame(NamedTuple):
    """A game with the position after each node."""

    game: SgfGame
    positions: list[Position]  # the start first


def load_game(path: Path) -> SampleGame:
    """Load a sample game; raises SgfError, also for a missing file."""
    game = load_sgf(path)[0]
    return SampleGame(game, list(game.positions(rules="tromp-taylor")))


def game_data(sample: SampleGame, number: int) -> dict[str, Any]:
    """A game as JSON."""
    game, positions = sample
    last = positions[-1]
    return {
        "number": number,
        "width": last.width,
        "height": last.height,
        "komi": last.komi,
        "rules": str(last.rules),
        "result": game.root.text("RE"),
        "name": game.root.text("GN"),
        "owner": board_text(last.score().owner),  # of each point at the end
        "turns": [
            _turn(node, position)
            for node, position in zip(game.root.main_line(), positions, strict=True)
        ],
    }


def _turn(node: SgfNode, position: Position) -> dict[str, Any]:
    """The position after a turn, and the evaluation in its comment, for Black."""
    comment, last = node.text("C"), position.last_move
    win = _number_in(rf"Black wins {_NUMBER}%", comment)
    return {
        "stones": board_text(position.stones),
        "move": position.text(last) if last else None,
        "colour": str(last.color) if last else None,
        "winrate": None if win is None else win / 100,
        "score": _number_in(rf"score {_NUMBER}", comment),
        "visits": _number_in(rf"visits {_NUMBER}", comment),
        "weight": _number_in(rf"learned from {_NUMBER}", comment),
    }


def _number_in(pattern: str, comment: str) -> float | None:
    match = re.search(pattern, comment)
    return float(match[1]) if match else None
