"""Sample games of a run as data for a page: each position, and what the search thought of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame, SgfNode, load_sgf

_LETTERS = np.array([".", "X", "O"])  # by colour
_NUMBER = r"([-+]?\d+(?:\.\d+)?)"


class SampleGame(NamedTuple):
    """A game that was played, with the position after each node."""

    game: SgfGame
    positions: list[Position]  # the start first


def load_game(path: Path) -> SampleGame:
    """A sample game; raises SgfError, also for a file that is gone."""
    game = load_sgf(path)[0]
    return SampleGame(game, list(game.positions(rules="tromp-taylor")))


def game_data(sample: SampleGame, number: int) -> dict[str, Any]:
    """A game ready to be sent as JSON."""
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
        "owner": stones_text(last.score().owner),  # of each point at the end, by the rules
        "turns": [
            _turn(node, position)
            for node, position in zip(game.root.main_line(), positions, strict=True)
        ],
    }


def stones_text(points: NDArray[np.int8]) -> str:
    """[height, width] colours as one character each: `.`, `X` for Black, `O` for White."""
    return "".join(_LETTERS[points.ravel()])


def _turn(node: SgfNode, position: Position) -> dict[str, Any]:
    """The position after a turn, and what was said when the turn was chosen, for Black."""
    comment, last = node.text("C"), position.last_move
    win = _said(rf"Black wins {_NUMBER}%", comment)
    return {
        "stones": stones_text(position.stones),
        "move": position.text(last) if last else None,
        "colour": str(last.color) if last else None,
        "winrate": None if win is None else win / 100,
        "score": _said(rf"score {_NUMBER}", comment),
        "visits": _said(rf"visits {_NUMBER}", comment),
        "weight": _said(rf"learned from {_NUMBER}", comment),
    }


def _said(pattern: str, comment: str) -> float | None:
    match = re.search(pattern, comment)
    return float(match[1]) if match else None
