"""Opponents of several strengths: the same network with fewer or more visits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.result import SearchResult


@dataclass(frozen=True)
class Level:
    """A strength, with its measured rating."""

    id: str
    name: str
    visits: int
    temperature: float = 0.0
    elo: int | None = None


LEVELS = (
    Level("beginner", "Beginner", 4, 2.0),
    Level("casual", "Casual player", 8, 1.0),
    Level("club", "Club player", 12, 0.4),
    Level("advanced", "Advanced player", 16),
    Level("expert", "Expert", 40),
    Level("full", "Full strength", 400),
)
HOPELESS = 0.03


class Decision(NamedTuple):
    """What an opponent does; the move is None for a pass."""

    move: Point | None
    resign: bool
    result: SearchResult


class Searcher(Protocol):
    """What looks at positions."""

    def search(
        self, position: Position, *, visits: int | None = None, seconds: float | None = None
    ) -> SearchResult:
        """Search a position and wait for it."""


def level_named(name: str) -> Level:
    """The level with this id; raises ValueError."""
    for level in LEVELS:
        if level.id == name:
            return level
    known = ", ".join(level.id for level in LEVELS)
    raise ValueError(f"no level is called {name!r}; there are {known}")


def choose(
    engine: Searcher, position: Position, level: Level, seed: int, seconds: float | None = None
) -> Decision:
    """What an opponent of this level does in a position whose game goes on."""
    result = engine.search(position, visits=level.visits, seconds=seconds)
    late = position.move_number > position.size.area // 2
    if late and result.winrate < HOPELESS:
        return Decision(None, True, result)
    if not result.moves or not level.temperature or result.move is None:
        return Decision(result.move, False, result)
    weights = np.array([each.visits for each in result.moves]) ** (1 / level.temperature)
    drawn = np.random.default_rng(seed).choice(len(weights), p=weights / weights.sum())
    return Decision(result.moves[int(drawn)].move, False, result)
