"""Ratings of many players from all their games at once: Bradley and Terry's model, in Elo."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.evaluation.elo import CONFIDENCE

# Drawn games that each player is thought to have played besides, shared out among its opponents:
# one who never lost stays finite, and a long chain of players is not drawn together.
PRIOR_DRAWS = 1.0
ELO = 400 / math.log(10)  # of one natural unit: where the odds are e to 1
_MOST_STEPS = 200
_ENOUGH = 1e-8  # twice what a step adds to the likelihood: a ten-thousandth of an error's length
_LONGEST_STEP = 3.0  # natural units; further away the model's curve is too flat to be trusted


class Result(NamedTuple):
    """What two players reached against each other, seen by the first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int


class Rating(NamedTuple):
    """A player's Elo above the anchor with its 95% interval."""

    elo: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


class _Pairs(NamedTuple):
    """Who met whom; places in the list of players, the smaller first. [pairs] each."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    points: NDArray[np.float64]  # of the first
    draws: NDArray[np.float64]
    games: NDArray[np.float64]
    prior: NDArray[np.float64]  # draws they are thought to have played besides


def fit(results: Iterable[Result], anchor: str) -> dict[str, Rating]:
    """Ratings of all players, the anchor's being 0; a draw counts as half a win.

    Who is not linked to the anchor by any games has a rating that is not a number. Raises
    ValueError for impossible results, and where others played but the anchor did not.
    """
    results = list(results)
    games = _games_by_player(results)
    if games and anchor not in games:
        raise ValueError(f"the anchor {anchor!r} played no game; there are {', '.join(games)}")
    linked = _linked(results, anchor)
    places = {name: place for place, name in enumerate(sorted(linked, key=anchor.__ne__))}
    pairs = _pairs([each for each in results if each.first in linked], places)
    strengths = _strengths(pairs, len(places))
    errors = _errors(pairs, strengths)
    ratings = {anchor: Rating(0.0, 0.0, 0.0, games.get(anchor, 0))}
    for name, played in games.items():
        if name not in places:
            ratings[name] = Rating(math.nan, -math.inf, math.inf, played)
        elif name != anchor:
            elo = ELO * float(strengths[places[name]])
            reach = CONFIDENCE * ELO * float(errors[places[name]])
            ratings[name] = Rating(elo, elo - reach, elo + reach, played)
    return ratings


def _games_by_player(results: list[Result]) -> dict[str, int]:
    games: dict[str, int] = {}
    for result in results:
        counts = result.wins, result.draws, result.losses
        if min(counts) < 0 or result.first == result.second:
            raise ValueError(f"{result} cannot be: two players, and no count below 0")
        for name in (result.first, result.second):
            games[name] = games.get(name, 0) + sum(counts)
    return {name: played for name, played in games.items() if played}


def _linked(results: list[Result], anchor: str) -> set[str]:
    """The anchor, those it played, those they played, and so on."""
    opponents: dict[str, set[str]] = {}
    for result in results:
        if result.wins + result.draws + result.losses:
            opponents.setdefault(result.first, set()).add(result.second)
            opponents.setdefault(result.second, set()).add(result.first)
    linked, open_ = {anchor}, [anchor]
    while open_:
        fresh = opponents.get(open_.pop(), set()) - linked
        linked |= fresh
        open_ += fresh
    return linked


def _pairs(results: list[Result], places: dict[str, int]) -> _Pairs:
    totals: dict[tuple[int, int], list[float]] = {}
    for first, second, wins, draws, losses in results:
        if wins + draws + losses == 0:
            continue
        a, b = places[first], places[second]
        total = totals.setdefault((min(a, b), max(a, b)), [0.0, 0.0, 0.0])
        total[0] += (wins if a < b else losses) + draws / 2
        total[1] += draws
        total[2] += wins + draws + losses
    ends = np.array(list(totals), np.intp).reshape(-1, 2)
    points, drawn, games = np.array(list(totals.values()), np.float64).reshape(-1, 3).T
    played = np.bincount(ends.ravel(), np.repeat(games, 2), len(places))
    prior = PRIOR_DRAWS * (games / played[ends[:, 0]] + games / played[ends[:, 1]]) / 2
    return _Pairs(ends[:, 0], ends[:, 1], points, drawn, games, prior)


def _strengths(pairs: _Pairs, players: int) -> NDArray[np.float64]:
    """[players] the likeliest strengths in natural units, the first player's being 0: Newton."""
    strengths = np.zeros(players)
    points, games = pairs.points + pairs.prior / 2, pairs.games + pairs.prior
    likelihood = _likelihood(pairs, points, games, strengths)
    for _ in range(_MOST_STEPS if players > 1 else 0):
        shares = _shares(pairs, strengths)
        surplus = points - games * shares
        slope = np.bincount(pairs.first, surplus, players)
        slope -= np.bincount(pairs.second, surplus, players)
        curvature = _information(pairs, games * shares * (1 - shares), players)
        step = np.zeros(players)
        step[1:] = np.linalg.solve(curvature, slope[1:])
        if slope @ step < _ENOUGH:
            return strengths + step
        step *= min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        # The likelihood has one summit, but a full step may lead beyond it.
        least = likelihood - 1e-12 * abs(likelihood)  # but for rounding
        while (after := _likelihood(pairs, points, games, strengths + step)) < least:
            step /= 2
        strengths += step
        likelihood = after
    return strengths


def _errors(pairs: _Pairs, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[players] standard errors of the strengths, relative to the first player.

    Draws count as halves in the fit, but carry less chance than wins and losses: the variance of
    the points takes that into account, on both sides of it the inverse of the curvature.
    """
    players = len(strengths)
    shares = _shares(pairs, strengths)
    spread = shares * (1 - shares)
    possible = np.minimum(pairs.draws, 2 * pairs.games * np.minimum(shares, 1 - shares))
    # One game more that was not drawn, as in `estimate`: draws alone must not look certain.
    variance = (pairs.games * spread - possible / 4 + spread) * pairs.games / (pairs.games + 1)
    inverse = np.linalg.inv(_information(pairs, (pairs.games + pairs.prior) * spread, players))
    chance = _information(pairs, variance + pairs.prior * spread, players)
    errors = np.zeros(players)
    errors[1:] = np.sqrt(np.diag(inverse @ chance @ inverse))
    return errors


def _shares(pairs: _Pairs, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """[pairs] the points to expect of the first in each game."""
    return np.exp(-np.logaddexp(0, strengths[pairs.second] - strengths[pairs.first]))


def _likelihood(
    pairs: _Pairs,
    points: NDArray[np.float64],
    games: NDArray[np.float64],
    strengths: NDArray[np.float64],
) -> float:
    """Its logarithm."""
    lead = strengths[pairs.first] - strengths[pairs.second]
    return -float(
        (points * np.logaddexp(0, -lead) + (games - points) * np.logaddexp(0, lead)).sum()
    )


def _information(pairs: _Pairs, weights: NDArray[np.float64], players: int) -> NDArray[np.float64]:
    """[players - 1, players - 1] weights of differences as a matrix over all but the first."""
    matrix = np.zeros((players, players))
    matrix[pairs.first, pairs.second] = matrix[pairs.second, pairs.first] = -weights
    matrix[np.diag_indices(players)] = -matrix.sum(1)
    return matrix[1:, 1:]
