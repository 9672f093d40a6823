"""A grove: trees of many positions side by side, whose leaves go to the network together."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, Size, point_index
from tengen.game.kernels.moves import PASS
from tengen.game.kernels.point_sets import words_for
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation, Evaluator
from tengen.search.driver import Driver, InFlight, forest_for
from tengen.search.kernels.forest import EDGE, EXPANDED, NODE, Records
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.root import prepare_root
from tengen.search.params import SearchParams
from tengen.search.result import THE_USUAL, SearchResult, Start, Wanted, read_result, start_of
from tengen.search.search import CANCELLED, OVER, VISITS, moves_between
from tengen.search.uncertainty import Uncertainty

# Many small trees fill batches, and what one asks of the network another may know already. But the
# fewer they are, the sooner the first ones are done: within some seconds if the network is fast.
MOST_TREES, FEWEST_TREES = 128, 24
VISITS_AT_A_TIME, SECONDS_AT_A_TIME = 12_800, 4.0
IN_FLIGHT = 4  # ticks: networks that compute two batches at a time always have one more waiting
BATCH = 64  # leaves of a tick, if the trees have as many
MOST_LEAVES = 16  # of a tree in a tick
_SPARE_NODES = 32


def never() -> bool:
    """Nobody wants it to stop."""
    return False


def nothing() -> None:
    """Nothing follows."""


@dataclass(frozen=True, eq=False)
class Errand:
    """A position to search, how far, and whom to tell."""

    position: Position
    visits: int
    deliver: Callable[[SearchResult], None]  # one that was stopped gets what is known by then
    wanted: Wanted = THE_USUAL
    stopped: Callable[[], bool] = never
    # Asked after it was delivered: the errand of a later position, which goes on with its tree.
    then: Callable[[], Errand | None] = nothing


class Grove:
    """Searches positions on boards of one size with one set of parameters, in one thread."""

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams,
        size: Size,
        *,
        visits: int,
        moves: int,
        trees: int,
        ownership: bool = False,
        seed: int = 0,
    ) -> None:
        """Errands may want this many visits, and stand after this many moves, at most.

        There are so many trees, of which a slow network begins with fewer.
        """
        self._visits, self._room = visits, node_room(visits)
        forest = forest_for(
            evaluator,
            trees,
            size.area,
            node_room=self._room,
            moves=moves + 1,
            ownership=ownership,
        )
        self._forest, self._ownership, self._seed = forest, ownership, seed
        self._batch = max(BATCH, evaluator.best_batch)
        self._leaves = min(MOST_LEAVES, evaluator.best_batch)
        self._driver = Driver(evaluator, params, forest, self._leaves, in_flight=IN_FLIGHT)
        self._errands: dict[int, Errand] = {}  # by tree
        self._starts: dict[int, Start] = {}
        self._waiting: set[int] = set()  # trees with leaves in flight
        self._uncertainty: list[dict[int, Uncertainty]] = [
            {} for _ in range(trees)
        ]  # by the keys of nodes
        self._scratch = np.zeros((2, self._room), np.int32)
        self._began, self._leaves_taken = 0.0, 0  # of the search under way

    def search(self, begin: Callable[[], Errand | None]) -> None:
        """Do all errands that `begin` has for trees that are free, until it has none.

        After an error of the network, which is raised, the errands under way stay undone, and
        leaves wait for ever: only a new grove is sound.
        """
        under_way: deque[InFlight] = deque()
        self._began, self._leaves_taken = time.monotonic(), 0
        while True:
            self._employ(begin)
            idle = [g for g in self._errands if g not in self._waiting]
            if idle and len(under_way) < IN_FLIGHT:
                # Trees take turns, so that the network works while leaves are looked for.
                share = -(-len(self._errands) // IN_FLIGHT)
                under_way.append(self._tick(idle[:share]))
            elif under_way:
                self._land(under_way.popleft())
            else:
                return

    def _employ(self, begin: Callable[[], Errand | None]) -> None:
        for g in range(self._trees_at_a_time()):
            while g not in self._errands:
                errand = begin()
                if errand is None:
                    return
                self._stand_at(g, errand, None)

    def _trees_at_a_time(self) -> int:
        """How many trees may be under way, as fast as the network has been so far."""
        rate = self._leaves_taken / max(0.01, time.monotonic() - self._began)
        trees = max(FEWEST_TREES, int(rate * SECONDS_AT_A_TIME / self._visits))
        return min(trees, len(self._forest.trees))

    def _tick(self, trees: list[int]) -> InFlight:
        """Look for leaves, more in each tree the fewer trees there are."""
        chosen = np.array(trees)
        leaves = -(-self._batch // len(trees))
        self._forest.trees["leaves"][chosen] = min(self._leaves, leaves)
        self._waiting.update(trees)
        return self._driver.start(chosen)

    def _land(self, flight: InFlight) -> None:
        """Take in leaves that were evaluated; deliver what is done."""
        evaluation = flight.wait()
        if evaluation is not None:
            self._note_uncertainty(flight.rows.paths[: flight.ends[-1]], evaluation)
        self._driver.finish(flight)
        self._leaves_taken += int(flight.ends[-1])
        self._go_on(flight.trees)

    def _go_on(self, trees: NDArray[np.int64]) -> None:
        """Look at trees whose leaves have come home; many at a time, for records are slow."""
        records = self._forest.trees[trees]
        roots = self._forest.nodes[records["root"]]
        for g in trees[(roots["status"] == EXPANDED) & (records["prepared"] == 0)].tolist():
            prepare_root(self._forest, g, self._driver.settings)
        for g, visits in zip(trees.tolist(), roots["visits"].tolist(), strict=True):
            self._waiting.discard(g)
            errand = self._errands[g]
            if visits >= errand.visits:
                self._deliver(g, VISITS)
            elif errand.stopped():
                self._deliver(g, CANCELLED)

    def _deliver(self, g: int, reason: str) -> None:
        """Tell what was found, and let the tree go on if there is something to go on to."""
        errand = self._errands[g]
        errand.deliver(self._result(g, errand, reason))
        del self._errands[g]
        if (following := errand.then()) is not None:
            self._stand_at(g, following, errand.position)

    def _result(self, g: int, errand: Errand, reason: str) -> SearchResult:
        forest = self._forest
        wanted = errand.wanted.within(ownership=self._ownership)
        settings, start = self._driver.settings, self._starts[g]
        result = read_result(forest, g, settings, errand.position, wanted, start, reason)
        key = int(forest.nodes[forest.trees[g]["root"]]["key"])
        return replace(result, raw=replace(result.raw, uncertainty=self._uncertainty[g].get(key)))

    def _note_uncertainty(self, rows: Records, evaluation: Evaluation) -> None:
        told = (evaluation.value_error, evaluation.score_error, evaluation.variance_time)
        columns = (rows["tree"], rows["key"], *told)
        for g, key, *uncertainty in zip(*(column.tolist() for column in columns), strict=True):
            self._uncertainty[g][key] = Uncertainty(*uncertainty)

    # Positions

    def _stand_at(self, g: int, errand: Errand, before: Position | None) -> None:
        """Begin an errand, with what the tree knows of it if it stands at `before`."""
        position = errand.position
        self._errands[g] = errand
        moves = None if before is None else moves_between(before, position)
        if moves is None or not self._walk(g, moves, position, errand.visits):
            self._plant(g, position)
        self._forest.trees[g]["target"] = errand.visits
        self._starts[g] = start_of(self._forest, g)
        if position.is_over:
            self._deliver(g, OVER)
        else:
            self._go_on(np.array([g]))

    def _walk(self, g: int, moves: list[Point | None], position: Position, visits: int) -> bool:
        """Let the tree follow moves up to a position; is there room for it to grow there?"""
        forest = self._forest
        for move in moves:
            point = PASS if move is None else point_index(move, position.width)
            advance(forest, g, point, *self._scratch)
        if forest.trees[g]["n_nodes"] + node_room(visits) // 2 > self._room:
            return False
        self._driver.look_back(g, position)
        self._forget_uncertainty(g)
        if moves and forest.nodes[forest.trees[g]["root"]]["visits"]:
            recenter_utility(forest, g, self._driver.settings)
        return True

    def _plant(self, g: int, position: Position) -> None:
        self._driver.place(g, position, self._seed)
        self._uncertainty[g].clear()

    def _forget_uncertainty(self, g: int) -> None:
        """Drop those of positions that the tree does not know any more."""
        first = g * self._room
        nodes = self._forest.nodes[first : first + int(self._forest.trees[g]["n_nodes"])]
        before = self._uncertainty[g]
        self._uncertainty[g] = {key: before[key] for key in nodes["key"].tolist() if key in before}


def usual_trees(visits: int) -> int:
    """How many trees side by side suit searches of so many visits."""
    return max(FEWEST_TREES, min(MOST_TREES, VISITS_AT_A_TIME // visits))


def node_room(visits: int) -> int:
    """The nodes of a tree that had so many visits, and gets as many again."""
    return 2 * (visits + _SPARE_NODES)


def grove_tree_bytes(evaluator: Evaluator, area: int, visits: int, ownership: bool) -> int:
    """How much memory a tree of a grove takes at most."""
    ladders = 8 * words_for(area) * evaluator.features.sees_ladders
    node = NODE.itemsize + EDGE.itemsize + 16 + ladders + area * ownership + 4 * (area + 2)
    return node_room(visits) * node
