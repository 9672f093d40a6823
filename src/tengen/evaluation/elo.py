"""Strength in Elo from results: of two players, of many (Bradley-Terry), and a sequential test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 1.96  # standard deviations of a 95% interval
ERROR = 0.05  # probability of a wrong verdict of the sequential test, either way
# Prior: virtual draws of each player, divided among its opponents. They keep the rating of a player
# who never lost finite, and hardly shrink differences along a chain of players.
PRIOR_DRAWS = 1.0
ELO = 400 / math.log(10)  # Elo of one natural unit, at which the odds are e to 1
_MAX_STEPS = 200
_TOLERANCE = 1e-8  # of twice the gain in log-likelihood: a step of 1/10,000 standard error
_MAX_STEP = 3.0  # natural units; beyond this the quadratic model is unreliable


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

    def plus(self, points: float) -> WinDrawLoss:
        """The results with one game more, which gained 1, 0.5 or 0 points."""
        return WinDrawLoss(
            self.wins + (points == 1), self.draws + (points == 0.5), self.losses + (points == 0)
        )

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


class Rating(NamedTuple):
    """A player's Elo above another, or above the anchor, with its 95% confidence interval."""

    elo: float
    low: float
    high: float
    games: int

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


def estimate(tally: WinDrawLoss) -> Rating:
    """Estimate the Elo difference; the interval is Wilson's on the share of the points.

    Draws have less variance than wins and losses, which narrows the interval.
    """
    n = tally.games
    if n == 0:
        return Rating(0.0, -math.inf, math.inf, 0)
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
    return Rating(elo_of(share), elo_of(centre - reach), elo_of(centre + reach), n)


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


class Result(NamedTuple):
    """The games of two players, from the view of the first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


class _Pairs(NamedTuple):
    """The pairs that played each other; [pairs] each. Players are indices, the smaller first."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    points: NDArray[np.float64]  # of the first
    draws: NDArray[np.float64]
    games: NDArray[np.float64]
    prior: NDArray[np.float64]  # virtual draws


def fit(results: Iterable[Result], anchor: str) -> dict[str, Rating]:
    """Fit the ratings of all players, with the anchor at 0; a draw counts as half a win.

    Players whom no games connect to the anchor get NaN. Raises ValueError for impossible results,
    and if there are games but none of the anchor.
    """
    results = [result for result in results if _checked(result).games]
    games: Counter[str] = Counter()
    for result in results:
        games.update({result.first: result.games, result.second: result.games})
    if games and anchor not in games:
        raise ValueError(f"the anchor {anchor!r} played no game; there are {', '.join(games)}")
    connected = _connected(results, anchor)
    index = {name: i for i, name in enumerate(sorted(connected, key=anchor.__ne__))}
    pairs = _pairs([each for each in results if each.first in connected], index)
    strengths = _strengths(pairs, len(index))
    errors = _errors(pairs, strengths)
    ratings = {anchor: Rating(0.0, 0.0, 0.0, games[anchor])}
    for name, played in games.items():
        if name not in index:
            ratings[name] = Rating(math.nan, -math.inf, math.inf, played)
        elif name != anchor:
            elo = ELO * float(strengths[index[name]])
            reach = CONFIDENCE * ELO * float(errors[index[name]])
            ratings[name] = Rating(elo, elo - reach, elo + reach, played)
    return ratings


def _checked(result: Result) -> Result:
    """The result; raises ValueError if it is impossible."""
    if min(result[2:]) < 0 or result.first == result.second:
        raise ValueError(f"{result} cannot be: it needs two players and no negative counts")
    return result


def _connected(results: list[Result], anchor: str) -> set[str]:
    """The anchor, its opponents, their opponents, and so on."""
    opponents: dict[str, set[str]] = {}
    for result in results:
        opponents.setdefault(result.first, set()).add(result.second)
        opponents.setdefault(result.second, set()).add(result.first)
    connected, todo = {anchor}, [anchor]
    while todo:
        fresh = opponents.get(todo.pop(), set()) - connected
        connected |= fresh
        todo += fresh
    return connected


