"""Capture Go: who captures first wins. The first game after the lessons.

The opponent uses what the lessons teach, each thing with a chance; else its moves are random.
The server keeps no state: a request has all moves so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tengen.evaluation.scripted_beginner import captures, escapes
from tengen.frontends.web.learn.boards_as_json import Json, board_view, position_after
from tengen.frontends.web.learn.catching import gets_away, is_caught
from tengen.frontends.web.limits import RefusedError
from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position

SIDES = (5, 7, 9)
RULES = "chinese"
MOST_MOVES = 200


class CaptureLevel(NamedTuple):
    """The chance with which the opponent sees each kind of move."""

    id: str
    takes: float  # a stone that it can capture
    saves: float  # an own chain in atari
    careful: float  # does not put itself into atari
    catches: float  # starts a ladder or a net


LEVELS = (
    CaptureLevel("gentle", takes=0.7, saves=0.35, careful=0.6, catches=0.0),
    CaptureLevel("fair", takes=1.0, saves=0.8, careful=1.0, catches=0.25),
    CaptureLevel("sharp", takes=1.0, saves=1.0, careful=1.0, catches=1.0),
)


def winner_of(position: Position) -> Color | None:
    """Who has captured; None as long as nobody has."""
    for color in Color:
        if position.captured(color.opponent):
            return color
    return None


def is_over(position: Position) -> bool:
    """Has somebody captured, or has the board been given up?"""
    return winner_of(position) is not None or position.is_over


def answer(position: Position, level: CaptureLevel, random: np.random.Generator) -> Point | None:
    """The opponent's move; None for a pass, if it has no sensible one."""
    taking = captures(position)
    if taking and random.random() < level.takes:
        return max(taking, key=lambda move: taking[move])
    saving = escapes(position)
    if saving and random.random() < level.saves:
        return max(saving, key=lambda move: saving[move])
    eyes = position.own_eyes()
    moves = [move for move in position.legal_moves() if not eyes[move.y, move.x]]
    safe = [move for move in moves if position.play(move).liberties(move) > 1]
    if random.random() < level.careful or not moves:
        moves = safe or moves
    if random.random() < level.catches:
        catching = [move for move in moves if _catches(position, move)]
        keeping = [move for move in moves if _keeps_all(position, move)]
        moves = catching or keeping or moves
    near = [move for move in moves if _is_near(position, move)]
    moves = near or moves
    return moves[int(random.integers(len(moves)))] if moves else None


def _catches(position: Position, move: Point) -> bool:
    """Does a move leave a chain next to it lost?"""
    after = position.play(move)
    return any(
        is_caught(after, stone)
        for stone in neighbours(move, position.size)
        if after.at(stone) is after.to_play
    )


def _keeps_all(position: Position, move: Point) -> bool:
    """Are all chains next to a move, and its own, out of danger after it?"""
    after = position.play(move)
    own = [each for each in neighbours(move, position.size) if after.at(each) is position.to_play]
    return all(gets_away(after, stone) for stone in (move, *own))


def _is_near(position: Position, move: Point) -> bool:
    """Is a stone of the other side next to a point, diagonally too?"""
    ys = slice(max(0, move.y - 1), move.y + 2)
    xs = slice(max(0, move.x - 1), move.x + 2)
    return bool((position.stones[ys, xs] == position.to_play.opponent).any())


def played_view(side: int, level: str, color: Color, moves: Sequence[str], seed: int) -> Json:
    """A game after the moves of a person, who has a colour; raises RefusedError.

    The moves are all of the game so far; the opponent's answer to the last one is added.
    """
    known = next((each for each in LEVELS if each.id == level), None)
    if side not in SIDES or known is None or len(moves) > MOST_MOVES:
        raise RefusedError("bad_terms", "there is no such game")
    before = position = position_after(Position(side, RULES, 0), moves, is_over)
    replied: str | None = None
    if position.to_play is not color and not is_over(position):
        random = np.random.default_rng([abs(seed), len(moves)])
        position = position.play(answer(position, known, random))
        assert position.last_move is not None
        replied = position.text(position.last_move)
    winner = winner_of(position)
    return {
        **board_view(position),
        "before": board_view(before),
        "reply": replied,
        "moves": [*moves, *([replied] if replied else [])],
        "over": is_over(position),
        "winner": None if winner is None else str(winner),
    }
