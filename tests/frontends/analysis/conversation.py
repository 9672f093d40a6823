"""A client for tests: a session in this process, and a network that thinks Black is ahead."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tengen.closeable import Closeable
from tengen.frontends.analysis.client_session import AnalysisClient, OutputLine
from tengen.frontends.analysis.server import AnalysisService
from tengen.frontends.command_options import AnalysisOptions
from tengen.network.evaluator import Batch, Evaluation, Evaluator
from tengen.network.fake import FakeEvaluator
from tengen.network.loaded_network import LoadedNetwork
from tengen.search.warmup import compile_kernels

OWN_KOMI = 5  # among the globals: positive for White, as long as komi is
LIMIT = 20.0  # seconds


def black_is_ahead(batch: Batch) -> Evaluation:
    """Black wins 80 games of 100 by 5 points and owns a half of each point; lower rows first."""
    n, _, height, width = batch.planes.shape
    sign = np.where(batch.globals[:, OWN_KOMI] > 0, -1, 1).astype(np.float32)
    win = 0.5 + 0.3 * sign
    rows = np.repeat(np.arange(height, dtype=np.float32) / 4, width)
    policy = np.tile(np.append(rows, np.float32(-3)), (n, 1)).astype(np.float32)
    return Evaluation(
        policy=policy,
        value=np.stack([win, 1 - win, 0 * win], 1).astype(np.float32),
        score=(6 * sign).astype(np.float32),
        spread=np.full(n, 10, np.float32),
        lead=(5 * sign).astype(np.float32),
        variance_time=np.full(n, 30, np.float32),
        value_error=np.full(n, 0.2, np.float32),
        score_error=np.full(n, 2, np.float32),
        ownership=np.broadcast_to(0.5 * sign[:, None, None], (n, height, width)).astype(np.float32),
    )


AHEAD = FakeEvaluator(black_is_ahead)


def network(evaluator: Evaluator = AHEAD) -> LoadedNetwork:
    """An evaluator as if it came from a file of KataGo's."""
    return LoadedNetwork(evaluator, "fake.bin.gz", katago_version=8)


def slow(seconds: float) -> FakeEvaluator:
    """The same, but each batch takes its time."""

    def script(batch: Batch) -> Evaluation:
        time.sleep(seconds)
        return black_is_ahead(batch)

    return FakeEvaluator(script)


@cache
def warm() -> None:
    """Have all kernels compiled, which on a busy machine takes longer than any answer may."""
    compile_kernels()


class Conversation(Closeable):
    """A client whose answers pile up."""

    def __init__(
        self,
        evaluator: Evaluator = AHEAD,
        load: Callable[[], LoadedNetwork] | None = None,
        **options: Any,
    ) -> None:
        options = {"visits": 10, "searches": 4, **options}
        warm()
        load = load or (lambda: network(evaluator))
        self.join(AnalysisService(AnalysisOptions("fake", **options), load))

    def join(self, service: AnalysisService) -> None:
        """Be a client of a service."""
        self.service = service
        self.answers: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self.session = AnalysisClient(service, self._note)

    def another_client(self) -> Conversation:
        """A client of the same service; close its session alone."""
        other = Conversation.__new__(Conversation)
        other.join(self.service)
        return other

    def _note(self, line: OutputLine) -> None:
        assert "\n" not in line.text
        with self._changed:
            self.answers.append(json.loads(line.text))
            self._changed.notify_all()

    def say(self, query: dict[str, Any] | str | bytes) -> None:
        self.session.take(json.dumps(query) if isinstance(query, dict) else query)

    def until(self, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """Wait until the answers are enough."""
        with self._changed:
            if not self._changed.wait_for(lambda: enough(self.answers), LIMIT):
                raise AssertionError(f"no answer in time; so far: {str(self.answers)[:2000]}")
            return list(self.answers)

    def more_than(self, count: int, seconds: float) -> bool:
        """Wait until there are more answers than so many; False after so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.answers) > count, seconds)

    def ask(self, query: dict[str, Any] | str | bytes, count: int = 1) -> list[dict[str, Any]]:
        """Say something and wait for so many more answers."""
        before = len(self.answers)
        self.say(query)
        return self.until(lambda answers: len(answers) >= before + count)[before:]

    def one(self, query: dict[str, Any] | str | bytes) -> dict[str, Any]:
        return self.ask(query)[0]

    def close(self) -> None:
        self.session.close()
        self.service.close()


def query(**fields: Any) -> dict[str, Any]:
    """A small query that is fine as it is; None takes a field away."""
    usual = {
        "id": "q",
        "moves": [],
        "rules": "tromp-taylor",
        "komi": 7.5,
        "boardXSize": 5,
        "boardYSize": 5,
        "maxVisits": 8,
        **fields,
    }
    return {name: value for name, value in usual.items() if value is not None}
