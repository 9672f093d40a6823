"""The searches of many positions at a time, such as all turns of a game."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.grove import Errand, Grove, grove_tree_bytes, never, usual_trees
from tengen.search.params import Limits, SearchParams
from tengen.search.result import THE_USUAL, SearchResult, Wanted
from tengen.search.search import CANCELLED, Search

PLAYING = SearchParams()


class _Task(NamedTuple):
    """What is wanted of all positions."""

    evaluator: Evaluator
    visits: int
    params: SearchParams
    wanted: Wanted
    on_result: Callable[[int, SearchResult], None]
    stopped: Callable[[], bool]
    seed: int

    @property
    def ownership(self) -> bool:
        return self.wanted.ownership or self.wanted.moves_ownership

    def tell(self, index: int, result: SearchResult) -> None:
        """Hand over what was found, if it is finished."""
        if result.stopped_by != CANCELLED:
            self.on_result(index, result)


def search_many(
    evaluator: Evaluator,
    positions: Sequence[Position],
    visits: int,
    params: SearchParams = PLAYING,
    *,
    wanted: Wanted = THE_USUAL,
    on_result: Callable[[int, SearchResult], None],
    stopped: Callable[[], bool] = never,
    seed: int = 0,
) -> None:
    """Search positions until each has its visits; raises ValueError for fewer than one visit.

    `on_result` gets the index of a position and what was found there, in any order. When `stopped`
    says so the search ends within one batch, and what is not finished is not told.

    An evaluator that remembers, such as a CachingEvaluator, saves what neighbouring positions have
    in common. Those that follow each other in a game are best given in order: where they are too
    many to have a tree each, trees are kept from one to the next, kept visits counting.
    `params.megabytes` are for all trees together.
    """
    Limits(visits=visits)
    task = _Task(evaluator, visits, params, wanted, on_result, stopped, seed)
    by_size: dict[Size, dict[int, Position]] = {}
    for index, position in enumerate(positions):
        by_size.setdefault(position.size, {})[index] = position
    for size, group in by_size.items():
        tree_bytes = grove_tree_bytes(evaluator, size.area, visits, task.ownership)
        trees = min(usual_trees(visits), len(group), int(params.megabytes * 1e6 / tree_bytes))
        if trees < 2:
            _one_after_another(task, group)
        else:
            _side_by_side(task, size, group, trees)


def _one_after_another(task: _Task, positions: dict[int, Position]) -> None:
    """Where there is one position, or memory for one tree alone."""
    search = Search(task.evaluator, task.params, seed=task.seed, ownership=task.ownership)
    stop = threading.Event()

    def look(_: SearchResult) -> None:
        if task.stopped():
            stop.set()

    for index, position in positions.items():
        if task.stopped():
            return
        search.set_position(position)
        limits = Limits(visits=task.visits)
        result = search.run(limits, wanted=task.wanted, stop=stop, on_progress=look, every=0)
        task.tell(index, result)


def _side_by_side(task: _Task, size: Size, positions: dict[int, Position], trees: int) -> None:
    grove = Grove(
        task.evaluator,
        task.params,
        size,
        visits=task.visits,
        moves=max(position.move_number for position in positions.values()),
        trees=trees,
        ownership=task.ownership,
        seed=task.seed,
    )
    stretches = _Stretches(list(positions), trees)

    def go_on(stretch: _Stretch | None) -> Errand | None:
        if stretch is None or not stretch.left or task.stopped():
            return None
        index = stretch.left.pop(0)
        return Errand(
            positions[index],
            task.visits,
            deliver=lambda result: task.tell(index, result),
            wanted=task.wanted,
            stopped=task.stopped,
            then=lambda: go_on(stretch),
        )

    grove.search(lambda: go_on(stretches.begin()))


@dataclass(eq=False)
class _Stretch:
    """Indices of positions that one tree walks through; those not begun."""

    left: list[int]


class _Stretches:
    """Positions in as many stretches as there are trees."""

    def __init__(self, indices: list[int], trees: int) -> None:
        bounds = [len(indices) * k // trees for k in range(trees + 1)]
        self._all = [_Stretch(indices[a:b]) for a, b in pairwise(bounds)]
        self._begun = 0

    def begin(self) -> _Stretch | None:
        """A stretch that nobody walks, or else the second half of what is left of the longest.

        A last position stays with its tree, which may know much of it.
        """
        if self._begun < len(self._all):
            self._begun += 1
            return self._all[self._begun - 1]
        longest = max(self._all, key=lambda stretch: len(stretch.left))
        if len(longest.left) < 2:
            return None
        half = (len(longest.left) + 1) // 2
        longest.left, rest = longest.left[:half], longest.left[half:]
        self._all.append(_Stretch(rest))
        self._begun += 1
        return self._all[-1]