def _pairs(results: list[Result], index: dict[str, int]) -> _Pairs:
    """Add up the results of each pair of players."""
    totals: dict[tuple[int, int], list[float]] = {}
    for first, second, wins, draws, losses in results:
        a, b = index[first], index[second]
        total = totals.setdefault((min(a, b), max(a, b)), [0.0, 0.0, 0.0])
        total[0] += (wins if a < b else losses) + draws / 2
        total[1] += draws
        total[2] += wins + draws + losses
    ends = np.array(list(totals), np.intp).reshape(-1, 2)
    points, drawn, games = np.array(list(totals.values()), np.float64).reshape(-1, 3).T
    played = np.bincount(ends.ravel(), np.repeat(games, 2), len(index))
    prior = PRIOR_DRAWS * (games / played[ends[:, 0]] + games / played[ends[:, 1]]) / 2
    return _Pairs(ends[:, 0], ends[:, 1], points, drawn, games, prior)


def _strengths(pairs: _Pairs, players: int) -> NDArray[np.float64]:
    """[players] maximum-likelihood strengths in natural units, the first at 0 (Newton's method)."""
    strengths = np.zeros(players)
    points, games = pairs.points + pairs.prior / 2, pairs.games + pairs.prior
    likelihood = _likelihood(pairs, points, games, strengths)
    for _ in range(_MAX_STEPS if players > 1 else 0):
        shares = _shares(pairs, strengths)
        surplus = points - games * shares
        slope = np.bincount(pairs.first, surplus, players)
        slope -= np.bincount(pairs.second, surplus, players)
        curvature = _information(pairs, games * shares * (1 - shares), players)
        step = np.zeros(players)
        step[1:] = np.linalg.solve(curvature, slope[1:])
        if slope @ step < _TOLERANCE:
            return strengths + step
        step *= min(1.0, _MAX_STEP / float(np.abs(step).max()))
        # The likelihood is concave, but a full step may overshoot its maximum.
        least = likelihood - 1e-12 * abs(likelihood)  # tolerate rounding
        while (after := _likelihood(pairs, points, games, strengths + step)) < least:
            step /= 2
        strengths += step
        likelihood = after
    return strengths


def _errors(pairs: _Pairs, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[players] standard errors of the strengths, relative to the first player.

    A sandwich estimate: the fit counts draws as half wins, but they have less variance than wins
    and losses, so the variance of the points is estimated separately.
    """
    players = len(strengths)
    shares = _shares(pairs, strengths)
    spread = shares * (1 - shares)
    possible = np.minimum(pairs.draws, 2 * pairs.games * np.minimum(shares, 1 - shares))
    # Add one decisive game, as `estimate` does, so that draws alone do not have variance 0.
    variance = (pairs.games * spread - possible / 4 + spread) * pairs.games / (pairs.games + 1)
    inverse = np.linalg.inv(_information(pairs, (pairs.games + pairs.prior) * spread, players))
    chance = _information(pairs, variance + pairs.prior * spread, players)
    errors = np.zeros(players)
    errors[1:] = np.sqrt(np.diag(inverse @ chance @ inverse))
    return errors


def _shares(pairs: _Pairs, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[pairs] the expected points of the first player in each game."""
    return np.exp(-np.logaddexp(0, strengths[pairs.second] - strengths[pairs.first]))


def _likelihood(
    pairs: _Pairs,
    points: NDArray[np.float64],
    games: NDArray[np.float64],
    strengths: NDArray[np.float64],
) -> float:
    """The log-likelihood of these strengths."""
    lead = strengths[pairs.first] - strengths[pairs.second]
    return -float(
        (points * np.logaddexp(0, -lead) + (games - points) * np.logaddexp(0, lead)).sum()
    )


def _information(pairs: _Pairs, weights: NDArray[np.float64], players: int) -> NDArray[np.float64]:
    """[players - 1, players - 1] Laplacian of the pairs' weights, without the first player."""
    matrix = np.zeros((players, players))
    matrix[pairs.first, pairs.second] = matrix[pairs.second, pairs.first] = -weights
    matrix[np.diag_indices(players)] = -matrix.sum(1)
    return matrix[1:, 1:]
