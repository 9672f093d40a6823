"""Work beside a run: by a thread, one piece at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec

from tengen.closeable import Closeable

P = ParamSpec("P")


class Beside(Closeable):
    """A thread that does one thing after another; what goes wrong is raised to who waits."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._under_way: Future[None] | None = None

    def start(self, work: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Begin this when what is under way is done; waits for that, and raises what it raised."""
        self.finish()
        self._under_way = self._pool.submit(work, *args, **kwargs)

    def finish(self) -> None:
        """Wait until all is done; raises what it raised, once."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def close(self) -> None:
        """End the thread, when it is done."""
        self._pool.shutdown()
