"""Searching in a thread of its own: for pondering, live analysis, whatever is interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue

from tengen.closeable import Closeable
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.params import Limits, SearchParams
from tengen.search.result import MoveResult, SearchResult, Wanted
from tengen.search.search import ROOT_DEFAULTS, RootOptions, Search

Progress = Callable[[SearchResult], None]


@dataclass(frozen=True, eq=False)
class Task:
    """A search that was asked for; its answers are about its own position, or there are none."""

    position: Position
    limits: Limits
    options: RootOptions
    wanted: Wanted
    on_progress: Progress | None
    every: float
    _stop: threading.Event = field(default_factory=threading.Event)
    future: Future[SearchResult] = field(default_factory=Future)

    def cancel(self) -> None:
        """End it within one batch; what it found until then is its result."""
        self._stop.set()

    @property
    def done(self) -> bool:
        return self.future.done()

    def result(self, timeout: float | None = None) -> SearchResult:
        """Wait for its end; raises TimeoutError, or what went wrong in the search."""
        return self.future.result(timeout)


class BackgroundSearch(Closeable):
    """One search at a time in a thread of its own; a new one ends the one under way.

    All methods may be called from any thread. Close it, or use it in a `with` statement.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._lock = threading.Lock()
        self._latest: Task | None = None
        self._running: Task | None = None
        self._queue: SimpleQueue[Task | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="search", daemon=True)
        self._thread.start()

    def start(
        self,
        position: Position,
        limits: Limits,
        *,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted | None = None,
        on_progress: Progress | None = None,
        every: float = 0.1,
    ) -> Task:
        """Search a position, in the place of what is under way; raises ValueError when closed."""
        task = Task(position, limits, options, wanted or Wanted(), on_progress, every)
        with self._lock:
            if self._closed:
                raise ValueError("the search has been closed")
            if self._latest is not None:
                self._latest.cancel()
            self._latest = task
            self._queue.put(task)
        return task

    def snapshot(self, task: Task, wanted: Wanted | None = None) -> SearchResult | None:
        """What a task has found so far; None before it begins and after its end."""
        with self._lock:
            if self._running is not task:
                return None
            return self._search.result(wanted or task.wanted)

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """What the tree knows of the end of a line; see Search."""
        return self._search.moves_after(branch, wanted)

    def stop(self) -> None:
        """End what is under way, within one batch."""
        with self._lock:
            if self._latest is not None:
                self._latest.cancel()

    def set_params(self, params: SearchParams) -> None:
        """Search with other parameters from now on; ends what is under way."""
        self.stop()
        self._search.set_params(params)

    def forget(self) -> None:
        """Drop the tree; ends what is under way."""
        self.stop()
        self._search.forget()

    def close(self) -> None:
        """End the thread, and what it is searching."""
        with self._lock:
            self._closed = True
            if self._latest is not None:
                self._latest.cancel()
            self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                result = self._run(task)
            except BaseException as error:  # whoever asked must hear of it, and the thread go on
                task.future.set_exception(error)
            else:
                task.future.set_result(result)

    def _run(self, task: Task) -> SearchResult:
        with self._lock:
            self._search.set_position(task.position, task.options)
            self._running = task
        try:
            return self._search.run(
                task.limits,
                wanted=task.wanted,
                stop=task._stop,
                on_progress=task.on_progress,
                every=task.every,
            )
        finally:
            with self._lock:
                self._running = None
