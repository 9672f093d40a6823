"""Networks that load in the background, while clients are answered already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tengen.network.evaluator import Evaluator

Made = TypeVar("Made")


class Network(NamedTuple):
    """A network that runs, and what is known of its file."""

    evaluator: Evaluator
    file: str = ""  # its name, without folders
    version: int = 0  # of KataGo's format, 0 if it is not KataGo's


def load_evaluator(model: str, device: str, streams: int = 1) -> Network:
    """The network of a file on its device; raises what loading it raises.

    On the CPU, `streams` batches are computed at the same time.
    """
    from tengen.network.backends.registry import open_evaluator
    from tengen.network.files.loading import find_network, load_network

    data = load_network(model)
    version = data.provenance.get("katago_version", "")
    return Network(
        evaluator=open_evaluator(data, device, streams=streams),
        file=find_network(model).name,
        version=int(version) if version.isdecimal() else 0,
    )


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
