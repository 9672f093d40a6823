"""Trees for searches, and their memory: many small ones of a kind in a pool, or a deep one."""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from tengen.engine.task import KeptTree, SearchTask
from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.deep_tree import deep_tree
from tengen.search.human_network import policies_of
from tengen.search.kernels.forest import HumanPolicies
from tengen.search.params import SearchParams
from tengen.search.request import SearchRequest
from tengen.search.tree_batch import PIPELINE_FROM, TreeBatch
from tengen.search.tree_memory import node_room, tree_megabytes
from tengen.search.tree_search import TreeSearch

# Many small trees fill batches, and find each other's evaluations in the cache. But the fewer there
# are, the sooner the first ones are done: within some seconds if the network is fast.
MOST_TREES, FEWEST_TREES = 128, 24
VISITS_AT_A_TIME = 12_800
MOST_LEAVES = 16  # of a small tree in a flight
MOST_VISITS = 2_000  # of a small tree: larger ones fill the network's batches by themselves
LEAST_VISITS = 64  # that a small tree has room for
MOST_MOVES = 2_048  # of a game that is searched in a small tree
DEEP_SEARCHES = 24  # of an owner at a time
IDLE_POOLS = 8  # of small trees that are kept for the next search of their kind
LEAST_MEGABYTES = 16.0  # for a pool
# Freed blocks of this size go back to the system. The C library would raise the threshold with
# each one freed, and keep ever more of the memory of dropped trees.
_OWN_BLOCK = 1 << 20
_MMAP_THRESHOLD = -3  # the C library's name for it


class PoolKind(NamedTuple):
    """The properties that searches must share to use one pool."""

    evaluator: Evaluator
    params: SearchParams
    size: Size
    ownership: bool
    visits: int  # that a tree has room for
    policies: HumanPolicies  # nodes that need people's policy


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

    def can_go_on(
        self,
        kind: PoolKind | None,
        evaluator: Evaluator,
        params: SearchParams,
        request: SearchRequest,
    ) -> bool:
        """Can a kept tree of this pool be used for a search of this kind?"""
        if self.kind is not None or kind is not None:
            return self.kind == kind
        fits = self.trees.fits(request.position) and self.trees.evaluator is evaluator
        if self.trees.policies is HumanPolicies.ROOTS:
            fits &= policies_of(request.root.human) is HumanPolicies.ROOTS
        return fits and self.trees.set_params(params)


