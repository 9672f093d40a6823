"""Heartbeats: rates, losses of contact, and by which clock they are noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tengen.cluster.worker_watch import (
    GIVEN_UP_SECONDS,
    LOST_SECONDS,
    STARTING_SECONDS,
    WorkerWatch,
)
from tengen.runs.exchange import session_file, write_json
from tengen.runs.store import FolderStore


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Watched:
    """A watch with a clock of its own, and workers that beat when told."""

    def __init__(self, path: Path) -> None:
        self.store, self.clock = FolderStore(path), Clock()
        self.watch = WorkerWatch(self.store, self.clock)
        self._beats: dict[int, int] = {}

    def beat(self, session: int, **values: Any) -> None:
        self._beats[session] = self._beats.get(session, 0) + 1
        facts = {"kind": "worker", "label": f"worker {session}", "node": "n", "pid": 1}
        facts |= {"state": "playing", "beat": self._beats[session]}
        write_json(self.store, session_file(session), {**facts, **values})

    def look(self, seconds: float = 0.0) -> None:
        self.clock.now += seconds
        self.watch.look()


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_rates_are_by_our_clock_and_counts_since_the_watch_began(watched: Watched) -> None:
    watched.beat(1, games=1000, evals=50_000)
    watched.look()
    assert watched.watch.counts.games == 0
    watched.beat(1, games=1100, evals=60_000)
    watched.beat(2, games=7, evals=70)
    watched.look(2.0)
    assert watched.watch.counts[1::2] == (10_070, 107)
    first, second = watched.watch.table()
    assert (first["games_rate"], first["evals_rate"]) == (50.0, 5000.0)
    assert (second["session"], second["games_rate"]) == (2, 0.0)
    assert watched.watch.present == 2


def test_a_silent_worker_is_lost_and_may_come_back(
    watched: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    watched.look()
    watched.beat(1)
    watched.look()
    watched.look(LOST_SECONDS + 1)
    assert watched.watch.present == 0
    assert watched.watch.losses == 1
    assert watched.watch.table()[0]["state"] == "lost"
    assert "worker 1 (session 1 on n, process 1) is lost" in capsys.readouterr().err
    watched.look(1)
    assert watched.watch.losses == 1
    watched.beat(1)
    watched.look(1)
    assert watched.watch.present == 1
    assert "is back" in capsys.readouterr().err


def test_workers_of_an_earlier_learner_count_once_they_are_heard_of(watched: Watched) -> None:
    watched.beat(1)  # killed together with that learner
    watched.beat(2)
    watched.look()
    watched.beat(2)
    watched.look(1)
    assert [each["session"] for each in watched.watch.table()] == [2]
    watched.look(LOST_SECONDS - 1)
    watched.beat(2)
    watched.look(2)
    assert (watched.watch.present, watched.watch.losses) == (1, 0)


def test_a_worker_that_takes_minutes_to_start_is_not_lost(watched: Watched) -> None:
    claim = {"kind": "worker", "label": "early", "node": "n", "pid": 1}
    write_json(watched.store, session_file(1), claim)
    watched.look()
    write_json(watched.store, session_file(2), {**claim, "label": "late"})
    watched.look(1)
    watched.look(STARTING_SECONDS - 60)
    assert [each["state"] for each in watched.watch.table()] == ["starting"]
    for session in (1, 2):
        watched.beat(session)
    watched.look(1)
    assert (watched.watch.present, watched.watch.losses) == (2, 0)


def test_a_worker_that_left_is_not_lost(watched: Watched) -> None:
    watched.look()
    watched.beat(1)
    watched.look()
    watched.beat(1, state="left", games=5)
    watched.look(1)
    watched.look(LOST_SECONDS + 1)
    assert (watched.watch.present, watched.watch.losses) == (0, 0)
    assert watched.watch.counts.games == 5
    watched.look(GIVEN_UP_SECONDS)
    assert watched.watch.table() == []


def test_other_sessions_and_earlier_workers_are_no_workers(watched: Watched) -> None:
    write_json(watched.store, session_file(1), {"kind": "one process"})
    watched.beat(2, state="left", games=5)
    watched.look()
    assert watched.watch.table() == []
    assert watched.watch.counts.games == 0
