"""One search on one tree: when it stops, and what it reports."""

from __future__ import annotations

import time

import numpy as np

from tengen.search.kernels.root import play_weights
from tengen.search.request import (
    CANCELLED,
    DECIDED,
    OVER,
    PLAYOUTS,
    RUNNING,
    TIME,
    VISITS,
    Limits,
    Wanted,
)
from tengen.search.result import SearchResult
from tengen.search.result_reading import edges_of, start_of
from tengen.search.tree_batch import ENDLESS, TreeBatch

_MARGIN = 1.5  # by which a batch may be slower than those before it
_FORGETTING = 0.9  # the share of the slowest batch's time that is remembered from batch to batch
_CLEAR = 0.5  # of the leader's visits, which the runner-up cannot reach any more


class TreeSearch:
    """Searches tree g of a batch, from where its root stands, until a limit is reached."""

    def __init__(self, trees: TreeBatch, g: int, limits: Limits, wanted: Wanted) -> None:
        self.trees, self.g = trees, g
        self.limits, self.wanted = limits, wanted
        self.start = start_of(trees.forest, g)
        self._slowest = 0.0  # seconds that a batch took lately
        most = limits.max_visits
        if limits.playouts is not None:
            most = min(most, self.start.visits + limits.playouts)
        trees.forest.trees[g]["target"] = int(min(most, ENDLESS))
        trees.forest.trees[g]["uncounted"] = 0
        if wanted.root_evaluation:
            trees.keeps_root_evaluation.add(g)
        else:
            trees.keeps_root_evaluation.discard(g)
        trees.prepare(np.array([g]))

    def run(self) -> SearchResult:
        """Search in the calling thread, one flight of leaves after another, and wait for the end.

        The engine's scheduler does the same for many searches at a time.
        """
        only = np.array([self.g])
        while (reason := self.stop_reason()) is None:
            began = time.monotonic()
            if self.trees.forest.trees[self.g]["full"]:
                self.trees.make_room(self.g)
            self.trees.finish(self.trees.start(only))
            self.note_batch(time.monotonic() - began)
        return self.result(reason)

    def note_batch(self, seconds: float) -> None:
        """Take note of how long a batch with leaves of this tree took."""
        self._slowest = max(seconds, _FORGETTING * self._slowest)

    def stop_reason(self, *, cancelled: bool = False) -> str | None:
        """The limit that is reached, or None."""
        position = self.trees.positions[self.g]
        if position is None or position.is_over:
            return OVER
        if cancelled:
            return CANCELLED
        tree, limits = self.trees.forest.trees[self.g], self.limits
        visits = self.trees.visits(self.g) + int(tree["uncounted"])
        if visits >= tree["target"]:
            return VISITS if visits >= limits.max_visits else PLAYOUTS
        if limits.seconds is None and not (limits.stop_when_decided or limits.stop_when_clear):
            return None
        spent = time.monotonic() - self.start.time
        if limits.seconds is not None and spent + _MARGIN * self._slowest >= limits.seconds:
            return TIME  # one more batch might end too late
        if limits.stop_when_decided or limits.stop_when_clear:
            return DECIDED if self._decided(visits, spent) else None
        return None

    def _decided(self, visits: int, spent: float) -> bool:
        """Are the remaining visits too few to change the choice?

        Where lower bounds choose, any move with `lcb_least` of the most visits may be chosen. The
        choice is clear enough if the best move by now leads in visits by far as well.
        """
        trees, limits = self.trees, self.limits
        tree = trees.forest.trees[self.g]
        left = float(tree["target"]) - visits
        if limits.seconds is not None and spent > 0:
            rate = (visits - self.start.visits) / spent
            left = min(left, rate * (limits.seconds - spent))
        counts = [int(edge["visits"]) for edge in edges_of(trees.forest, int(tree["root"]))]
        if not counts:
            return False
        second, most = sorted([0, *counts])[-2:]
        least = trees.params.lcb_least if trees.params.lcb_stdevs else 1.0
        if second + left < least * most:
            return True
        if not limits.stop_when_clear or second + left >= _CLEAR * most:
            return False
        weights = np.zeros(len(counts), np.float32)
        return counts[play_weights(trees.forest, self.g, trees.settings, weights)] == most

    def result(self, reason: str = RUNNING) -> SearchResult:
        """What is known now."""
        return self.trees.result(self.g, self.wanted, self.start, reason)
