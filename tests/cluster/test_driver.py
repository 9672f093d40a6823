"""The driver: who is started again, and when it gives up. Ray is pretended."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tengen.cluster import driver
from tengen.cluster.manifest import SET_ASIDE
from tengen.cluster.resources import Plan
from tengen.runs.folder import RunError
from tengen.runs.params import Session

TWO_WORKERS = Plan("cpu", 2, 1.0, 0.0, 0.0, 1)


class PretendedRayError(Exception):
    pass


@dataclass
class PretendedRay:
    """Calls end in the order of `script`, which says of whom and with what result."""

    script: deque[tuple[str, Any]]
    started: list[str] = field(default_factory=list)
    killed: int = 0

    def __post_init__(self) -> None:
        self.exceptions = SimpleNamespace(RayError=PretendedRayError)
        strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None)
        self.util = SimpleNamespace(scheduling_strategies=strategies)
        self._names: dict[int, str] = {}
        self._results: dict[int, Any] = {}

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "here")

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 2.0}}]

    def remote(self, kind: type) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._starter(kind)))

    def _starter(self, kind: type) -> Any:
        def start(*arguments: Any) -> Any:
            name = arguments[3] if kind.__name__ == "WorkerActor" else kind.__name__[:-5].lower()
            self.started.append(name)
            call = len(self.started)
            self._names[call] = name
            run = SimpleNamespace(remote=lambda: call)
            return SimpleNamespace(run=run, stop=SimpleNamespace(remote=lambda: None))

        return start

    def wait(
        self, calls: list[int], num_returns: int, timeout: float
    ) -> tuple[list[int], list[int]]:
        assert timeout > 0
        if not self.script:
            assert num_returns == len(calls), "the driver goes on, though all has ended"
            return [], calls
        who, result = self.script[0]
        for call in calls:
            if self._names[call] == who:
                self.script.popleft()
                self._results[call] = result
                return [call], []
        return [], calls

    def get(self, call: int) -> Any:
        result = self._results.pop(call)
        if isinstance(result, Exception):
            raise result
        return result

    def kill(self, _: Any) -> None:
        self.killed += 1


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "AGAIN_SECONDS", 0.0)


def drive(tmp_path: Path, *script: tuple[str, Any]) -> PretendedRay:
    ray = PretendedRay(deque(script))
    driver._Driver(ray, str(tmp_path), Session(), TWO_WORKERS, 2).go()
    return ray


ENDED = ("learner", {"ended": True})
FAILED = PretendedRayError("Ray says much\nMemoryError: no room")


def test_what_failed_is_started_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failures = [("worker 2", FAILED), ("rater", FAILED), ("learner", FAILED)]
    ray = drive(tmp_path, *failures, ("worker 2", "stopped"), ENDED)
    assert ray.started[:4] == ["learner", "rater", "worker 1", "worker 2"]
    assert ray.started[4:7] == ["worker 2", "rater", "learner"]
    assert ray.killed >= 3
    said = capsys.readouterr().err
    for who in ("worker 2", "rater", "the learner"):
        assert f"{who} failed" in said
    assert "MemoryError: no room" in said


def test_a_learner_that_fails_again_and_again_ends_the_session(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="MemoryError: no room; 3 times in a row"):
        drive(tmp_path, *[("learner", FAILED)] * driver.MOST_FAILURES, ENDED)


def test_an_error_for_people_ends_the_session(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the disk is full"):
        drive(tmp_path, ("learner", {"error": "the disk is full"}), ENDED)


def test_workers_that_were_set_aside_are_not_started_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aside = ("worker 1", f"{SET_ASIDE}: a shard has NaN")
    assert drive(tmp_path, aside, ENDED).started.count("worker 1") == 1
    assert "worker 1 is set aside: a shard has NaN; it is not started" in capsys.readouterr().err
    with pytest.raises(RunError, match=r"no worker left: worker 1 is .* NaN; worker 2 is .* NaN"):
        drive(tmp_path, aside, ("worker 2", aside[1]), ENDED)
