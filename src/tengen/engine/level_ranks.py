"""The levels' strength as ranks of people, where it was measured.

Two opponents anchor the scale: GNU Go 3.8 at level 10, which is the zero of Elo here and played on
servers at about 7 kyu, and `evaluation/scripted_beginner.py` at about 30 kyu. Between and above
them the scale is the European Go Federation's: few Elo a rank among beginners, many among
dan players.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tengen.engine.levels import Level
from tengen.game.geometry import Size


class BoardRatings(NamedTuple):
    """Elo above GNU Go with a network on a board."""

    first_day: int  # of the scripted beginner
    levels: Mapping[str, int]  # by id


# By network and side of the board, as `python -m benchmarks.levels --board-size SIDE` writes it.
MEASURED: Mapping[tuple[str, int], BoardRatings] = MappingProxyType(
    {
        ("tengen-9x9", 9): BoardRatings(
            first_day=-1527,
            levels={
                "newcomer": -1474,
                "starter": -1222,
                "rookie": -935,
                "beginner": -588,
                "novice": -384,
                "learner": -224,
                "casual": -44,
                "club": 146,
                "advanced": 204,
                "expert": 385,
                "master": 491,
                "champion": 816,
                "full": 1071,
            },
        ),
    }
)
# The federation's ratings have 100 points a rank and 2,100 at 1 dan. Between players of rating R
# the odds are e to the power of difference / (205 - R / 20).
GNU_GO, FIRST_DAY = 1400.0, -900.0  # 7 and 30 kyu
_ONE_DAN, _POINTS = 2100.0, 100.0
_WIDEST, _SLOPE = 205.0, 20.0
_ELO = 400 / math.log(10)  # for odds of the factor e
LOWEST = 30  # kyu: people who have learned the rules, and the weakest program that was measured
HIGHEST = 9  # dan


class Rank(NamedTuple):
    """A rank, approximately."""

    number: int
    dan: bool  # False: kyu

    def __str__(self) -> str:
        return f"{self.number} {'dan' if self.dan else 'kyu'}"


def rank_of(level: Level, network: str, size: Size) -> Rank | None:
    """The rank of a level with a network on a board; None where it was not measured."""
    measured = MEASURED.get((network, size.width)) if size.width == size.height else None
    elo = None if measured is None else measured.levels.get(level.id)
    return None if measured is None or elo is None else rank_at(elo, measured.first_day)


def rank_at(elo: float, first_day: float) -> Rank:
    """The rank at so many Elo above GNU Go; `first_day` is the scripted beginner's Elo there.

    Below GNU Go, Elo is stretched so that the scripted beginner has its rank: on small boards a
    rank is worth less Elo. No outside player above GNU Go was measured; a rank there is worth what
    it is on 19x19, which makes for cautious ranks.
    """
    if elo < 0:
        elo *= elo_at(FIRST_DAY) / first_day
    # The inverse of `elo_at`.
    width = _width(GNU_GO) * math.exp(-elo / (_ELO * _SLOPE))
    rating = _SLOPE * (_WIDEST - width)
    steps = math.floor((rating - _ONE_DAN) / _POINTS + 0.5)  # from 1 dan
    return Rank(min(steps + 1, HIGHEST), True) if steps >= 0 else Rank(min(-steps, LOWEST), False)


def elo_at(rating: float) -> float:
    """The Elo above GNU Go of a rating, by the federation's odds from rating to rating."""
    return _ELO * _SLOPE * math.log(_width(GNU_GO) / _width(rating))


def _width(rating: float) -> float:
    """The difference in rating for odds of the factor e."""
    return _WIDEST - rating / _SLOPE
