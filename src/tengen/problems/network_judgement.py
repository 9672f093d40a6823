"""A problem judged by networks: whether its first move decides, and how hard it is to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.engine.engine import Engine
from tengen.engine.levels import LEVELS, WITH_OWNERSHIP, Level
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.solver import Question
from tengen.search.request import Avoid, Limits, RootOptions, SearchRequest, allow_only
from tengen.search.result import SearchResult

LEAST_DIFFERENCE = 0.8  # of mean ownership that a move has to make by the raw network
TEMPTING = 2  # wrong moves that are searched, those that look best
# The strongest level of each grade, which goes by the weakest level that finds the first move.
_STRONGEST_LEVELS = ("rookie", "learner", "club", "expert", "full")


class Margin(NamedTuple):
    """Ownership of the stones in question, from -1 to 1 for who solves the problem."""

    right: float  # after the first move
    wrong: float  # after the best other one on the whole board, and if the opponent moves first

    @property
    def decides(self) -> bool:
        """Does the first move decide?"""
        return self.right >= 0.4 and self.wrong <= 0.0 and self.right - self.wrong >= 1.0


def policies(engine: Engine, positions: Sequence[Position]) -> list[dict[Point, float]]:
    """The network's policy in each position, as logits by point."""
    found = engine.evaluate(positions).result().policy
    return [
        {
            Point(k % position.width, k // position.width): float(logit)
            for k, logit in enumerate(logits[:-1])
        }
        for position, logits in zip(positions, found, strict=True)
    ]


def deciding_komi(engine: Engine, right: Position, visits: int) -> float:
    """The komi, before the point, at which a game is won after a move and lost without it."""
    leads = [each.black_lead for each in _searched(engine, [right, _passed(right)], visits)]
    return float(np.clip(np.floor(right.komi + sum(leads) / 2) + 0.5, -150, 150))


def looks_decisive(engine: Engine, right: Position, question: Question) -> bool:
    """Does a network see without search that a move makes some difference?"""
    found = engine.evaluate([right, _passed(right)]).result().ownership
    after, without = (_mean(owned, question) for owned in found)
    return without - after >= LEAST_DIFFERENCE  # for the opponent, who is to play


def margin(engine: Engine, right: Position, question: Question, visits: int) -> Margin:
    """How sure a network is that a move decides, after so many visits each."""
    start = right.undo()
    played = right.last_move
    natural = policies(engine, [start])[0]
    open_ = (each for each in question.region.points if start.is_legal(each))
    wrong = sorted(open_, key=lambda move: -natural[move])
    tempting = [move for move in wrong if played is None or move != played.point][:TEMPTING]
    found = Margin(*_owned(engine, [right, _passed(right)], question, visits))
    if not found.decides:
        return found
    others = _owned(engine, [start.play(move) for move in tempting], question, visits)
    others.append(owned_without(engine, right, question, visits))
    return Margin(found.right, max(found.wrong, *others))


def owned_without(engine: Engine, right: Position, question: Question, visits: int) -> float:
    """Who owns the stones if any move but the right one may be played, on the whole board.

    The search of the region knows nothing of moves outside it, against the stones around it.
    """
    start, played = right.undo(), right.last_move
    assert played is not None
    root = RootOptions(avoid=(Avoid(start.to_play, played.point, 1),), fresh=True)
    request = SearchRequest(start, Limits(visits=visits), root, WITH_OWNERSHIP)
    result = engine.submit(request).result()
    assert result.ownership is not None
    return _mean(result.ownership, question)


def _owned(
    engine: Engine, positions: Sequence[Position], question: Question, visits: int
) -> list[float]:
    """Mean ownership of the stones in question after searches, for the side that solves."""
    owned = []
    for result in _searched(engine, positions, visits):
        assert result.ownership is not None
        owned.append(-_mean(result.ownership, question))
    return owned


def _passed(right: Position) -> Position:
    """The position before a move, with the opponent to play."""
    return right.undo().set_up(to_play=right.to_play)


def _mean(ownership: NDArray[np.float32], question: Question) -> float:
    return float(np.mean([ownership[each.y, each.x] for each in question.stones]))


def _searched(engine: Engine, positions: Sequence[Position], visits: int) -> list[SearchResult]:
    root = RootOptions(fresh=True)
    requests = [
        SearchRequest(each, Limits(visits=visits), root, WITH_OWNERSHIP) for each in positions
    ]
    return list(engine.search_many(requests))


def weakest_level(engine: Engine, position: Position, moves: Sequence[Point]) -> str | None:
    """The weakest level that finds the first of some moves; None if none does.

    Levels that draw moves find it in half of their tries. All of them look at these moves alone.
    """
    natural = policies(engine, [position])[0]
    weights = {move: float(np.exp(natural[move])) for move in moves}
    for level in LEVELS:
        if level.visits > 1:
            if _finds(engine, position, moves, level):
                return level.id
        elif _share(weights, moves[0], level.temperature_on(position.size)) >= 0.5:
            return level.id
    return None


def _share(weights: Mapping[Point, float], move: Point, temperature: float) -> float:
    """The chance of a move that is drawn at a temperature."""
    powers = {each: weight ** (1 / temperature) for each, weight in weights.items()}
    total = sum(powers.values())
    return powers[move] / total if total else 0.0


def _finds(engine: Engine, position: Position, moves: Sequence[Point], level: Level) -> bool:
    root = allow_only(position, [*moves, None])
    request = SearchRequest(position, Limits(visits=level.visits), root)
    return engine.submit(request).result().move == moves[0]


def grade_of(level: str) -> int:
    """The grade of a problem by the weakest level that finds it."""
    order = [each.id for each in LEVELS]
    bounds = [order.index(each) for each in _STRONGEST_LEVELS]
    return 1 + sum(order.index(level) > bound for bound in bounds)
