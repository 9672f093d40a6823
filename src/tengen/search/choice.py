"""Which move to play after a search, and how long to think about it."""

from __future__ import annotations

import math

import numpy as np

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.params import SearchParams
from tengen.search.result import Choices, SearchResult

_COLD = 1e-4  # a temperature at which the best move is chosen


def random_for(position: Position, seed: int) -> np.random.Generator:
    """A generator that depends on the position and the seed alone, not on earlier moves."""
    return np.random.default_rng([abs(seed), position.move_number, position.stones_hash])


def draw_move(
    result: SearchResult, params: SearchParams, random: np.random.Generator
) -> Point | None:
    """A move drawn by weight at the temperature of this turn; None is a pass."""
    choices = result.choices or tuple(
        (each.move, each.play_weight) for each in result.moves if each.symmetry_of is None
    )
    return draw_choice(choices, result.position, params, random) if choices else result.move


def draw_choice(
    choices: Choices, position: Position, params: SearchParams, random: np.random.Generator
) -> Point | None:
    """A move drawn by its weight, at the temperature of this turn.

    Only moves whose chances are below a bound are made less likely by it.
    """
    choices = tuple((move, weight) for move, weight in choices if weight > 0) or choices
    late = params.temperature
    pace = params.temperature_halflife * math.sqrt(position.size.area) / 19
    faded = max(position.move_number - params.temperature_moves, 0) / pace
    temperature = late + (params.temperature_early - late) * 0.5**faded
    weights = np.array([weight for _, weight in choices])
    if weights.max() <= 0 or (temperature <= _COLD and params.temperature_below >= 1):
        return choices[int(weights.argmax())][0]
    odds = np.log(weights / weights.max())
    # Odds above the bound are kept; the temperature scales only how far others are below it.
    bar = min(0.0, math.log(max(params.temperature_below, 1e-50) * weights.sum() / weights.max()))
    odds = np.where(odds > bar, odds, (odds - bar) / max(temperature, _COLD) + bar)
    chances = np.exp(odds)
    return choices[int(random.choice(len(choices), p=chances / chances.sum()))][0]


def obviousness(result: SearchResult, entropy: float, surprise: float) -> float:
    """From 0 to 1: how sure the policy is of its move, and how well the search agrees with it.

    It falls to 1/e where the policy's entropy reaches `entropy` or the search's divergence from the
    policy `surprise`.
    """
    policy = result.policy[result.policy > 0].astype(float)
    unsure = -float(np.sum(policy * np.log(policy)))
    moves = [each for each in result.moves if each.play_weight > 0]
    weights = np.array([each.play_weight for each in moves])
    found = weights / weights.sum()
    expected = np.array([max(_prior(result, each.move), 1e-30) for each in moves])
    surprised = float(np.sum(found * np.log(found / expected)))
    return math.exp(-max(unsure / entropy, surprised / surprise, 0.0))


def seconds_to_wait(
    result: SearchResult, move: Point | None, scale: float, random: np.random.Generator
) -> float:
    """How long a person might take for a move: longer where the policy does not expect it."""
    mean = 0.5 * scale / (_prior(result, move) + 0.1)
    return float(random.gamma(2.0)) * mean / 2


def _prior(result: SearchResult, move: Point | None) -> float:
    """The network's own prior of a move, without noise."""
    return float(result.policy[-1 if move is None else move.y * result.position.width + move.x])
