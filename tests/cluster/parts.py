"""The parts of a run as threads of one process, without Ray: they share files alone."""

from __future__ import annotations

import faulthandler
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from tengen.cluster.driver import prepare
from tengen.cluster.learner import learn_patiently
from tengen.cluster.manifest import Manifest, read_manifest
from tengen.cluster.rater import rate
from tengen.cluster.worker import work
from tengen.runs.exchange import read_json, session_file, sessions
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.params import RunConfig, Session
from tengen.runs.store import open_store
from tests.cluster.tiny import TINY

# Nothing here takes more than seconds, but other programs may take the cores, and kernels may have
# to be compiled first.
MOST_SECONDS = 900.0


class Parts:
    """The parts of a run, each in a thread."""

    def __init__(self, location: str, config: RunConfig = TINY) -> None:
        self.location, self.store = location, open_store(location)
        prepare(location, config, Session())
        self.stop, self.stop_learner = threading.Event(), threading.Event()
        self.results: dict[str, object] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._awaited: set[str] = set()  # parts that may fail: their results are looked at

    def start(self, name: str, call: Callable[[], object]) -> None:
        def run() -> None:
            numba.set_num_threads(1)  # which is each thread's own setting
            try:
                self.results[name] = call()
            except Exception as error:
                self.results[name] = error

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self._threads[name] = thread

    def learner(self, name: str = "learner") -> None:
        """A learner, which `stop_learner` ends."""
        self.stop_learner = threading.Event()
        stop = self.stop_learner
        self.start(name, lambda: learn_patiently(self.location, Session(), stop))

    def worker(self, name: str = "worker 1") -> None:
        self.start(name, lambda: work(self.location, "cpu", name, self.stop.is_set))

    def rater(self) -> None:
        self.start("rater", lambda: rate(self.location, self.stop.is_set))

    @property
    def manifest(self) -> Manifest:
        return read_manifest(self.store)

    def beat(self, session: int) -> dict[str, Any]:
        """The last heartbeat of a session."""
        return read_json(self.store, session_file(session))

    def result(self, name: str) -> object:
        """What a part returned or raised, as soon as it has ended."""
        self._awaited.add(name)
        self.wait_for(lambda: name in self.results, f"the end of the {name}")
        return self.results[name]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds; fails at once if it cannot hold any more."""
        deadline = time.monotonic() + MOST_SECONDS
        while not condition():
            for name, result in list(self.results.items()):
                if isinstance(result, Exception) and name not in self._awaited:
                    raise AssertionError(f"the {name} failed, waiting for {what}") from result
            if time.monotonic() > deadline:
                faulthandler.dump_traceback(2)
                beats = {each: self.beat(each) for each in sessions(self.store)}
                raise AssertionError(
                    f"waited in vain for {what}: {self.results}, {self.manifest}, {beats}"
                )
            time.sleep(0.02)

    def wait_for_iterations(self, count: int = 2) -> None:
        """Wait until so many more iterations have ended."""
        lines = RunFolder(Path(self.location)).metrics
        wanted = len(read_lines(lines)) + count
        self.wait_for(lambda: len(read_lines(lines)) >= wanted, f"{count} iterations")

    def close(self) -> None:
        self.stop.set()
        self.stop_learner.set()
        for name, thread in self._threads.items():
            thread.join(MOST_SECONDS)
            assert not thread.is_alive(), name
