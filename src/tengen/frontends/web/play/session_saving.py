"""When a session's game is saved: at once, unless that takes too much of the event loop's time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future

CHEAP = 0.002  # seconds of processor time up to which a save never waits
SHARE = 0.05  # of the event loop's time that a session may take by saves that cost more


class SessionSaving:
    """Saves now or soon. Not thread-safe: belongs to the event loop."""

    def __init__(self, begin: Callable[[], Future[None]]) -> None:
        """`begin` begins to save the game as it is; done when it is written."""
        self._begin, self._loop = begin, asyncio.get_running_loop()
        self.done: Future[None] | None = None  # when all that was saved so far is written
        self._later: asyncio.TimerHandle | None = None
        self._from = 0.0  # time of the loop before which no other save begins

    def save(self) -> None:
        """Save now, or soon where saving takes more than its share of time.

        Messages wait for the save that has the state they describe, even if it begins later.
        """
        if self._later is not None:
            return
        wait = self._from - self._loop.time()
        if wait <= 0:
            self.save_now()
        else:
            self.done = Future()
            self._later = self._loop.call_later(wait, self.save_now)

    def save_if_due(self) -> None:
        """Save now what was to be saved soon."""
        if self._later is not None:
            self.save_now()

    def save_now(self) -> None:
        """Save without waiting."""
        awaited = None
        if self._later is not None:
            self._later.cancel()
            self._later, awaited = None, self.done
        began = time.thread_time()
        self.done = self._begin()
        if awaited is not None:
            self.done.add_done_callback(lambda _: awaited.set_result(None))
        took = time.thread_time() - began
        if took > CHEAP:
            self._from = self._loop.time() + took / SHARE
