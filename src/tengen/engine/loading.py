"""Networks and engines that load in the background, while clients are answered already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from tengen.closeable import Closeable

Made = TypeVar("Made", bound=Closeable)


class InBackground(Closeable, Generic[Made]):
    """Something that is made in a thread of its own, and closed in the end."""

    def __init__(self, make: Callable[[], Made]) -> None:
        """Begin; what `make` raises is raised by `result`."""
        self.future: Future[Made] = Future()
        self._thread = threading.Thread(target=self._work, args=[make], name="loading", daemon=True)
        self._thread.start()

    def _work(self, make: Callable[[], Made]) -> None:
        try:
            made = make()
        except BaseException as error:  # whoever waits for the result gets it
            self.future.set_exception(error)
        else:
            self.future.set_result(made)

    @property
    def ready(self) -> bool:
        """Is it made?"""
        return self.future.done() and self.future.exception() is None

    def result(self) -> Made:
        """Wait until it is made; raises what went wrong."""
        return self.future.result()

    def if_ready(self) -> Made | None:
        """What was made; None before, and if it failed."""
        return self.future.result() if self.ready else None

    def wait(self) -> None:
        """Wait until it is made or has failed, and callbacks have been called."""
        self._thread.join()

    def close(self) -> None:
        """Wait until it is made, and close it."""
        self.wait()
        if self.ready:
            self.result().close()
