"""The fate of stones, by exhaustive search of the region that their fight is confined to.

A search assumes that one side wins all kos. Two searches tell the fate: a side that succeeds even
if the other one wins all kos succeeds; otherwise the fate depends on a ko.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.problems.kernels.region_search import (
    ATTACKER,
    DEFENDER,
    GIVEN_UP,
    LOST,
    clear_table,
    lives,
    new_region_scratch,
    search_region,
)
from tengen.problems.region import Region

MOST_POSITIONS = 100_000  # that are searched for one answer: some tenths of a second
TABLE = 1 << 19


class Fate(IntEnum):
    """What becomes of stones under best play; the more, the better for their owner."""

    CAPTURED = 0
    KO = 1  # it is decided by a ko
    SAFE = 2  # they live, or stand in seki


class UnsolvedError(ValueError):
    """The search was given up: the region is too large for its memory and time."""


@dataclass(frozen=True)
class Question:
    """Whose stones are in question, and where the fight for them takes place."""

    region: Region
    stones: frozenset[Point]  # a chain, when the question was asked
    defender: Color

    def record(self, position: Position, to_play: Color) -> np.void:
        """What the search takes; raises ValueError where the region is not enclosed."""
        return self.region.record(position, self.stones, self.defender, to_play)

    def is_captured(self, position: Position) -> bool:
        """Are stones gone that are in question?"""
        return any(position.at(stone) is not self.defender for stone in self.stones)

    def is_connected(self, position: Position) -> bool:
        """Are they connected to stones outside the region, which are safe?"""
        return not self.region.points.issuperset(position.chain(min(self.stones)))

    def has_eyes(self, position: Position) -> bool:
        """Are they safe even if their side always passes: by two eyes or a connection?"""
        if self.is_captured(position):
            return False
        record = self.record(position, self.defender)
        return bool(lives(record, record["attackers"], record["defenders"]))


class RegionSolver:
    """Answers one question after another. Not thread-safe."""

    def __init__(self, most_positions: int = MOST_POSITIONS, table: int = TABLE) -> None:
        """At most so many positions are searched for an answer, and so many are kept."""
        self._most = most_positions
        self._scratches = {winner: new_region_scratch(table) for winner in (ATTACKER, DEFENDER)}
        self._kept: tuple[Question, bytes] | None = None  # what the tables are about

    def fate(self, question: Question, position: Position, to_play: Color | None = None) -> Fate:
        """The fate of the stones with a side to move, by default the one whose turn it is.

        Raises UnsolvedError, and ValueError where the region is not enclosed.
        """
        record = question.record(position, to_play or position.to_play)
        about = question, record["wall"].tobytes() + record["home"].tobytes()
        if self._kept != about:
            self._kept = about
            for scratch in self._scratches.values():
                clear_table(scratch)
        if self._is_lost(record, DEFENDER):
            return Fate.CAPTURED
        return Fate.KO if self._is_lost(record, ATTACKER) else Fate.SAFE

    def _is_lost(self, record: np.void, winner: int) -> bool:
        record["winner"] = winner
        scratch = self._scratches[winner]
        result = search_region(record, scratch, self._most)
        if result == GIVEN_UP:  # perhaps the table was full of what does not matter any more
            clear_table(scratch)
            result = search_region(record, scratch, self._most)
        if result == GIVEN_UP:
            raise UnsolvedError("the region is too large to be searched")
        return bool(result == LOST)


def moves_in(
    region: Region, position: Position, color: Color | None = None
) -> Iterator[tuple[Point, Position]]:
    """The legal moves of a side in a region, with the positions after them."""
    for point in sorted(region.points, key=lambda each: (each.y, each.x)):
        if position.at(point) is None:
            try:
                yield point, position.play(point, color)
            except IllegalMoveError:
                continue
