"""An engine that loads in the background, while clients are answered already."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from tengen.closeable import Closeable

if TYPE_CHECKING:
    from tengen.engine.engine import Engine

NICENESS = 5


class EngineLoader(Closeable):
    """An engine that is made in a thread of its own, and closed in the end."""

    def __init__(self, make: Callable[[], Engine], *, low_priority: bool = False) -> None:
        """Begin; what `make` raises is raised by `engine`.

        With low priority, all threads of the engine and its network give way to others.
        """
        self._low_priority = low_priority
        self.future: Future[Engine] = Future()
        self._thread = threading.Thread(target=self._work, args=[make], name="loading", daemon=True)
        self._thread.start()

    def _work(self, make: Callable[[], Engine]) -> None:
        if self._low_priority and sys.platform == "linux":  # elsewhere threads have no priorities
            with suppress(OSError):
                os.nice(NICENESS)  # inherited by the threads that this one starts
        try:
            engine = make()
        except BaseException as error:  # whoever waits for the engine gets it
            self.future.set_exception(error)
        else:
            self.future.set_result(engine)

    @property
    def engine(self) -> Engine:
        """The engine, once it is there; raises what went wrong."""
        return self.future.result()

    @property
    def engine_if_ready(self) -> Engine | None:
        """The engine; None before it is there, and if it failed."""
        return self.future.result() if self.ready else None

    @property
    def ready(self) -> bool:
        """Is the engine there?"""
        return self.future.done() and self.future.exception() is None

    def wait(self) -> None:
        """Wait until the engine is there or has failed, and callbacks have been called."""
        self._thread.join()

    def close(self) -> None:
        """Wait for the engine, and close it."""
        self.wait()  # a thread in native code does not survive the end of the process
        if self.ready:
            self.engine.close()
