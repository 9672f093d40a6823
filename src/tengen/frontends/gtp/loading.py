"""An engine that gets ready in the background, while commands are answered already."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.options import GtpOptions
from tengen.frontends.gtp.protocol import GtpError, note
from tengen.frontends.loading import InBackground, load_evaluator

if TYPE_CHECKING:
    from tengen.engine.engine import Engine


class Loaded(NamedTuple):
    """An engine, and what is known of its network."""

    engine: Engine
    katago_version: int = 0  # of the network's file; 0 if it is not KataGo's
    file: str = ""  # the network's, without folders


class EngineLoader:
    """An engine now or later."""

    def __init__(self, make: Callable[[], Loaded]) -> None:
        """Begin to make it."""
        self._engine: Future[Loaded] = InBackground(lambda: _made(make)).future

    @property
    def ready(self) -> bool:
        """Is it known whether there is an engine?"""
        return self._engine.done()

    def loaded(self) -> Loaded:
        """Wait for the engine; raises GtpError if there is none."""
        return self._engine.result()

    def check(self) -> None:
        """Raise GtpError if it is known that there is no engine; waits for nothing."""
        if self.ready:
            self.loaded()

    def engine_if_ready(self) -> Engine | None:
        """The engine, None if there is none now."""
        if not self.ready or self._engine.exception() is not None:
            return None
        return self._engine.result().engine


def _made(make: Callable[[], Loaded]) -> Loaded:
    """What `make` makes; raises GtpError, after telling the user, if it cannot."""
    try:
        return make()
    except BaseException as error:
        message = " ".join(f"the network cannot be used: {error}".split())
        note(message)
        raise GtpError(message) from None


def start_loading(options: GtpOptions) -> EngineLoader:
    """Load the network that the options name."""

    def make() -> Loaded:
        from tengen.engine.engine import Engine

        network = load_evaluator(options.model, options.device)
        engine = Engine(
            network.evaluator, params=options.params, leaves=options.leaves, seed=options.seed
        )
        note(f"ready: {engine.name} on {engine.device}")
        return Loaded(engine, network.katago_version, network.file)

    return EngineLoader(make)
