"""A background thread that does one task at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec

from tengen.closeable import Closeable

P = ParamSpec("P")


class BackgroundThread(Closeable):
    """Runs one task at a time. Exceptions re-raise in the next `start` or `finish`."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._task: Future[None] | None = None

    def start(self, task: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Wait for the previous task, then start this one."""
        self.finish()
        self._task = self._pool.submit(task, *args, **kwargs)

    def is_idle(self) -> bool:
        """Whether no task is under way."""
        return self._task is None or self._task.done()

    def finish(self) -> None:
        """Wait for the task under way, if there is one."""
        task, self._task = self._task, None
        if task is not None:
            task.result()

    def close(self) -> None:
        """Wait for the task under way and end the thread."""
        self._pool.shutdown()
