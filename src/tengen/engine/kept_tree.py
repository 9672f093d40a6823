"""A search tree that is kept between searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tengen.closeable import Closeable
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.request import Wanted
from tengen.search.result import MoveResult

if TYPE_CHECKING:
    from tengen.engine.scheduler import Scheduler
    from tengen.engine.task import SearchTask
    from tengen.engine.tree_pool import TreePool


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
        self.latest: SearchTask | None = None  # that was submitted for it
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
        """Forget the tree; stops the search under way."""
        self.stop()
        self.scheduler.drop_tree(self)

    def close(self) -> None:
        """Free the tree."""
        self.clear()
