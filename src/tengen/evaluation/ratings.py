"""Ratings of many players from all their games: a Bradley-Terry fit, in Elo."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.evaluation.elo import CONFIDENCE

# Prior: virtual draws of each player, divided among its opponents. They keep the rating of a player
# who never lost finite, and hardly shrink differences along a chain of players.
PRIOR_DRAWS = 1.0
ELO = 400 / math.log(10)  # Elo of one natural unit, at which the odds are e to 1
_MAX_STEPS = 200
_TOLERANCE = 1e-8  # of twice the gain in log-likelihood: a step of 1/10,000 standard error
_MAX_STEP = 3.0  # natural units; beyond this the quadratic model is unreliable


class Result(NamedTuple):
    """The games of two players, from the view of the first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int


class Rating(NamedTuple):
    """A player's Elo above the anchor with its 95% confidence interval."""

    elo: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


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
    results = list(results)
    games = _games_by_player(results)
    if games and anchor not in games:
        raise ValueError(f"the anchor {anchor!r} played no game; there are {', '.join(games)}")
    connected = _connected(results, anchor)
    index = {name: i for i, name in enumerate(sorted(connected, key=anchor.__ne__))}
    pairs = _pairs([each for each in results if each.first in connected], index)
    strengths = _strengths(pairs, len(index))
    errors = _errors(pairs, strengths)
    ratings = {anchor: Rating(0.0, 0.0, 0.0, games.get(anchor, 0))}
    for name, played in games.items():
        if name not in index:
            ratings[name] = Rating(math.nan, -math.inf, math.inf, played)
        elif name != anchor:
            elo = ELO * float(strengths[index[name]])
            reach = CONFIDENCE * ELO * float(errors[index[name]])
            ratings[name] = Rating(elo, elo - reach, elo + reach, played)
    return ratings


def _games_by_player(results: list[Result]) -> dict[str, int]:
    """The number of games of each player who played any; raises ValueError."""
    games: dict[str, int] = {}
    for result in results:
        counts = result.wins, result.draws, result.losses
        if min(counts) < 0 or result.first == result.second:
            raise ValueError(f"{result} cannot be: it needs two players and no negative counts")
        for name in (result.first, result.second):
            games[name] = games.get(name, 0) + sum(counts)
    return {name: played for name, played in games.items() if played}


def _connected(results: list[Result], anchor: str) -> set[str]:
    """The anchor, its opponents, their opponents, and so on."""
    opponents: dict[str, set[str]] = {}
    for result in results:
        if result.wins + result.draws + result.losses:
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
        if wins + draws + losses == 0:
            continue
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
