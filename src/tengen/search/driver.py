"""Trees and one network: positions in, leaves to the network, evaluations back into the trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Size
from tengen.game.ladder import mark_ladders
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending
from tengen.search.absorb import absorb
from tengen.search.descend import find_leaves
from tengen.search.forest import MAX_DEPTH, Forest, new_forest, plant
from tengen.search.leaves import Rows, new_rows
from tengen.search.params import SearchParams, settings_array
from tengen.search.shards import absorb_in_shards, find_in_shards
from tengen.search.walker import new_walkers, nth_walker

ENDLESS = 2**31 - 1
IN_FLIGHT = 2  # ticks at a time
SHARDS_PER_THREAD = 4  # so that no thread waits long for another


@dataclass
class InFlight:
    """Leaves on their way to the network."""

    rows: Rows
    trees: NDArray[np.int64]  # that looked for leaves
    ends: NDArray[np.int64]  # [shards] where the rows of each shard end
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

    A *tick* looks for leaves and sends them off; the *absorb* that follows waits for them. Two
    ticks or more may be under way at a time, so that the network works while leaves are looked for.
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
        shards = 1 if threads == 1 else min(len(forest.trees), SHARDS_PER_THREAD * threads)
        self._walkers = new_walkers(shards)
        self._shards = shards
        self._size = Size(0, 0)  # of the largest board
        self._spare: list[Rows] = []

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
        plant(forest, g)
        largest = Size(
            max(self._size.width, position.width), max(self._size.height, position.height)
        )
        if largest != self._size:
            self._size = largest
            count = len(forest.trees) * self._leaves
            self._spare = [
                new_rows(count, self._features, self._size) for _ in range(self._in_flight)
            ]

    def look_back(self, g: int, position: Position) -> None:
        """Read the ladders of one and two turns ago."""
        self.forest.caught_before[g] = 0
        if not self._features.sees_ladders:
            return
        scratch = nth_walker(self._walkers, 0).scratch
        for turn in range(min(2, position.move_number)):
            position = position.undo()
            boards, _ = position.arrays(room=0)
            caught = self.forest.caught_before[g, turn]
            mark_ladders(boards[0], scratch.ladder, caught, scratch.catching)

    def tick(self, begin: int, end: int) -> InFlight:
        """Look for leaves in the trees begin..end and send them to the network."""
        return self.tick_of(np.arange(begin, end))

    def tick_of(self, trees: NDArray[np.int64]) -> InFlight:
        """Look for leaves in these trees and send them to the network."""
        rows = self._spare.pop()
        forest, kind = self.forest, self._features.kind
        ends = np.zeros(self._shards, np.int64)
        if self._shards == 1:
            walker, last = nth_walker(self._walkers, 0), len(rows.rows)
            ends[0] = find_leaves(forest, trees, rows, 0, last, self.settings, walker, kind)
        else:
            trees = trees[forest.trees["target"][trees] > 0]
            find_in_shards(
                forest, trees, rows, self._leaves, ends, self._settings, self._walkers, kind
            )
        n = int(ends[-1])
        if n == 0:
            return InFlight(rows, trees, ends, None)
        batch = Batch(rows.planes[:n], rows.globals[:n])
        return InFlight(rows, trees, ends, self.evaluator.submit(batch))

    def absorb(self, flight: InFlight) -> None:
        """Wait for the network and take in what it says."""
        evaluation = flight.wait()
        rows, ends = flight.rows, flight.ends
        if evaluation is not None and self._shards == 1:
            shares = self._walkers.shares[0]
            absorb(self.forest, rows, 0, ends[0], evaluation, self.settings, shares)
        elif evaluation is not None:
            absorb_in_shards(
                self.forest,
                flight.trees,
                rows,
                self._leaves,
                ends,
                evaluation,
                self._settings,
                self._walkers,
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
