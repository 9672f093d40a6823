"""How fast an engine searches: visits and evaluations a second."""

from __future__ import annotations

from typing import NamedTuple

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.request import Limits, SearchRequest

VISITS_PER_LEAF_NEEDED = 24  # see descend.py: a tree needs so many for each leaf in flight


class Rate(NamedTuple):
    """The speed with a number of leaves in flight."""

    leaves: int
    visits: float  # a second
    evaluations: float  # a second

    @property
    def evaluations_per_visit(self) -> float:
        """Below 1: transpositions, ends of games and the cache make visits without the network."""
        return self.evaluations / self.visits


def search_rate(evaluator: Evaluator, position: Position, leaves: int, seconds: float) -> Rate:
    """Search for some seconds with so many leaves in flight."""
    warm_up = Limits(visits=VISITS_PER_LEAF_NEEDED * leaves, seconds=4 * seconds)
    with Engine(evaluator, leaves=leaves) as engine:
        engine.search(SearchRequest(position, warm_up))
        result = engine.search(SearchRequest(position, Limits(playouts=10**9, seconds=seconds)))
    visits = result.visits - result.reused
    return Rate(leaves, visits / result.seconds, result.evaluated / result.seconds)
