"""Runs all searches of an engine in one thread, sharing the network among their owners.

Each round finds leaves in the trees whose turn it is, evaluates them as one batch, and looks at the
trees whose leaves have come back. Higher priorities go first; among equals, the owner that has had
the fewest leaves evaluated.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import count
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from tengen.closeable import Closeable
from tengen.engine.task import KeptTree, SearchTask
from tengen.engine.tree_pools import FEWEST_TREES, RunningSearch, TreePool, TreePools, trim_memory
from tengen.game.position import Position
from tengen.network.evaluator import (
    Batch,
    Evaluation,
    Evaluator,
    Pending,
    drop_graphs,
    encode_for,
    join_batches,
)
from tengen.search.human_network import check_style
from tengen.search.mirror_play import params_at
from tengen.search.params import SearchParams
from tengen.search.request import CANCELLED, RUNNING, TIME
from tengen.search.result import SearchResult, empty_result
from tengen.search.tree_batch import LeafFlight
from tengen.search.tree_search import TreeSearch

BATCH = 64  # leaves of a flight, if the trees have as many
SECONDS_AT_A_TIME = 4.0  # an owner has no more searches under way than end in this time
CLOSED = "the engine has been closed"


class _Flight(NamedTuple):
    """A batch under way: leaves of trees, or positions to evaluate without search."""

    parts: list[tuple[TreePool, LeafFlight]]
    pending: Pending | None
    raw: Future[Evaluation] | None = None


class _RawRequest(NamedTuple):
    """Positions that wait to be evaluated without search."""

    evaluator: Evaluator
    batch: Batch
    future: Future[Evaluation]


class _ReadyTree(NamedTuple):
    """A tree that may look for leaves."""

    pool: TreePool
    g: int
    running: RunningSearch


class Scheduler(Closeable):
    """All methods may be called from any thread. `lock` is held while trees are read or changed."""

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams,
        *,
        leaves: int | None = None,
        seed: int = 0,
        megabytes: float = math.inf,
        max_searches: int | None = None,
        human: Evaluator | None = None,
        network_for: Callable[[Position], Evaluator] | None = None,
    ) -> None:
        """Trees take at most so many megabytes together; an owner has at most so many searches
        under way. `human` is a network that imitates people. `network_for` chooses another network
        than the evaluator for a game; it is called in the thread.
        """
        self.evaluator, self.params = evaluator, params
        self._seed, self._human = seed, human
        self._network_for = network_for or (lambda _: evaluator)
        self.batch_size = max(BATCH, evaluator.best_batch)
        self._pools = TreePools(
            self._network_for,
            megabytes,
            leaves=leaves or evaluator.best_batch,
            leaf_room=self.batch_size,
            max_searches=max_searches,
            human=human,
        )
        self._max_flights = evaluator.parallel_batches + 1  # one waits while the others compute
        self.lock = threading.RLock()
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()  # for the thread to make
        self._wake = threading.Event()
        self._unfinished = 0  # tasks submitted whose results were not delivered
        self._counting = threading.Condition()
        self._closed = False
        self._number = count()
        self._waiting: dict[object, list[tuple[int, int, SearchTask]]] = {}  # heaps by owner
        self._waiting_for_tree: list[SearchTask] = []
        self._some_stopped = False
        self._raw: deque[_RawRequest] = deque()
        self._running: Counter[tuple[object, int]] = Counter()  # by owner and priority
        self._served: dict[object, float] = {}  # leaves evaluated, of owners with searches
        self._clock = 0.0  # of the owner served last
        self._flights: deque[_Flight] = deque()
        self._deliveries: list[Callable[[], None]] = []
        self._began, self._leaves_done = 0.0, 0  # since the network was last idle
        self._thread = threading.Thread(target=self._work, name="search", daemon=True)
        self._thread.start()

    # Requests: only `free_memory`, `drain` and `close` wait for the thread

    def submit(self, tasks: Sequence[SearchTask]) -> None:
        """Search these, the first ones first; raises ValueError when closed."""
        for task in tasks:
            task.on_stop = self._note_stop
            if task.tree is not None:
                task.tree.stop()
                task.tree.latest = task
        with self._counting:
            if self._closed:
                raise ValueError(CLOSED)
            self._unfinished += len(tasks)
            self._calls.put(lambda: self._enqueue(tasks))
        self._wake.set()

    def evaluate(self, positions: Sequence[Position], profile: str = "") -> Future[Evaluation]:
        """The network's evaluation of positions, without search; see `encode_for`.

        The network is that of the first one's game.
        """
        future: Future[Evaluation] = Future()
        future.set_running_or_notify_cancel()

        def enqueue() -> None:
            try:
                evaluator = self._network_for(positions[0])
                batch = encode_for(evaluator, positions, profile)
            except Exception as error:  # reported to the caller; the thread goes on
                self._deliveries.append(partial(future.set_exception, error))
            else:
                self._raw.append(_RawRequest(evaluator, batch, future))

        with self._counting:
            if self._closed:
                raise ValueError(CLOSED)
            self._calls.put(enqueue)
        self._wake.set()
        return future

    def searches_at_a_time(self, visits: float) -> int:
        """How many searches of so many visits an owner has under way at most."""
        return self._pools.searches_at_a_time(visits)

    def drop_tree(self, tree: KeptTree) -> None:
        """Free a kept tree after the end of the search in it."""
        self._calls.put(lambda: self._pools.release_kept(tree))
        self._wake.set()

    def free_memory(self, evaluators: Sequence[Evaluator]) -> None:
        """Free the trees that nobody uses and the compiled graphs of networks; waits for it."""
        done = threading.Event()

        def free() -> None:
            for evaluator in evaluators:
                drop_graphs(evaluator)
            self._pools.drop_idle()
            trim_memory()
            done.set()

        with self._counting:
            if self._closed:
                return
            self._calls.put(free)
        self._wake.set()
        done.wait()

    def drain(self, until: threading.Event) -> None:
        """Wait until all results were delivered, or the event is set."""
        with self._counting:
            while self._unfinished and not until.is_set():
                self._counting.wait(0.1)

    def close(self) -> None:
        """Stop all searches and end the thread; tasks that have not begun are cancelled."""
        with self._counting:
            self._closed = True
        self._wake.set()
        self._thread.join()

    def _note_stop(self) -> None:
        self._some_stopped = True
        self._wake.set()

    # The thread

    def _work(self) -> None:
        while True:
            self._wake.clear()
            with self.lock:
                self._make_calls()
                self._admit()
                room = len(self._flights) < self._max_flights
                started = room and not self._closed and self._start_flight()
            if not started and self._flights:
                self._finish_flight(self._flights.popleft())
            elif not started and self._closed:
                break
            elif not started and not self._deliveries:
                self._began = 0.0
                self._wake.wait()
            self._deliver()
        self._cancel_all()
        self._deliver()

    def _make_calls(self) -> None:
        while not self._calls.empty():
            self._calls.get()()

    def _deliver(self) -> None:
        """Hand out results and progress, without the lock: whoever gets them may call us."""
        deliveries, self._deliveries = self._deliveries, []
        for deliver in deliveries:
            deliver()

    def _enqueue(self, tasks: Sequence[SearchTask]) -> None:
        for task in tasks:
            if task.tree is not None:
                self._waiting_for_tree.append(task)
            else:
                entry = -task.request.priority, next(self._number), task
                heapq.heappush(self._waiting.setdefault(task.owner, []), entry)

    def _cancel_all(self) -> None:
        """End all tasks when the engine closes; those that run get the result so far."""
        self._make_calls()
        tasks = [task for heap in self._waiting.values() for _, _, task in heap if not task.begun]
        for task in [*tasks, *self._waiting_for_tree]:
            self._end(task, None)
        for pool in self._pools:
            for running in pool.running.values():
                self._end(running.task, running.search.result(CANCELLED))
        for raw in self._raw:
            self._deliveries.append(partial(raw.future.set_exception, ValueError(CLOSED)))

    # Beginning and ending searches

    def _admit(self) -> None:
        """Begin the tasks that may begin."""
        for task in list(self._waiting_for_tree):
            assert task.tree is not None
            if not task.tree.is_searched:
                self._waiting_for_tree.remove(task)
                self._begin(task)
        if self._some_stopped:
            self._some_stopped = False
            self._end_stopped()
        for owner, heap in list(self._waiting.items()):
            while heap and self._may_begin(heap[0][2]):
                task = heapq.heappop(heap)[2]
                if not task.begun:  # as another one's next turn
                    self._begin(task)
            if not heap:
                del self._waiting[owner]

    def _end_stopped(self) -> None:
        """End the waiting tasks that were stopped."""
        for heap in self._waiting.values():
            for _, _, task in heap:
                if task.stopped and not task.begun:
                    self._begin(task)
            heap[:] = [entry for entry in heap if not entry[2].begun]
            heapq.heapify(heap)

    def _may_begin(self, task: SearchTask) -> bool:
        """Has the owner fewer searches of this or a higher priority under way than it may have?

        Searches of lower priorities, which pause meanwhile, may be as many again.
        """
        priority = task.request.priority
        own = {p: n for (owner, p), n in self._running.items() if owner is task.owner}
        under_way = sum(n for p, n in own.items() if p >= priority)
        visits = task.request.limits.max_visits
        most = self.searches_at_a_time(visits)
        if visits != math.inf:  # the fewer at a time, the sooner the first ones are done
            rate = self._leaves_done / max(0.01, time.monotonic() - self._began)
            most = min(most, max(FEWEST_TREES, int(rate * SECONDS_AT_A_TIME / visits)))
        return under_way < most and sum(own.values()) < 2 * most

    def _begin(self, task: SearchTask) -> None:
        """Find a tree for a task, and start its search."""
        task.begun = True
        if task.stopped:
            self._end(task, empty_result(task.request.position, CANCELLED))
            return
        try:
            check_style(task.request.root.human, self.evaluator, self._human)
            params = params_at(task.request.params or self.params, task.request.position)
            pool, g = self._pools.tree_for(task, params)
            self._begin_in(pool, g, task)
        except Exception as error:  # reported to the caller; the thread goes on
            self._end(task, error)

    def _begin_in(self, pool: TreePool, g: int, task: SearchTask) -> None:
        request, trees = task.request, pool.trees
        growth = 0 if pool.kind is None else pool.kind.visits
        trees.stand_at(g, request.position, request.root, seed=(self._seed, 0), growth=growth)
        search = TreeSearch(trees, g, request.limits, request.wanted)
        interval, first = request.progress_interval, request.first_progress
        wait = interval if first is None else first
        if wait is None or task.on_progress is None:
            wait = math.inf  # no reports are wanted
        running = pool.running[g] = RunningSearch(task, search, search.start.time + wait)
        owner = task.owner
        self._running[owner, request.priority] += 1
        self._served.setdefault(owner, self._clock)
        if self._began == 0.0:
            self._began, self._leaves_done = time.monotonic(), 0
        self._look_at(pool, g, running)

    def _finish(self, pool: TreePool, g: int, reason: str) -> None:
        """End the search in a tree, and go on with the next turn of its game if it waits."""
        running = pool.running.pop(g)
        task = running.task
        self._forget_running(task)
        self._end(task, self._result(running, reason))
        following = task.next_turn
        if following is not None and self._may_follow(following):
            following.begun = True
            self._begin_in(pool, g, following)
        elif task.tree is None:
            self._pools.release(pool, g)
        elif task.tree.is_dropped:
            self._pools.release_kept(task.tree)

    def _may_follow(self, task: SearchTask) -> bool:
        """Does the next turn of a game still wait, and nothing more urgent before it?"""
        if task.begun or task.stopped:
            return False
        waiting = self._waiting.get(task.owner, [])
        while waiting and waiting[0][2].begun:
            heapq.heappop(waiting)
        return not waiting or waiting[0][0] >= -task.request.priority

    def _forget_running(self, task: SearchTask) -> None:
        key = task.owner, task.request.priority
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]
            if not any(owner is task.owner for owner, _ in self._running):
                self._served.pop(task.owner, None)

    def _result(self, running: RunningSearch, reason: str) -> SearchResult:
        """The result of a search.

        If the root's evaluation is wanted but the tree, kept from an earlier search, has none, the
        root is evaluated now.
        """
        search = running.search
        result = search.result(reason)
        wanted = search.wanted.root_evaluation
        if not wanted or result.root_evaluation is not None or not result.visits:
            return result
        profile = search.trees.roots[search.g].human.profile
        evaluator = search.trees.evaluator
        found = evaluator.submit(encode_for(evaluator, [result.position], profile)).result()
        evaluation = Evaluation(*(values[0] for values in found))
        search.trees.root_evaluations[search.g] = evaluation
        return replace(result, root_evaluation=evaluation)

    def _end(self, task: SearchTask, outcome: SearchResult | Exception | None) -> None:
        """Deliver the outcome of a task; None: it is cancelled."""

        def deliver() -> None:
            if outcome is None:
                task.future.cancel()
            else:
                task.finish(outcome)
            with self._counting:
                self._unfinished -= 1
                self._counting.notify_all()

        self._deliveries.append(deliver)

    # Searching

    def _start_flight(self) -> bool:
        """Find leaves in the trees whose turn it is, and submit them; False if none is ready."""
        if self._raw:
            raw = self._raw.popleft()
            self._submit(raw.evaluator, [raw.batch], _Flight([], None, raw.future))
            return True
        chosen = self._choose_trees()
        if not chosen:
            return False
        parts: list[tuple[TreePool, LeafFlight]] = []
        leaves = -(-self.batch_size // sum(map(len, chosen.values())))
        for pool, numbers in chosen.items():
            trees, records = pool.trees, np.array(numbers)
            trees.forest.trees["leaves"][records] = min(trees.leaves, leaves)
            part = trees.find_leaves(records)
            for g in numbers:
                running = pool.running[g]
                running.in_flight += 1
                self._served[running.task.owner] += max(1.0, part.rows / len(numbers))
            parts.append((pool, part))
        inputs = [part.inputs for _, part in parts if part.rows]
        self._submit(parts[0][0].trees.evaluator, inputs, _Flight(parts, None))
        return True

    def _submit(self, evaluator: Evaluator, inputs: list[Batch], flight: _Flight) -> None:
        """Hand the inputs of a flight to their network, as one batch."""
        pending = None
        try:
            for pool, part in flight.parts:
                pool.trees.ask_people(part)
            if inputs:
                batch = inputs[0] if len(inputs) == 1 else join_batches(inputs)
                pending = evaluator.submit(batch)
        except Exception as error:
            self._fail(flight, error)
        else:
            self._flights.append(flight._replace(pending=pending))

    def _choose_trees(self) -> dict[TreePool, list[int]]:
        """The trees whose turn it is, by pool: a share of all, so that the next flight has some."""
        ready = self._ready_trees()
        if not ready:
            return {}

        def turn(each: _ReadyTree) -> tuple[int, float]:
            task = each.running.task
            return -task.request.priority, self._served[task.owner]

        ready.sort(key=turn)
        self._clock = self._served[ready[0].running.task.owner]
        size = ready[0].running.task.request.position.size
        evaluator = ready[0].pool.trees.evaluator
        share = -(-self._running.total() // self._max_flights)
        chosen: dict[TreePool, list[int]] = {}
        for pool, g, running in ready:
            same = running.task.request.position.size == size
            if same and pool.trees.evaluator is evaluator:
                chosen.setdefault(pool, []).append(g)
                share -= 1
                if share <= 0:
                    break
        return chosen

    def _ready_trees(self) -> list[_ReadyTree]:
        """The searches that may have another flight; those past a limit are ended on the way."""
        ready = []
        for pool in self._pools:
            for g, running in list(pool.running.items()):
                if running.in_flight >= pool.flights_per_tree:
                    continue
                if running.task.stopped or running.search.limits.seconds is not None:
                    self._look_at(pool, g, running)
                    if pool.running.get(g) is not running:
                        continue
                if not running.ending:
                    ready.append(_ReadyTree(pool, g, running))
        return ready

    def _finish_flight(self, flight: _Flight) -> None:
        """Wait for a batch, expand its leaves, and look at their trees."""
        try:
            evaluation = None if flight.pending is None else flight.pending.result()
        except Exception as error:
            self._fail(flight, error)
            return
        if flight.raw is not None:
            assert evaluation is not None
            flight.raw.set_result(evaluation)
            return
        with self.lock:
            try:
                self._take_in(flight, evaluation)
            except Exception as error:  # a bug must not end the thread
                self._fail(flight, error)

    def _take_in(self, flight: _Flight, evaluation: Evaluation | None) -> None:
        begin = 0
        for pool, part in flight.parts:
            end = begin + part.rows
            if pool not in self._pools:  # its network failed meanwhile
                begin = end
                continue
            rows = None
            if part.rows and evaluation is not None:
                whole = end - begin == len(evaluation.policy)
                rows = evaluation if whole else Evaluation(*(a[begin:end] for a in evaluation))
            pool.trees.expand(part, rows)
            pool.trees.prepare(part.trees)
            self._leaves_done += part.rows
            begin = end
            now = time.monotonic()
            for g in part.trees.tolist():
                running = pool.running[g]
                running.in_flight -= 1
                running.search.note_batch(now - running.checked)
                running.checked = now
                self._look_at(pool, g, running)

    def _look_at(self, pool: TreePool, g: int, running: RunningSearch) -> None:
        """Report, make room in, or end the search in a tree."""
        reason = running.search.stop_reason(cancelled=running.task.stopped)
        if reason == TIME and not pool.trees.visits(g):
            reason = None  # even without time left, at least one visit
        running.ending = reason is not None
        if pool.trees.forest.trees[g]["full"]:
            running.ending = True  # no new flights until those under way have come back
            if not running.in_flight and reason is None:
                pool.trees.make_room(g)
                running.ending = False
        if reason is not None and not running.in_flight:
            self._finish(pool, g, reason)
        elif time.monotonic() >= running.next_report:
            self._report(running)

    def _report(self, running: RunningSearch) -> None:
        task = running.task
        interval = task.request.progress_interval
        due = running.next_report + (math.inf if interval is None else interval)
        running.next_report = max(due, time.monotonic())  # a late report does not delay the next
        result = self._result(running, RUNNING)

        def deliver() -> None:
            try:
                if task.on_progress is not None and not task.future.done():
                    task.on_progress(result)
            except Exception as error:  # reported to the caller; the thread goes on
                task.stopped = True
                task.finish(error)

        self._deliveries.append(deliver)

    def _fail(self, flight: _Flight, error: Exception) -> None:
        """Fail all tasks of a flight's pools, whose trees would have leaves pending for ever."""
        if flight.raw is not None:
            flight.raw.set_exception(error)
        with self.lock:
            for pool in [pool for pool, _ in flight.parts if pool in self._pools]:
                self._pools.drop(pool)
                for running in pool.running.values():
                    self._forget_running(running.task)
                    self._end(running.task, error)
                pool.running.clear()
