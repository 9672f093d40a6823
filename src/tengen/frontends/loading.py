"""Networks that load in the background, while clients are answered already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from tengen.network.loaded_network import LoadedNetwork as Network
from tengen.network.loaded_network import open_network as load_evaluator

__all__ = ["InBackground", "Network", "load_evaluator"]

Made = TypeVar("Made")


class InBackground(Generic[Made]):
    """Something that is made in a thread of its own."""

    def __init__(self, make: Callable[[], Made]) -> None:
        """Begin; what `make` raises is raised for whoever asks for the result."""
        self.future: Future[Made] = Future()
        self._thread = threading.Thread(target=self._work, args=[make], name="loading", daemon=True)
        self._thread.start()

    def _work(self, make: Callable[[], Made]) -> None:
        try:
            made = make()
        except BaseException as error:  # whoever asks for it must hear of it
            self.future.set_exception(error)
        else:
            self.future.set_result(made)

    def wait(self) -> None:
        """Wait until it is made, or known not to be, and who asked for it was told."""
        self._thread.join()
