"""Is one player stronger? Wald's sequential test: play until the results are clear enough."""

from __future__ import annotations

import math
from typing import NamedTuple

from tengen.evaluation.elo import Tally, share_of

ERROR = 0.05  # chance of a wrong answer, either way


class Sprt(NamedTuple):
    """Two hypotheses about the difference in Elo: at most `low`, or at least `high`."""

    low: float
    high: float

    def verdict(self, tally: Tally) -> bool | None:
        """True: stronger by `high` and more; False: by `low` and less; None: play on."""
        bound = math.log((1 - ERROR) / ERROR)
        ratio = self.log_likelihood_ratio(tally)
        if ratio >= bound:
            return True
        return False if ratio <= -bound else None

    def log_likelihood_ratio(self, tally: Tally) -> float:
        """How much better `high` explains the results than `low`, by a normal approximation."""
        if tally.games == 0:
            return 0.0
        # Half a point each way, so that a few equal results do not seem to have no variance.
        games = tally.games + 1
        mean = (tally.wins + tally.draws / 2 + 0.5) / games
        square = (tally.wins + tally.draws / 4 + 0.5) / games
        variance = square - mean * mean
        low, high = share_of(self.low), share_of(self.high)
        return games * (high - low) * (2 * mean - low - high) / (2 * variance)
