"""A scripted beginner, as on the first day of play: knows captures, atari and eyes, nothing else.

An opponent to measure the weakest levels by, of about 30 kyu. It has no network and does not look
ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position

_ORDER = count()  # in which they are made: each plays its own games


class ScriptedBeginner:
    """One side of games. The first one made with a seed always makes the same moves."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng([abs(seed), next(_ORDER)])

    def move(self, position: Position) -> Point | None:
        """Capture the most stones; else save the most; else any sensible move; else pass."""
        moves = sensible_moves(position)
        for choose in (captures, escapes):
            found = {move: stones for move, stones in choose(position).items() if move in moves}
            if found:
                most = max(found.values())
                moves = [move for move in found if found[move] == most]
                break
        return moves[int(self._random.integers(len(moves)))] if moves else None

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def sensible_moves(position: Position) -> list[Point]:
    """The legal moves that fill no eye of one's own."""
    eyes = position.own_eyes()
    return [move for move in position.legal_moves() if not eyes[move.y, move.x]]


def captures(position: Position) -> dict[Point, int]:
    """The points that capture, and how many stones each."""
    found: dict[Point, int] = {}
    for liberty, chain in _in_atari(position, position.to_play.opponent):
        found[liberty] = found.get(liberty, 0) + len(chain)
    return found


def escapes(position: Position) -> dict[Point, int]:
    """The points that take own stones out of atari, and how many."""
    found: dict[Point, int] = {}
    for liberty, chain in _in_atari(position, position.to_play):
        if position.is_legal(liberty) and position.play(liberty).liberties(liberty) > 1:
            found[liberty] = found.get(liberty, 0) + len(chain)
    return found


def _in_atari(position: Position, color: Color) -> Iterator[tuple[Point, list[Point]]]:
    """The last liberty and the stones of each chain that has only one."""
    seen: set[Point] = set()
    for y, x in np.argwhere(position.stones == int(color)).tolist():
        stone = Point(x, y)
        if stone in seen:
            continue
        chain = position.chain(stone)
        seen.update(chain)
        if position.liberties(stone) == 1:
            around = (near for each in chain for near in neighbours(each, position.size))
            yield next(near for near in around if position.at(near) is None), chain
