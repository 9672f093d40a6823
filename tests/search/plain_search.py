"""One deep search in the calling thread, for tests and benchmarks of the search itself.

Front ends use `tengen.engine`, which runs many searches at a time by the same parts.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.deep_tree import deep_tree
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, RUNNING, Limits, RootOptions, Wanted
from tengen.search.result import MoveResult, SearchResult
from tengen.search.result_reading import SearchStart, start_of
from tengen.search.tree_batch import PIPELINE_FROM, LeafFlight, TreeBatch
from tengen.search.tree_search import TreeSearch


class Search:
    """A search that keeps its tree from move to move; belongs to one thread."""

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        *,
        seed: int = 0,
        ownership: bool = True,
        leaves: int | None = None,
    ) -> None:
        """Leaves in flight follow the evaluator's best batch unless given."""
        self.evaluator = evaluator
        self.params = params or SearchParams()
        self._seed, self._ownership, self._leaves = seed, ownership, leaves
        self._trees: TreeBatch | None = None
        self._start = SearchStart(time.monotonic(), 0, 0, 0)

    @property
    def position(self) -> Position | None:
        """The position at the root."""
        return None if self._trees is None else self._trees.positions[0]

    def set_position(self, position: Position, root: RootOptions = ROOT_DEFAULTS) -> None:
        """Go to a position; what the tree knows of it is kept."""
        if self._trees is None or not self._trees.fits(position):
            self._trees = deep_tree(
                self.evaluator,
                self.params,
                position,
                ownership=self._ownership,
                leaves=self._leaves,
            )
        self._trees.stand_at(0, position, root, seed=(self._seed, 0))
        self._start = start_of(self._trees.forest, 0)

    def forget(self) -> None:
        """Drop the tree."""
        self._trees = None

    def set_params(self, params: SearchParams) -> None:
        """Search with other parameters; the tree is kept where it can go on with them."""
        self.params = params
        if self._trees is not None and not self._trees.set_params(params):
            self._trees = None

    def run(
        self,
        limits: Limits | None = None,
        *,
        wanted: Wanted | None = None,
        stop: threading.Event | None = None,
        on_progress: Callable[[SearchResult], None] | None = None,
        every: float = 0.1,
    ) -> SearchResult:
        """Search the position until a limit is reached; raises ValueError without a position.

        Another thread ends it within one batch by setting `stop`. `on_progress` gets a result
        every so many seconds.
        """
        trees = self._standing()
        search = TreeSearch(trees, 0, limits or Limits(), wanted or Wanted())
        self._start = search.start
        try:
            return _run(search, stop or threading.Event(), on_progress, every)
        except BaseException:
            position, root = trees.positions[0], trees.roots[0]
            self._trees = None  # leaves stay pending for ever
            if position is not None:
                self.set_position(position, root)
            raise

    def result(self, wanted: Wanted | None = None, reason: str = RUNNING) -> SearchResult:
        """What is known now; raises ValueError without a position."""
        return self._standing().result(0, wanted or Wanted(), self._start, reason)

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from the position, and the moves tried there; none off the tree.

        Raises ValueError for a line that is not legal, or without a position.
        """
        return self._standing().moves_after(0, branch, wanted or Wanted())

    def _standing(self) -> TreeBatch:
        if self._trees is None:
            raise ValueError("there is no position to search: set one first")
        return self._trees


def _run(
    search: TreeSearch,
    stop: threading.Event,
    on_progress: Callable[[SearchResult], None] | None,
    every: float,
) -> SearchResult:
    """Start and finish flights of leaves until a limit is reached."""
    trees, only = search.trees, np.zeros(1, np.int64)
    flights: deque[LeafFlight] = deque()
    most = 2 if trees.leaves >= PIPELINE_FROM else 1
    next_report = search.start.time + every
    while (reason := search.stop_reason(cancelled=stop.is_set())) is None:
        began = time.monotonic()
        if trees.forest.trees[0]["full"]:
            while flights:
                trees.finish(flights.popleft())
            trees.make_room(0)
        flights.append(trees.start(only))
        while len(flights) >= most or (flights and flights[0].pending is None):
            trees.finish(flights.popleft())
        search.note_batch(time.monotonic() - began)
        if on_progress and time.monotonic() >= next_report:
            on_progress(search.result())
            next_report = time.monotonic() + every
    while flights:
        trees.finish(flights.popleft())
    return search.result(reason)
