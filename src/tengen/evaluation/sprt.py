"""Wald's sequential probability ratio test: stop a match as soon as its result is clear."""

from __future__ import annotations

import math
from typing import NamedTuple

from tengen.evaluation.elo import WinDrawLoss, share_of

ERROR = 0.05  # probability of a wrong verdict, either way


class Sprt(NamedTuple):
    """Two hypotheses about the Elo difference: at most `low`, or at least `high`."""

    low: float
    high: float

    def verdict(self, tally: WinDrawLoss) -> bool | None:
        """True: at least `high`; False: at most `low`; None: not clear yet."""
        bound = math.log((1 - ERROR) / ERROR)
        ratio = self.log_likelihood_ratio(tally)
        if ratio >= bound:
            return True
        return False if ratio <= -bound else None

    def log_likelihood_ratio(self, tally: WinDrawLoss) -> float:
        """The log-likelihood ratio of `high` to `low`, by a normal approximation."""
        if tally.games == 0:
            return 0.0
        # Add half a win and half a loss, so that few equal results do not have variance 0.
        games = tally.games + 1
        mean = (tally.wins + tally.draws / 2 + 0.5) / games
        square = (tally.wins + tally.draws / 4 + 0.5) / games
        variance = square - mean * mean
        low, high = share_of(self.low), share_of(self.high)
        return games * (high - low) * (2 * mean - low - high) / (2 * variance)
