"""How strong the levels are, as ranks that people know, where that was measured.

Elo is counted from GNU Go 3.8 at level 10, which played on servers at about 7 kyu. How many Elo a
rank is worth is the European Go Federation's: few among beginners, many among dan players.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tengen.engine.levels import Level
from tengen.game.geometry import Size

# By network and side of the board, as `python -m benchmarks.levels --board-size SIDE` writes it.
MEASURED: Mapping[tuple[str, int], Mapping[str, int]] = MappingProxyType(
    {
        ("tengen-9x9", 9): {
            "beginner": -675,
            "novice": -465,
            "learner": -200,
            "casual": 104,
            "club": 361,
            "advanced": 598,
            "expert": 894,
            "master": 1189,
            "champion": 1468,
            "full": 1787,
        },
    }
)
# The federation's ratings have 100 points a rank, 2,100 at 1 dan and so 1,400 at 7 kyu. Between
# players of rating R the odds are e to the power of difference / (205 - R / 20).
GNU_GO = 1400.0
_ONE_DAN, _POINTS = 2100.0, 100.0
_LARGEST, _SLOPE = 205.0, 20.0
_ELO = 400 / math.log(10)  # for a difference in odds of the factor e
HIGHEST = 9  # dan


class Rank(NamedTuple):
    """A rank, approximately."""

    number: int
    dan: bool  # False: kyu

    def __str__(self) -> str:
        return f"{self.number} {'dan' if self.dan else 'kyu'}"


def rank_of(level: Level, network: str, size: Size) -> Rank | None:
    """The rank of a level with a network on a board; None where it was not measured."""
    side = size.width if size.width == size.height else 0
    elo = MEASURED.get((network, side), {}).get(level.id)
    return None if elo is None else rank_at(elo)


def rank_at(elo: float) -> Rank:
    """The rank at so many Elo above GNU Go."""
    # Elo per point is _ELO / (_LARGEST - R / _SLOPE), summed up from GNU Go's rating.
    spread = (_LARGEST - GNU_GO / _SLOPE) * math.exp(-elo / (_ELO * _SLOPE))
    rating = _SLOPE * (_LARGEST - spread)
    steps = math.floor((rating - _ONE_DAN) / _POINTS + 0.5)  # from 1 dan
    return Rank(min(steps + 1, HIGHEST), True) if steps >= 0 else Rank(-steps, False)
