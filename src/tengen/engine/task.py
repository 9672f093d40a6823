"""SearchTask, a request with its future result; KeptTree, a tree kept between searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tengen.closeable import Closeable
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.request import CANCELLED, SearchRequest, Wanted
from tengen.search.result import MoveResult, SearchResult, empty_result

if TYPE_CHECKING:
    from tengen.engine.scheduler import Scheduler
    from tengen.engine.tree_pools import TreePool

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
        """End it without a result; nobody may be waiting for one."""
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


class KeptTree(Closeable):
    """The tree of one game: each search goes on with what the one before found.

    A new search in it stops the one under way. Close it to free its memory.
    """

    def __init__(
        self, scheduler: Scheduler, *, ownership: bool, max_visits: int | None, megabytes: float
    ) -> None:
        """With `max_visits`, searches are never larger, and share memory and kernel calls with
        others; without, the tree has so many megabytes to itself.
        """
        self.scheduler = scheduler
        self.ownership, self.max_visits, self.megabytes = ownership, max_visits, megabytes
        self.pool: TreePool | None = None  # where the tree is, once there is one
        self.g = 0  # its index there
        self.latest: SearchTask | None = None  # the task submitted last for it
        self.is_dropped = False  # it is freed at the end of the search in it

    @property
    def is_searched(self) -> bool:
        """Is a search under way in it?"""
        return self.pool is not None and self.g in self.pool.running

    def stop(self) -> None:
        """Stop the search under way."""
        if self.latest is not None:
            self.latest.stop()

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from the position searched last, and the moves tried there.

        Raises ValueError for a line that is not legal, or before any search.
        """
        with self.scheduler.lock:
            if self.pool is None:
                raise ValueError("nothing was searched yet")
            return self.pool.trees.moves_after(self.g, branch, wanted or Wanted())

    def clear(self) -> None:
        """Forget the tree and free its memory; stops the search under way."""
        self.stop()
        self.scheduler.drop_tree(self)

    close = clear
