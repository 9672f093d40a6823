"""The actors: worker, learner and rater, as Ray starts and restarts them.

Arguments and results are text and numbers alone, and every actor has one long call in flight.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tengen.runs.folder import RunError
from tengen.runs.params import Session


class WorkerActor:
    """Plays games; each start of it is a session of its own."""

    def __init__(self, location: str, device: str, threads: int, label: str) -> None:
        self._arguments = location, device, label
        self._threads = threads
        self._stop = threading.Event()

    def run(self) -> str:
        """Play until the run ends or `stop`; returns why."""
        from tengen.cluster.worker import work

        use_threads(self._threads)
        return work(*self._arguments, self._stop.is_set)

    def stop(self) -> None:
        """End after the games at hand are written."""
        self._stop.set()


class LearnerActor:
    """Learns; started again it goes on from the last checkpoint."""

    def __init__(self, location: str, pack: str, threads: int) -> None:
        self._location, self._threads = location, threads
        self._session = Session(pack=Path(pack) if pack else None)
        self._stop = threading.Event()

    def run(self) -> dict[str, Any]:
        """Learn until the run ends or `stop`: whether it has ended, or an error for people."""
        from tengen.cluster.learner import learn_patiently

        use_threads(self._threads)
        try:
            return {"ended": learn_patiently(self._location, self._session, self._stop)}
        except (RunError, ValueError) as error:
            return {"error": str(error)}

    def stop(self) -> None:
        """Save and end the session."""
        self._stop.set()


class RaterActor:
    """Rates networks."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._stop = threading.Event()

    def run(self) -> str:
        """Rate until the run ends or `stop`; returns why."""
        from tengen.cluster.rater import rate

        use_threads(1)
        return rate(self._location, self._stop.is_set)

    def stop(self) -> None:
        """End after the move at hand."""
        self._stop.set()


def use_threads(threads: int) -> None:
    """Let kernels and torch use so many threads, or as many as there are."""
    import numba
    import torch

    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))
    torch.set_num_threads(max(1, threads))
