"""Trees and one network: positions in, leaves to the network, evaluations back into the trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.features.rows import pack
from tengen.game.geometry import Size
from tengen.game.ladder import mark_ladders
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending
from tengen.search.absorb import absorb
from tengen.search.descend import find_leaves
from tengen.search.forest import MAX_DEPTH, Forest, new_forest, plant
from tengen.search.leaves import Rows, new_rows, new_walker
from tengen.search.params import SearchParams, settings_of

ENDLESS = 2**31 - 1


@dataclass
class InFlight:
    """Leaves on their way to the network."""

    rows: Rows
    count: int
    pending: Pending | None
    evaluation: Evaluation | None = None

    def wait(self) -> Evaluation | None:
        """What the network says; None if no leaf needed it."""
        if self.pending is not None:
            self.evaluation = self.pending.result()
            self.pending = None
        return self.evaluation


class Driver:
    """Grows the trees of a forest with the help of one network.

    A *tick* looks for leaves and sends them off; the *absorb* that follows waits for them. Two
    ticks may be under way at a time, so that the network works while leaves are looked for.
    """

    def __init__(self, evaluator: Evaluator, params: SearchParams, forest: Forest, rows: int):
        self.evaluator, self.params, self.forest = evaluator, params, forest
        self.settings = settings_of(params)
        self._features = evaluator.features
        self._walker = new_walker(forest.histories.shape[1] - 1)
        self._n_rows = rows
        self._size = Size(0, 0)  # of the largest board
        self._spare: list[Rows] = []

    def place(self, g: int, position: Position, seed: int) -> None:
        """Plant tree g anew at a position, whose game must be going on."""
        forest = self.forest
        boards, history = position.arrays(room=0)
        forest.boards[g] = boards[0]
        forest.histories[g, : len(history)] = history
        self._look_back(g, position)
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
            self._spare = [new_rows(self._n_rows, self._features, self._size) for _ in range(2)]

    def _look_back(self, g: int, position: Position) -> None:
        """Read the ladders of one and two turns ago."""
        self.forest.caught_before[g] = 0
        if not self._features.sees_ladders:
            return
        scratch = self._walker.scratch
        for turn in range(min(2, position.move_number)):
            position = position.undo()
            boards, _ = position.arrays(room=0)
            mark_ladders(boards[0], scratch.ladder, scratch.caught[0], scratch.catching)
            pack(boards[0], scratch.caught[0], self.forest.caught_before[g, turn])

    def tick(self, begin: int, end: int) -> InFlight:
        """Look for leaves in the trees begin..end and send them to the network."""
        rows = self._spare.pop()
        n = find_leaves(
            self.forest, rows, 0, begin, end, self.settings, self._walker, self._features.kind
        )
        if n == 0:
            return InFlight(rows, 0, None)
        batch = Batch(rows.planes[:n], rows.globals[:n])
        return InFlight(rows, n, self.evaluator.submit(batch))

    def absorb(self, flight: InFlight) -> None:
        """Wait for the network and take in what it says."""
        evaluation = flight.wait()
        if evaluation is not None:
            absorb(
                self.forest,
                flight.rows,
                0,
                flight.count,
                evaluation,
                self.settings,
                self._walker.shares,
            )
        self._spare.append(flight.rows)


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
