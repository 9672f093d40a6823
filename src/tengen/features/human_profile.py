"""The metadata inputs of networks that imitate people: KataGo's 192 values about the players.

A profile is a name such as `rank_5k` (a player of 5 kyu on both sides), `preaz_5k` (the same before
AlphaZero changed openings), `rank_5k_3d` (Black 5 kyu, White 3 dan) or `proyear_1980` (games of
professionals of that year).
"""

from __future__ import annotations

import math
import re
from datetime import date
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, WHITE

METADATA_INPUTS = 192
DEFAULT_PROFILE = "rank_9d"

_STRONGEST_DAN, _WEAKEST_KYU = 9, 20
_FIRST_YEAR, _LAST_OLD_YEAR, _LAST_YEAR = 1800, 2020, 2023  # recent games are of another collection
_KGS, _GOGOD, _GO4GO = 2, 5, 6  # the collections of games, by their place among the inputs

# Places of the inputs; each pair is of the side to play and of its opponent.
_HUMAN, _RANKS, _RANK_LENGTH = 0, 6, 34
_RATED, _NO_CLOCK_KNOWN, _BYO_YOMI = 74, 75, 79
_TIMES, _AREA, _DATES, _DATE_LENGTH, _SOURCES = 82, 86, 87, 32, 151
_FIRST_PERIOD, _PERIOD_GROWTH = 7.0, 80_000.0  # days, from a week to the longest cycle


class HumanProfile(NamedTuple):
    """The players that a network imitates, and the games they are taken from."""

    black: int  # rank from 1, 9 dan and professionals, to 29, 20 kyu
    white: int
    played: date
    source: int
    main_seconds: float = 0.0
    period_seconds: float = 0.0
    periods: int = 0  # of byo-yomi; 0: the clock is not known
    rated: float = 0.0  # 0 rated, 0.5 unknown


def parse_profile(name: str) -> HumanProfile:
    """The profile of a name; raises ValueError."""
    if match := re.fullmatch(r"proyear_([0-9]{4})", name):
        year = int(match[1])
        if _FIRST_YEAR <= year <= _LAST_YEAR:
            source = _GOGOD if year <= _LAST_OLD_YEAR else _GO4GO
            return HumanProfile(1, 1, date(year, 6, 1), source)
    elif match := re.fullmatch(r"(rank|preaz)_([1-9][0-9]?[kd])(?:_([1-9][0-9]?[kd]))?", name):
        black, white = _rank(match[2]), _rank(match[3] or match[2])
        if black and white:
            played = date(2020, 3, 1) if match[1] == "rank" else date(2016, 9, 1)
            return HumanProfile(black, white, played, _KGS, 1200.0, 30.0, 5, 0.5)
    known = "rank_5k, preaz_5k, rank_5k_3d (20k to 9d) and proyear_1980 (1800 to 2023)"
    raise ValueError(f"no profile of players is called {name!r}; there are {known}")


def _rank(name: str) -> int:
    """1 for 9d up to 29 for 20k; 0 if the text is not a rank."""
    number, kyu = int(name[:-1]), name.endswith("k")
    if not 1 <= number <= (_WEAKEST_KYU if kyu else _STRONGEST_DAN):
        return 0
    return _STRONGEST_DAN + number if kyu else _STRONGEST_DAN + 1 - number


@cache
def profile_rows(name: str, area: int) -> NDArray[np.float32]:
    """As `metadata_rows`, by the profile's name; not to be changed. Raises ValueError."""
    return metadata_rows(parse_profile(name), area)


def metadata_rows(profile: HumanProfile, area: int) -> NDArray[np.float32]:
    """[3, 192]: the inputs on a board of so many points, by the colour that is to play."""
    row = np.zeros(METADATA_INPUTS)
    row[_HUMAN : _HUMAN + 2] = 1
    row[_RATED] = profile.rated
    row[_BYO_YOMI if profile.periods else _NO_CLOCK_KNOWN] = 1
    row[_TIMES : _TIMES + 4] = (
        0.4 * (math.log(profile.main_seconds + 60) - 6.5),
        0.3 * (math.log(profile.period_seconds + 1) - 3),
        0.5 * (math.log(profile.periods + 2) - 1.5),
        0.25 * (math.log(2) - 1.5),  # of Canadian byo-yomi, which no profile has
    )
    row[_AREA] = 0.5 * math.log(area / 361)
    days = (profile.played - date(1970, 1, 1)).days
    steps = np.arange(_DATE_LENGTH) / (_DATE_LENGTH - 1)
    turns = 2 * math.pi * days / (_FIRST_PERIOD * _PERIOD_GROWTH**steps)
    row[_DATES : _DATES + 2 * _DATE_LENGTH] = np.stack([np.cos(turns), np.sin(turns)], 1).ravel()
    row[_SOURCES + profile.source] = 1
    rows = np.tile(row, (3, 1))
    ranks = {BLACK: profile.black, WHITE: profile.white}
    for color, other in ((BLACK, WHITE), (WHITE, BLACK)):
        for place, who in enumerate((color, other)):
            first = _RANKS + place * _RANK_LENGTH
            rows[color, first : first + ranks[who]] = 1
    return rows.astype(np.float32)
