"""Where in a position stones are in question: candidates, from a network's ownership."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.region import region_around
from tengen.problems.solver import Question

LEAST_STONES = 3  # that a chain in question has
UNSURE, SURE = 0.85, 0.8  # ownership up to which stones are in question; from which they are safe
MOST_EMPTY = 14  # points of a region
LEAST_EMPTY = 2
MOST_POINTS = 40  # of a region, stones included


def questions_in(position: Position, ownership: NDArray[np.float32]) -> Iterator[Question]:
    """The chains whose fate is uncertain to a network, where it is decided in a small region.

    `ownership` [height, width] is Black's, from -1 to 1.
    """
    stones = position.stones
    owned = np.where(stones == 1, ownership, -ownership)  # by whose stone it is
    seen: set[Point] = set()
    for y, x in np.argwhere(stones > 0).tolist():
        stone = Point(x, y)
        if stone in seen:
            continue
        chain = frozenset(position.chain(stone))
        seen |= chain
        certainty = abs(float(np.mean([owned[each.y, each.x] for each in chain])))
        if len(chain) < LEAST_STONES or certainty > UNSURE:
            continue
        region = region_around(position, stone, lambda at: owned[at.y, at.x] > SURE, MOST_POINTS)
        color = position.at(stone)
        if region is None or color is None:
            continue
        empty = sum(position.at(each) is None for each in region.points)
        if LEAST_EMPTY <= empty <= MOST_EMPTY:
            yield Question(region, chain, color)
