"""Work for people who learn, in threads of its own: what one asks for delays nobody's game."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tengen.closeable import Closeable
from tengen.frontends.web.limits import not_now

THREADS = 4
MOST_WAITING = 24  # requests, those under way included

Result = TypeVar("Result")


class LearningWork(Closeable):
    """Threads for requests, of which few may wait; close it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="learn")
        self._room = threading.Semaphore(MOST_WAITING)

    async def do(self, work: Callable[[], Result]) -> Result:
        """What `work` returns or raises; raises RefusedError where too many wait."""
        if not self._room.acquire(blocking=False):
            raise not_now("too many people are waiting; try again later", "busy")
        future = self._threads.submit(work)
        future.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Do what is under way, and nothing that waits."""
        self._threads.shutdown(cancel_futures=True)
