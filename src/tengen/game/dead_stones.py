"""Dead stones at the end of a game, from an estimate of each point's owner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.rules import Rules, Scoring

SURE = 0.5  # how much of a point the opponent must own, from -1 to 1
SEARCH_VISITS = 100  # enough for a search to estimate ownership


def counts_dead_stones(rules: Rules) -> bool:
    """Whether all stones on the board count for their colour, dead or not.

    True under area scoring if players have to capture dead stones before they pass.
    """
    return rules.scoring is Scoring.AREA and not rules.friendly_pass


def dead_stones(position: Position, ownership: NDArray[np.float32] | None) -> frozenset[Point]:
    """The stones of chains on whose every point the opponent's ownership exceeds SURE.

    `ownership` is [height, width], from -1 to 1 for the side to play, as in search results; if
    None, no stone is dead.
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
