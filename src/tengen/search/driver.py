"""Trees and one network: positions in, leaves to the network, evaluations back into the trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Size
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending
from tengen.search.kernels.descend import find_leaves
from tengen.search.kernels.descent_scratch import new_descent_scratches, nth_descent_scratch
from tengen.search.kernels.expand import expand_leaves
from tengen.search.kernels.forest import MAX_DEPTH, Forest, new_forest, reset_tree
from tengen.search.kernels.parallel import expand_leaves_in_parallel, find_leaves_in_parallel
from tengen.search.leaf_batch import LeafBatch, new_leaf_batch
from tengen.search.params import SearchParams, settings_array

ENDLESS = 2**31 - 1
IN_FLIGHT = 2  # ticks at a time
CHUNKS_PER_THREAD = 4  # so that no thread waits long for another


@dataclass
class InFlight:
    """Leaves on their way to the network."""

    rows: LeafBatch
    trees: NDArray[np.int64]  # that looked for leaves
    ends: NDArray[np.int64]  # [chunks] where the rows of each chunk end
    pending: Pending | None
    evaluation: Evaluation | None = None

    def wait(self) -> Evaluation | None:
        """What the network says; None if no leaf needed it."""
        if self.pending is not None:
            found = self.pending.result()
            # One layout of the arrays, whatever the network made: each would compile kernels anew.
            self.evaluation = Evaluation(*(np.ascontiguousarray(field) for field in found))
            self.pending = None
        return self.evaluation


class Driver:
    """Grows the trees of a forest with the help of one network.

    `start` finds leaves and submits them; `finish` waits for their evaluations. Several batches
    may be in flight, so that the network works while leaves are found.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams,
        forest: Forest,
        leaves: int,
        threads: int = 1,
        in_flight: int = IN_FLIGHT,
    ) -> None:
        """At most `leaves` of each tree are in flight in a tick, and so many ticks at a time."""
        self.evaluator, self.forest = evaluator, forest
        self.set_params(params)
        self._features = evaluator.features
        self._leaves, self._in_flight = leaves, in_flight
        self._threads = threads
        chunks = 1 if threads == 1 else min(len(forest.trees), CHUNKS_PER_THREAD * threads)
        self._scratches = new_descent_scratches(chunks)
        self._chunks = chunks
        self._size = Size(0, 0)  # of the largest board
        self._spare: list[LeafBatch] = []

    def set_params(self, params: SearchParams) -> None:
        """Grow the trees by other parameters from now on."""
        self.params = params
        self._settings = settings_array(params)
        self.settings = self._settings[0]

    def place(self, g: int, position: Position, seed: int) -> None:
        """Plant tree g anew at a position, whose game must be going on."""
        forest = self.forest
        boards, history = position.arrays(room=0)
        forest.boards[g] = boards[0]
        forest.histories[g, : len(history)] = history
        self.look_back(g, position)
        tree = forest.trees[g]
        limit = position.move_limit
        tree["move_limit"] = ENDLESS if limit is None else limit
        tree["target"] = 0
        tree["rng"] = np.random.SeedSequence([seed, g]).generate_state(1, np.uint64) | 1
        reset_tree(forest, g)
        largest = Size(
            max(self._size.width, position.width), max(self._size.height, position.height)
        )
        if largest != self._size:
            self._size = largest
            count = len(forest.trees) * self._leaves
            self._spare = [
                new_leaf_batch(count, self._features, self._size) for _ in range(self._in_flight)
            ]

    def look_back(self, g: int, position: Position) -> None:
        """Read the ladders of one and two turns ago."""
        self.forest.caught_before[g] = 0
        if not self._features.sees_ladders:
            return
        scratch = nth_descent_scratch(self._scratches, 0).features
        for turn in range(min(2, position.move_number)):
            position = position.undo()
            boards, _ = position.arrays(room=0)
            caught = self.forest.caught_before[g, turn]
            mark_ladders(boards[0], scratch.ladder, caught, scratch.catching)

    def start_range(self, begin: int, end: int) -> InFlight:
        """Look for leaves in the trees begin..end and send them to the network."""
        return self.start(np.arange(begin, end))

    def start(self, trees: NDArray[np.int64]) -> InFlight:
        """Look for leaves in these trees and send them to the network."""
        rows = self._spare.pop()
        forest, kind = self.forest, self._features.kind
        ends = np.zeros(self._chunks, np.int64)
        if self._chunks == 1:
            scratch, last = nth_descent_scratch(self._scratches, 0), len(rows.paths)
            ends[0] = find_leaves(forest, trees, rows, 0, last, self.settings, scratch, kind)
        else:
            trees = trees[forest.trees["target"][trees] > 0]
            find_leaves_in_parallel(
                forest, trees, rows, self._leaves, ends, self._settings, self._scratches, kind
            )
        n = int(ends[-1])
        if n == 0:
            return InFlight(rows, trees, ends, None)
        batch = Batch(rows.planes[:n], rows.globals[:n])
        return InFlight(rows, trees, ends, self.evaluator.submit(batch))

    def finish(self, flight: InFlight) -> None:
        """Wait for the network and take in what it says."""
        evaluation = flight.wait()
        rows, ends = flight.rows, flight.ends
        if evaluation is not None and self._chunks == 1:
            shares = self._scratches.shares[0]
            expand_leaves(self.forest, rows, 0, ends[0], evaluation, self.settings, shares)
        elif evaluation is not None:
            expand_leaves_in_parallel(
                self.forest,
                flight.trees,
                rows,
                self._leaves,
                ends,
                evaluation,
                self._settings,
                self._scratches,
            )
        self._spare.append(rows)


def forest_for(
    evaluator: Evaluator, trees: int, area: int, *, node_room: int, moves: int, ownership: bool
) -> Forest:
    """A forest of trees that all have room for so many nodes, on boards of up to this area."""
    return new_forest(
        trees,
        area,
        node_room=node_room,
        candidate_room=node_room * (area + 2),
        moves=moves + MAX_DEPTH,
        ladders=evaluator.features.sees_ladders,
        ownership=ownership,
    )
