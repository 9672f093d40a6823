"""One network and a fixed number of threads that search for all sessions, each in its turn."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from tengen.closeable import Closeable
from tengen.frontends.loading import InBackground, Network
from tengen.frontends.web.play.turnstile import Turnstile, TurnTaking

if TYPE_CHECKING:
    from tengen.game.position import Position
    from tengen.network.batching import BatchingEvaluator
    from tengen.network.evaluator import Evaluator
    from tengen.search.memory import Memory
    from tengen.search.request import RootOptions
    from tengen.search.result import SearchResult

WORKERS = 16  # searches that have begun
REVIEWERS = 2  # and reviews, which take long
PLACES = 6  # of all of these that search at a time: together they fill the network's batches
TURN_SECONDS = 0.03
MOST_STREAMS = 4
LARGEST_BATCH = 256
NICENESS = 5
CACHE_MEGABYTES = 128.0
TREE_MEGABYTES = 1024.0  # for the trees of all live analyses
DESK_MEGABYTES = 64.0

Found = TypeVar("Found")


class Desk:
    """What a thread works with: a searcher that remembers nothing of the work before."""

    def __init__(self, evaluator: Evaluator) -> None:
        from tengen.search.params import SearchParams
        from tengen.search.search import Search

        self.evaluator = TurnTaking(evaluator)
        self.stop = threading.Event()  # what is being done is not wanted any more
        self._search = Search(self.evaluator, SearchParams(megabytes=DESK_MEGABYTES))

    def search(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        options: RootOptions | None = None,
    ) -> SearchResult:
        """Search a position, who owns what included."""
        from tengen.search.request import ROOT_DEFAULTS, Limits, Wanted

        self._search.set_position(position, options or ROOT_DEFAULTS)
        limits = Limits(visits=visits, seconds=seconds)
        return self._search.run(limits, wanted=Wanted(ownership=True), stop=self.stop)

    def hurry(self) -> None:
        """Have the work under way end soon."""
        self.stop.set()
        if self.evaluator.turn is not None:
            self.evaluator.turn.hurried = True

    def tidy_up(self) -> None:
        """Forget the work that is done."""
        self.evaluator.turn = None
        self._search.forget()


class Job(Generic[Found]):
    """Work that was asked for."""

    def __init__(self, owner: str, work: Callable[[Desk], Found]) -> None:
        self.owner, self._work = owner, work
        self.future: Future[Found] = Future()
        self._lock = threading.Lock()
        self._desk: Desk | None = None
        self._hurried = False

    def cancel(self) -> None:
        """Have it end soon, or not begin at all; nobody looks at what it finds."""
        self.hurry()
        self.future.cancel()

    def hurry(self) -> None:
        """Have it end soon, with what it has found."""
        with self._lock:
            self._hurried = True
            if self._desk is not None:
                self._desk.hurry()

    def run(self, desk: Desk, turnstile: Turnstile) -> None:
        """Do the work at a desk, when it has its turn."""
        if not self.future.set_running_or_notify_cancel():
            return
        desk.stop.clear()
        with turnstile.turn(self.owner) as turn:
            desk.evaluator.turn = turn
            with self._lock:
                self._desk = desk
                if self._hurried:
                    desk.hurry()
            try:
                found = self._work(desk)
            except BaseException as error:  # whoever asked must hear of it, and the thread go on
                self.future.set_exception(error)
            else:
                self.future.set_result(found)
            finally:
                with self._lock:
                    self._desk = None
                desk.tidy_up()


class Ready(NamedTuple):
    """A network that all share."""

    network: Network
    evaluator: Evaluator
    shared: BatchingEvaluator


class EngineRoom(Closeable):
    """Loads the network in the background; then searches. Close it in the end.

    All methods may be called from any thread.
    """

    def __init__(self, make: Callable[[], Network]) -> None:
        self._make = make
        self._turnstile = Turnstile(PLACES, TURN_SECONDS)
        self._desks: list[Desk] = []
        self._at_desk = threading.local()
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="search")
        self._reviewers = ThreadPoolExecutor(REVIEWERS, thread_name_prefix="review")
        self._memory: Memory | None = None
        self.loading = InBackground(self._load)

    def _load(self) -> Ready:
        _give_way()  # so do the threads that the network's runtime starts from here
        from tengen.network.batching import BatchingEvaluator
        from tengen.network.cache import CachingEvaluator
        from tengen.search.memory import Memory
        from tengen.search.warmup import compile_kernels

        network = self._make()
        compile_kernels(network.evaluator.features)
        self._memory = Memory(TREE_MEGABYTES)
        in_flight = network.evaluator.parallel_batches
        shared = BatchingEvaluator(network.evaluator, LARGEST_BATCH, in_flight)
        return Ready(network, CachingEvaluator(shared, CACHE_MEGABYTES), shared)

    @property
    def ready(self) -> bool:
        """Is the network there?"""
        future = self.loading.future
        return future.done() and future.exception() is None

    @property
    def evaluator(self) -> Evaluator:
        """The network for all threads; only when it is there."""
        return self.loading.future.result().evaluator

    @property
    def network(self) -> Network | None:
        """The network, once it is there."""
        return self.loading.future.result().network if self.ready else None

    @property
    def memory(self) -> Memory:
        """What the trees of live analyses may take; only when the network is there."""
        assert self._memory is not None
        return self._memory

    def submit(
        self, owner: str, work: Callable[[Desk], Found], *, takes_long: bool = False
    ) -> Job[Found]:
        """Have work done, when the network is there; raises ValueError when it is not."""
        if not self.ready:
            raise ValueError("the network is not there yet")
        job = Job(owner, work)
        pool = self._reviewers if takes_long else self._workers
        pool.submit(self._do, job)
        return job

    def _do(self, job: Job[Found]) -> None:
        desk: Desk | None = getattr(self._at_desk, "desk", None)
        if desk is None:
            _give_way()
            desk = self._at_desk.desk = Desk(self.evaluator)
            with self._lock:
                self._desks.append(desk)
        job.run(desk, self._turnstile)

    def close(self) -> None:
        """End all searches, the threads and the network."""
        self.loading.wait()
        with self._lock:
            for desk in self._desks:
                desk.hurry()
        for pool in (self._workers, self._reviewers):
            pool.shutdown(wait=True, cancel_futures=True)
        if self.ready:
            self.loading.future.result().shared.close()


def _give_way() -> None:
    """Let this thread, and those it starts, yield to threads that answer people.

    Only Linux has priorities of threads.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.nice(NICENESS)


def load_network(model: str, device: str) -> Network:
    """The network of a file on its device; raises what loading it raises."""
    from tengen.frontends.loading import load_evaluator

    return load_evaluator(model, device, min(MOST_STREAMS, os.cpu_count() or 1))
