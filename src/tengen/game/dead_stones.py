"""Which stones are dead at the end of a game, as somebody's idea of who owns what tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.rules import Rules, Scoring

# How sure it must be that a point will be the opponent's, from 0 to 1.
SURE = 0.5
SEARCH_VISITS = 100  # that a search needs to tell


def counts_dead_stones(rules: Rules) -> bool:
    """Do stones on the board count for their colour whatever would become of them?

    So it is under area scoring among players who are to capture what is dead before they pass.
    """
    return rules.scoring is Scoring.AREA and not rules.friendly_pass


def dead_stones(position: Position, ownership: NDArray[np.float32] | None) -> frozenset[Point]:
    """The stones of chains all of whose points will surely be the opponent's.

    `ownership` is [height, width] for the side to play, as searches tell it; without any no stone
    is dead.
    """
    if ownership is None:
        return frozenset()
    dead: set[Point] = set()
    seen: set[Point] = set()
    for y, x in np.argwhere(position.stones):
        point = Point(int(x), int(y))
        if point in seen:
            continue
        chain = position.chain(point)
        seen.update(chain)
        sign = -1 if position.at(point) is position.to_play else 1
        if all(sign * ownership[y, x] > SURE for x, y in chain):
            dead.update(chain)
    return frozenset(dead)
