"""The Elo difference of two players from their results, with its confidence interval."""

from __future__ import annotations

import math
from typing import NamedTuple

CONFIDENCE = 1.96  # standard deviations of a 95% interval


class WinDrawLoss(NamedTuple):
    """The results of one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """The share of the points; one half if there are no games."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


class Estimate(NamedTuple):
    """An Elo difference with its 95% confidence interval."""

    elo: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


def elo_of(share: float) -> float:
    """The Elo difference with this expected share of the points."""
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else -400 * math.log10(1 / share - 1)


def share_of(elo: float) -> float:
    """The expected share of the points at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def estimate(tally: WinDrawLoss) -> Estimate:
    """Estimate the Elo difference; the interval is Wilson's on the share of the points.

    Draws have less variance than wins and losses, which narrows the interval.
    """
    n = tally.games
    if n == 0:
        return Estimate(0.0, -math.inf, math.inf)
    share = tally.share
    spread = _variance_per_game(tally)
    effective = n * max(share * (1 - share), 1e-9) / max(spread, 1e-9) if 0 < share < 1 else n
    z = CONFIDENCE
    centre = (share + z * z / (2 * effective)) / (1 + z * z / effective)
    reach = (
        z
        * math.sqrt(share * (1 - share) / effective + z * z / (4 * effective**2))
        / (1 + z * z / effective)
    )
    return Estimate(elo_of(share), elo_of(centre - reach), elo_of(centre + reach))


def _variance_per_game(tally: WinDrawLoss) -> float:
    """The variance of the points of one game."""
    share = tally.share
    # Add one decisive game, so that draws alone do not have variance 0.
    return (
        tally.wins * (1 - share) ** 2
        + tally.draws * (0.5 - share) ** 2
        + tally.losses * share**2
        + share * (1 - share)
    ) / (tally.games + 1)
