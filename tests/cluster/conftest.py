"""What the tests of runs on several machines share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tengen.cluster import worker as workers
from tengen.cluster.ray_setup import ClusterError, import_ray
from tengen.runs.params import RunConfig
from tests.cluster.parts import Parts
from tests.cluster.tiny import TINY


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray, which keeps to this machine; the tests that need it are skipped where it is missing."""
    before = dict(os.environ)
    try:
        yield import_ray()
    except ClusterError as error:
        pytest.skip(str(error))
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def run_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Opens the parts of runs, which look at each other more often than usual, and ends them."""
    monkeypatch.setenv("TENGEN_RUNS_DIR", str(tmp_path / "copies"))
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(workers, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr("tengen.cluster.rater.LOOK_SECONDS", 0.1)
    monkeypatch.setattr("tengen.cluster.rater.NICENESS", 0)
    monkeypatch.setattr("tengen.cluster.games_from_workers.WATCH_SECONDS", 0.2)
    monkeypatch.setattr("tengen.cluster.games_from_workers.BEAT_SECONDS", 0.2)
    monkeypatch.setattr("tengen.cluster.outage.RETRY_SECONDS", (0.1, 0.2))
    monkeypatch.setattr("tengen.cluster.outage.LOCK_LOOK_SECONDS", 0.05)
    opened: list[Parts] = []

    def open_parts(location: str, config: RunConfig = TINY) -> Parts:
        opened.append(Parts(location, config))
        return opened[-1]

    yield open_parts
    for parts in opened:
        parts.close()
