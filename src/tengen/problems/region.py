"""The region of a board that a fight is confined to, as the exhaustive search takes it.

Around it stand stones that keep a liberty whatever is played inside: they cannot be captured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point, Size
from tengen.game.position import Position
from tengen.problems.kernels.region_search import ATTACKER, CELLS, DEFENDER, FIGHT


@dataclass(frozen=True)
class Region:
    """Points of a board in a box that fits into the search's bits; raises ValueError."""

    size: Size
    points: frozenset[Point]

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("a region has points")
        if bits_needed(self.points) > CELLS:
            raise ValueError("the region is too large to be searched")

    @cached_property
    def _box(self) -> tuple[Point, bool, int]:
        """Its first corner, whether rows of bits are rows of the board, and a row's bits.

        Between two rows is a gap, so that no point has neighbours in the row of another one.
        """
        columns, rows = zip(*self.points, strict=True)
        wide, high = max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
        return Point(min(columns), min(rows)), wide <= high, min(wide, high) + 1

    def bit(self, point: Point) -> int:
        """The number of a point's bit."""
        corner, upright, stride = self._box
        x, y = point.x - corner.x, point.y - corner.y
        return y * stride + x if upright else x * stride + y

    def mask(self, points: Iterable[Point]) -> np.uint64:
        """The bits of points."""
        return np.uint64(sum(1 << self.bit(point) for point in points))

    def record(
        self,
        position: Position,
        stones: frozenset[Point],
        defender: Color,
        to_play: Color,
    ) -> np.void:
        """What the search takes, for the fate of stones that a side has or had in the region.

        Raises ValueError where the region is not enclosed.
        """
        if not stones or not self.points >= stones:
            raise ValueError("the stones in question are in the region")
        if why := self.why_open(position):
            raise ValueError(why)
        attacker, ko = defender.opponent, position.ko
        inside = {
            color: [each for each in self.points if position.at(each) is color] for color in Color
        }
        banned = ko is not None and ko in self.points and to_play is position.to_play
        record: np.void = np.zeros(1, FIGHT)[0]
        record["area"] = self.mask(self.points)
        record["target"] = self.mask(stones)
        record["wall"] = self.mask(self._next_to(position, attacker))
        record["home"] = self.mask(self._next_to(position, defender))
        record["attackers"] = self.mask(inside[attacker])
        record["defenders"] = self.mask(inside[defender])
        record["ko"] = self.mask([ko]) if banned and ko is not None else 0
        record["stride"] = self._box[2]
        record["attacks"] = ATTACKER if to_play is attacker else DEFENDER
        return record

    def why_open(self, position: Position) -> str | None:
        """Why play inside may touch what is outside; None if the region is enclosed."""
        for near in self.border:
            if position.at(near) is None:
                return f"{position.text(near)} beside the region is empty"
            if not self._has_liberty_outside(position, near):
                return f"{position.text(near)} beside the region has no liberty outside it"
        return None

    @cached_property
    def border(self) -> frozenset[Point]:
        """The points next to the region."""
        near = (each for point in self.points for each in neighbours(point, self.size))
        return frozenset(near) - self.points

    def _has_liberty_outside(self, position: Position, stone: Point) -> bool:
        return any(
            position.at(near) is None and near not in self.points
            for each in position.chain(stone)
            for near in neighbours(each, self.size)
        )

    def _next_to(self, position: Position, color: Color) -> list[Point]:
        """The points of the region next to stones of a colour outside it."""
        outside = {near for near in self.border if position.at(near) is color}
        return [each for each in self.points if not outside.isdisjoint(neighbours(each, self.size))]

    def safe_at_border(self, position: Position) -> set[Point]:
        """The stones next to the region that cannot be captured by play inside."""
        return {
            near
            for near in self.border
            if position.at(near) is not None and self._has_liberty_outside(position, near)
        }


def bits_needed(points: Iterable[Point]) -> int:
    """How many bits the box around points takes."""
    columns, rows = zip(*points, strict=True)
    wide, high = max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
    return int((min(wide, high) + 1) * max(wide, high))


def region_around(
    position: Position, stone: Point, safe: Callable[[Point], bool], most_points: int = CELLS
) -> Region | None:
    """The region around a chain, up to stones that are safe; None if it is too large.

    Stones that are said to be safe and could be captured by play in the region belong to it, too.
    """
    unsure = set(position.chain(stone))
    while True:
        inside = _filled(position, unsure, safe, most_points)
        if len(inside) > most_points or bits_needed(inside) > CELLS:
            return None
        region = Region(position.size, frozenset(inside))
        lost = region.border - region.safe_at_border(position)
        if not lost:
            return region
        unsure |= {each for near in lost for each in position.chain(near)}


def _filled(
    position: Position, unsure: set[Point], safe: Callable[[Point], bool], most_points: int
) -> set[Point]:
    """What is connected to unsure stones through empty points and stones that are not safe."""
    found = set(unsure)
    todo = list(found)
    while todo and len(found) <= most_points:
        for near in neighbours(todo.pop(), position.size):
            if near not in found and (position.at(near) is None or not safe(near)):
                found.add(near)
                todo.append(near)
    return found
