"""Observers of a run's metrics: a logger of another service, a notebook, a stopping rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tengen.user_messages import say


class RunObserver(Protocol):
    """Receives a run's metrics as they are written: any function with these parameters."""

    def __call__(self, step: int, metrics: Mapping[str, float]) -> object:
        """Take the metrics of an iteration or of a rating, such as {"loss/policy": 1.2}.

        Called in the run's own loop, which waits for it.
        """


class Observers:
    """Several observers; one that fails is reported and dropped, and the run goes on."""

    def __init__(self, observers: Sequence[RunObserver] = ()) -> None:
        self._observers = list(observers)

    def notify(self, step: int, metrics: Mapping[str, float]) -> None:
        """Pass metrics to all of them."""
        for observer in tuple(self._observers):
            try:
                observer(step, dict(metrics))
            except Exception as error:  # whatever it raises is not the run's
                self._observers.remove(observer)
                name = getattr(observer, "__name__", type(observer).__name__)
                why = f"{type(error).__name__}: {error}"
                say(f"{name} failed and gets no more metrics of this run: {why}")
