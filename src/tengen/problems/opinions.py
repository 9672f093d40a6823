"""What networks think of a problem: whether its first move decides, and how hard it is to find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.engine.engine import Engine
from tengen.engine.levels import LEVELS, WITH_OWNERSHIP, Level
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.problem import Problem
from tengen.search.request import Limits, RootOptions, SearchRequest, allow_only

TEMPTING = 2  # wrong moves that are searched, those that look best
# The grade by the weakest level that finds the first move.
_HARDEST = ("rookie", "learner", "club", "expert", "full")  # of each grade


class Margin(NamedTuple):
    """Ownership of the stones in question, from -1 to 1 for who solves the problem."""

    right: float  # after the first move
    wrong: float  # after the best of some wrong ones, and if the opponent moves first

    @property
    def decides(self) -> bool:
        """Does the first move decide?"""
        return self.right >= 0.4 and self.wrong <= 0.0 and self.right - self.wrong >= 1.0


def tastes(engine: Engine, positions: Sequence[Position]) -> list[dict[Point, float]]:
    """The network's policy of positions."""
    found = engine.evaluate(positions).result().policy
    return [
        {
            Point(k % position.width, k // position.width): float(logit)
            for k, logit in enumerate(logits[:-1])
        }
        for position, logits in zip(positions, found, strict=True)
    ]


def deciding_komi(engine: Engine, before: Position, after: Position, visits: int) -> float:
    """The komi, before the point, at which a game is won after a move and lost without it."""
    other = before.set_up(to_play=before.to_play.opponent)
    leads = [_searched(engine, each, visits)[0] for each in (after, other)]
    middle = before.komi + sum(leads) / 2
    return float(np.clip(np.floor(middle) + 0.5, -150, 150))


def margin(engine: Engine, problem: Problem, visits: int) -> Margin:
    """How sure a network is that the first move decides, after so many visits each."""
    position = problem.position
    right = _owned(engine, position.play(problem.solution), problem, visits)
    natural = tastes(engine, [position])[0]
    tempting = sorted(problem.answers.wrong, key=lambda move: -natural[move])
    wrong = [position.set_up(to_play=position.to_play.opponent)]
    wrong += [position.play(move) for move in tempting[:TEMPTING]]
    return Margin(right, max(_owned(engine, each, problem, visits) for each in wrong))


def _owned(engine: Engine, position: Position, problem: Problem, visits: int) -> float:
    owned = _searched(engine, position, visits)[1]
    mean = float(np.mean([owned[each.y, each.x] for each in problem.question.stones]))
    return mean if problem.to_play is Color.BLACK else -mean


def _searched(engine: Engine, position: Position, visits: int) -> tuple[float, NDArray[np.float32]]:
    """Black's lead and ownership after a search."""
    root = RootOptions(fresh=True)
    request = SearchRequest(position, Limits(visits=visits), root, WITH_OWNERSHIP)
    result = engine.submit(request).result()
    sign = 1 if position.to_play is Color.BLACK else -1
    assert result.ownership is not None
    return result.black_lead, sign * result.ownership


def weakest_level(engine: Engine, problem: Problem) -> str | None:
    """The weakest level that finds the first move of a problem; None if none does.

    Levels that draw moves find it in half of their tries. All of them look at moves in the region
    alone.
    """
    position = problem.position
    local = [problem.solution, *problem.answers.wrong]
    natural = tastes(engine, [position])[0]
    weights = {move: float(np.exp(natural[move])) for move in local}
    for level in LEVELS:
        if level.visits > 1:
            if _finds(engine, position, local, problem.solution, level):
                return level.id
        elif _share(weights, problem.solution, level.temperature_on(position.size)) >= 0.5:
            return level.id
    return None


def _share(weights: Mapping[Point, float], move: Point, temperature: float) -> float:
    """The chance of a move that is drawn at a temperature."""
    powers = {each: weight ** (1 / temperature) for each, weight in weights.items()}
    total = sum(powers.values())
    return powers[move] / total if total else 0.0


def _finds(
    engine: Engine, position: Position, local: Iterable[Point], move: Point, level: Level
) -> bool:
    root = allow_only(position, [*local, None])
    request = SearchRequest(position, Limits(visits=level.visits), root)
    return engine.submit(request).result().move == move


def grade_of(level: str) -> int:
    """The grade of a problem by the weakest level that finds it."""
    order = [each.id for each in LEVELS]
    bounds = [order.index(each) for each in _HARDEST]
    return 1 + sum(order.index(level) > bound for bound in bounds)
