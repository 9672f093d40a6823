"""A search that was asked for: its progress, its result, and how to end it early."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from tengen.engine.kept_tree import KeptTree
from tengen.search.request import CANCELLED, SearchRequest
from tengen.search.result import SearchResult, empty_result

Progress: TypeAlias = Callable[[SearchResult], None]


@dataclass(eq=False)
class SearchTask:
    """One request on its way through the engine. All methods may be called from any thread."""

    request: SearchRequest
    owner: object  # owners get equal shares of the network
    on_progress: Progress | None = None  # called in the engine's thread; must not block
    tree: KeptTree | None = None  # to go on with; None: a tree of its own
    next_turn: SearchTask | None = None  # of the same game, best searched in the same tree
    future: Future[SearchResult] = field(default_factory=Future)
    stopped: bool = False
    begun: bool = False  # the scheduler has taken it up
    on_stop: Callable[[], None] = lambda: None  # wakes the scheduler

    def stop(self) -> None:
        """End it within one batch; what it found until then is its result.

        A task that has not begun has a result without visits at once.
        """
        self.stopped = True
        if not self.begun:
            self.finish(empty_result(self.request.position, CANCELLED))
        self.on_stop()

    def cancel(self) -> None:
        """End it without a result: nobody waits for it."""
        self.future.cancel()
        self.stop()

    def finish(self, outcome: SearchResult | Exception) -> None:
        """Set its result or what went wrong, unless it has ended already."""
        with suppress(InvalidStateError):  # it was stopped or cancelled meanwhile
            if isinstance(outcome, Exception):
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)

    @property
    def done(self) -> bool:
        """Is its result there?"""
        return self.future.done()

    def result(self, timeout: float | None = None) -> SearchResult:
        """Wait for its end; raises TimeoutError, or what went wrong in the search."""
        return self.future.result(timeout)