class TreePools:
    """All pools of an engine. Together they take at most so many megabytes."""

    def __init__(
        self,
        network_for: Callable[[Position], Evaluator],
        megabytes: float,
        *,
        leaves: int,
        leaf_room: int,
        max_searches: int | None,
        human: Evaluator | None = None,
    ) -> None:
        """`network_for` chooses the network of a game; `human` is one that imitates people.

        A deep tree has `leaves` in a flight; the trees of a pool together about `leaf_room`.

        Tells the C library, for the whole process, to return the memory of large trees when freed.
        """
        _c_library("mallopt", _MMAP_THRESHOLD, _OWN_BLOCK)
        self._network_for, self._left = network_for, megabytes
        self._leaves, self._leaf_room = leaves, leaf_room
        self._max_searches, self._human = max_searches, human
        self._pools: list[TreePool] = []

    def __iter__(self) -> Iterator[TreePool]:
        return iter(list(self._pools))

    def __contains__(self, pool: object) -> bool:
        return pool in self._pools

    def searches_at_a_time(self, visits: float) -> int:
        """How many searches of so many visits an owner has under way at most."""
        if self._max_searches is not None:
            return self._max_searches
        if visits == math.inf:
            return DEEP_SEARCHES
        return max(FEWEST_TREES, min(MOST_TREES, int(VISITS_AT_A_TIME // visits)))

    def tree_for(self, task: SearchTask, params: SearchParams) -> tuple[TreePool, int]:
        """The tree for a task: its kept tree if that suits this search, otherwise a free one.

        In the second case the contents of the kept tree are lost.
        """
        request, tree = task.request, task.tree
        if tree is None:
            ownership, visits = request.wanted.any_ownership, request.limits.max_visits
            megabytes = params.megabytes
        else:
            ownership, visits = tree.ownership, tree.max_visits or math.inf
            megabytes = tree.megabytes
        evaluator = self._network_for(request.position)
        kind = _pool_kind(evaluator, request, params, ownership, visits)
        if tree is not None and tree.pool is not None:
            if tree.pool.can_go_on(kind, evaluator, params, request):
                return tree.pool, tree.g
            self.release_kept(tree)
        pool = None
        if kind is not None:
            pool = next((each for each in self._pools if each.kind == kind and each.free), None)
            pool = pool or self._small_trees(kind)
        pool = pool or self._deep_tree(evaluator, request, params, ownership, visits, megabytes)
        g = pool.free.pop()
        if tree is not None:
            tree.pool, tree.g = pool, g
            pool.kept[g] = tree
        return pool, g

    def _small_trees(self, kind: PoolKind) -> TreePool:
        evaluator, area = kind.evaluator, kind.size.area
        wanted = self.searches_at_a_time(kind.visits)
        each = tree_megabytes(
            kind.visits,
            area,
            evaluator.features,
            kind.params,
            ownership=kind.ownership,
            policies=self._kept(kind.policies),
        )
        taken = self._take_memory(min(wanted * each, kind.params.megabytes * FEWEST_TREES))
        n = max(1, min(wanted, int(taken / each)))
        leaves = min(MOST_LEAVES, evaluator.best_batch)
        trees = TreeBatch(
            evaluator,
            kind.params,
            trees=n,
            area=area,
            node_room=node_room(kind.visits),
            moves=MOST_MOVES,
            ownership=kind.ownership,
            leaves=leaves,
            leaf_room=min(n * leaves, self._leaf_room + n),
            human=self._human,
            policies=kind.policies,
        )
        return self._added(TreePool(trees, kind, taken))

    def _deep_tree(
        self,
        evaluator: Evaluator,
        request: SearchRequest,
        params: SearchParams,
        ownership: bool,
        visits: float,
        megabytes: float,
    ) -> TreePool:
        position = request.position
        area, features = position.size.area, evaluator.features
        policies = policies_of(request.root.human)
        kept = self._kept(policies)
        most = tree_megabytes(visits, area, features, params, ownership=ownership, policies=kept)
        taken = self._take_memory(min(megabytes, 2 * most + 1))
        trees = deep_tree(
            evaluator,
            params,
            position,
            ownership=ownership,
            leaves=self._leaves,
            megabytes=taken,
            human=self._human,
            policies=policies,
        )
        return self._added(TreePool(trees, None, taken))

    def _kept(self, policies: HumanPolicies) -> HumanPolicies:
        """Where people's policies are kept, if there is a network that has them."""
        return HumanPolicies.NONE if self._human is None else policies

    def _added(self, pool: TreePool) -> TreePool:
        self._pools.append(pool)
        return pool

    def release(self, pool: TreePool, g: int) -> None:
        """Let another search use tree g of a pool."""
        pool.trees.positions[g] = None
        pool.kept.pop(g, None)
        pool.free.append(g)
        self.drop_idle(keep=IDLE_POOLS)

    def release_kept(self, tree: KeptTree) -> None:
        """As `release`, for a kept tree; while it is searched, at the end of that search."""
        tree.is_dropped = tree.is_searched
        if tree.pool is not None and not tree.is_searched:
            pool, tree.pool = tree.pool, None
            self.release(pool, tree.g)

    def drop(self, pool: TreePool) -> None:
        """Free the memory of a pool."""
        self._pools.remove(pool)
        self._left += pool.megabytes
        for tree in pool.kept.values():
            tree.pool = None
        trim_memory()

    def drop_idle(self, keep: int = 0) -> None:
        """Drop deep trees that nobody uses, and such pools of small ones beyond so many."""
        idle = [pool for pool in self._pools if pool.is_idle]
        small = [pool for pool in idle if pool.kind is not None]
        kept = small[max(0, len(small) - keep) :]
        for pool in idle:
            if pool not in kept:
                self.drop(pool)

    def _take_memory(self, need: float) -> float:
        """As many megabytes as are needed, or half of what is left; idle pools make room."""
        if need > self._left / 2:
            self.drop_idle()
        taken = min(need, max(self._left / 2, LEAST_MEGABYTES))
        self._left -= taken
        return taken


def _pool_kind(
    evaluator: Evaluator,
    request: SearchRequest,
    params: SearchParams,
    ownership: bool,
    max_visits: float,
) -> PoolKind | None:
    """The kind of pool for a search of at most so many visits; None if it needs a deep tree."""
    position = request.position
    if max_visits > MOST_VISITS or position.move_number >= MOST_MOVES:
        return None
    room = max(LEAST_VISITS, 1 << (int(max_visits) - 1).bit_length())
    policies = policies_of(request.root.human)
    visits = min(room, MOST_VISITS)
    return PoolKind(evaluator, params, position.size, ownership, visits, policies)


def trim_memory() -> None:
    """Return memory that was freed to the system, where the C library keeps it otherwise."""
    _c_library("malloc_trim", 0)


def _c_library(function: str, *arguments: int) -> None:
    """Call a function of the C library if it exists there."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*arguments)
