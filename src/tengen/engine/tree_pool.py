"""Trees that are searched together: many small ones of the same kind, or one deep one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from tengen.engine.kept_tree import KeptTree
from tengen.engine.task import SearchTask
from tengen.game.geometry import Size
from tengen.network.evaluator import Evaluator
from tengen.search.params import SearchParams
from tengen.search.request import SearchRequest
from tengen.search.tree_batch import PIPELINE_FROM, TreeBatch, node_room
from tengen.search.tree_search import TreeSearch

# Many small trees fill batches, and find each other's evaluations in the cache. But the fewer there
# are, the sooner the first ones are done: within some seconds if the network is fast.
MOST_TREES, FEWEST_TREES = 128, 24
VISITS_AT_A_TIME = 12_800
MOST_LEAVES = 16  # of a small tree in a flight
MOST_VISITS = 2_000  # of a small tree: larger ones fill the network's batches by themselves
LEAST_VISITS = 64  # that a small tree has room for
MOST_MOVES = 2_048  # of a game that is searched in a small tree


class PoolKind(NamedTuple):
    """What searches must have in common to share a pool."""

    params: SearchParams
    size: Size
    ownership: bool
    visits: int  # that a tree has room for


def pool_kind(
    request: SearchRequest, params: SearchParams, ownership: bool, max_visits: float
) -> PoolKind | None:
    """The kind of pool for a search of at most so many visits; None if it needs a deep tree."""
    position = request.position
    if max_visits > MOST_VISITS or position.move_number >= MOST_MOVES:
        return None
    room = max(LEAST_VISITS, 1 << (int(max_visits) - 1).bit_length())
    return PoolKind(params, position.size, ownership, min(room, MOST_VISITS))


def usual_trees(visits: int) -> int:
    """How many searches of so many visits run at a time."""
    return max(FEWEST_TREES, min(MOST_TREES, VISITS_AT_A_TIME // visits))


@dataclass(eq=False)
class RunningSearch:
    """A task that has a tree."""

    task: SearchTask
    search: TreeSearch
    next_report: float  # time, infinity if none is wanted
    in_flight: int = 0  # flights with leaves of its tree
    ending: bool = False  # it gets no more flights before those under way have come back
    checked: float = field(default_factory=time.monotonic)  # when its limits were last checked


class TreePool:
    """Trees of one batch, and who uses them."""

    def __init__(self, trees: TreeBatch, kind: PoolKind | None, megabytes: float) -> None:
        """A pool without a kind has one deep tree."""
        self.trees, self.kind, self.megabytes = trees, kind, megabytes
        self.free = list(range(len(trees.forest.trees)))[::-1]
        self.running: dict[int, RunningSearch] = {}  # by tree
        self.kept: dict[int, KeptTree] = {}  # by tree
        # A small tree has one flight at a time; others fill the network meanwhile.
        pipelined = 2 if trees.leaves >= PIPELINE_FROM else 1
        parallel = trees.evaluator.parallel_batches
        self.flights_per_tree = 1 if kind is not None else max(pipelined, parallel)

    @property
    def is_idle(self) -> bool:
        """Does nobody use any of its trees?"""
        return not self.running and not self.kept

    def release(self, g: int) -> None:
        """Let another search use tree g."""
        self.trees.positions[g] = None
        self.kept.pop(g, None)
        self.free.append(g)


def small_trees(evaluator: Evaluator, kind: PoolKind, trees: int, leaf_room: int) -> TreeBatch:
    """A batch of small trees."""
    leaves = min(MOST_LEAVES, evaluator.best_batch)
    return TreeBatch(
        evaluator,
        kind.params,
        trees=trees,
        area=kind.size.area,
        node_room=node_room(kind.visits),
        moves=MOST_MOVES,
        ownership=kind.ownership,
        leaves=leaves,
        leaf_room=min(trees * leaves, leaf_room),
    )
