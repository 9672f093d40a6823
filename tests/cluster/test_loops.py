"""Worker, learner and rater as threads of one process, without Ray: they share files alone."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tengen.cluster import worker as workers
from tengen.cluster.driver import prepare
from tengen.cluster.learner import MOST_GATED_TASKS, MOST_TASKS, RaterQueue, learn
from tengen.cluster.manifest import ENDED, Manifest, RatingTask, read_manifest, write_manifest
from tengen.cluster.mirror import copy_of
from tengen.cluster.rater import rate
from tengen.cluster.worker import WAITING, work
from tengen.runs.checkpoint import load_latest
from tengen.runs.exchange import (
    INCOMING,
    MANIFEST,
    REJECTED,
    WorkerShard,
    first_game,
    incoming_shards,
    read_json,
    session_file,
    sessions,
)
from tengen.runs.folder import RunError, RunFolder, read_lines
from tengen.runs.ledger import Ledger
from tengen.runs.params import RunConfig, Session
from tengen.runs.rating import network_file, network_name, ratings_of
from tengen.runs.run import train
from tengen.runs.store import FolderStore, Store, open_store
from tests.cluster.tiny import TINY, Archive, assert_counted_once
from tests.frontends.web.run_folders import new_run

pytestmark = [pytest.mark.usefixtures("one_kernel_thread"), pytest.mark.timeout(240)]


class Parts:
    """The parts of a run, each in a thread."""

    def __init__(self, location: str, config: RunConfig = TINY) -> None:
        self.location, self.store = location, open_store(location)
        prepare(location, config, Session())
        self.stop, self.stop_learner = threading.Event(), threading.Event()
        self.results: dict[str, object] = {}
        self._threads: list[threading.Thread] = []

    def start(self, name: str, call: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                self.results[name] = call()
            except Exception as error:
                self.results[name] = error

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
        return thread

    def learner(self) -> threading.Thread:
        self.stop_learner = threading.Event()
        stop = self.stop_learner
        return self.start("learner", lambda: learn(self.location, Session(), stop))

    def worker(self, name: str = "worker 1") -> threading.Thread:
        return self.start(name, lambda: work(self.location, "cpu", name, self.stop.is_set))

    def rater(self) -> threading.Thread:
        return self.start("rater", lambda: rate(self.location, self.stop.is_set))

    def close(self) -> None:
        self.stop.set()
        self.stop_learner.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), thread.name


@pytest.fixture
def run_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    monkeypatch.setenv("TENGEN_RUNS_DIR", str(tmp_path / "copies"))
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(workers, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr("tengen.cluster.rater.LOOK_SECONDS", 0.1)
    monkeypatch.setattr("tengen.cluster.rater.NICENESS", 0)
    monkeypatch.setattr("tengen.cluster.worker_games.WATCH_SECONDS", 0.2)
    monkeypatch.setattr("tengen.cluster.worker_games.BEAT_SECONDS", 0.2)
    opened: list[Parts] = []

    def open_parts(location: str, config: RunConfig = TINY) -> Parts:
        opened.append(Parts(location, config))
        return opened[-1]

    yield open_parts
    for parts in opened:
        parts.close()


def wait_for(condition: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_a_run_goes_from_one_process_to_workers_and_back(
    run_at: Callable[..., Parts], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    train(path, replace(TINY, run=replace(TINY.run, iterations=1)))
    parts = run_at(str(path))  # now with more iterations
    archive = Archive(path, tmp_path / "archive")
    parts.worker()
    parts.rater()
    learner = parts.learner()
    learner.join(120)
    assert parts.results["learner"] is True
    wait_for(lambda: {"worker 1", "rater"} <= set(parts.results))
    assert parts.results["worker 1"] == parts.results["rater"] == ENDED
    folder = RunFolder(path)
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert checkpoint.facts["iteration"] == 4
    assert checkpoint.part("fleet.") == {}
    assert {"000002", "000004"} <= set(ratings_of(folder))
    assert {line["step"] for line in read_lines(folder.metrics) if "elo" in line} >= {2, 4}
    last = [line for line in read_lines(folder.metrics) if "games" in line][-1]
    assert last["workers/version"] >= 1
    assert last["workers/present"] <= 1  # it is there once it was heard of twice
    left = set(incoming_shards(FolderStore(path)))
    before = assert_counted_once(path, archive)
    # One process alone counts what the worker has left, and numbers its own games anew.
    train(path, replace(TINY, run=replace(TINY.run, iterations=5)))
    assert assert_counted_once(path, archive) > before
    after = load_latest(folder)
    assert after is not None
    assert all(shard in Ledger(after.facts["counted"]) for shard in left)
    assert incoming_shards(FolderStore(path)) == []
    assert after.facts["numbers_from"] >= first_game(max(sessions(FolderStore(path))))


def test_a_run_behind_a_url_goes_on_on_another_machine(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("fsspec", reason="URLs need fsspec: pip install 'tengen-go[cluster]'")
    parts = run_at(f"memory://{secrets.token_hex(4)}/run")
    parts.worker()
    parts.rater()
    learner = parts.learner()
    wait_for(lambda: len(parts.store.names("checkpoints")) >= 2 or not learner.is_alive())
    parts.stop_learner.set()
    learner.join(60)
    assert not parts.results.pop("learner")
    here = copy_of(parts.store)
    assert load_latest(here) is not None
    monkeypatch.setenv("TENGEN_RUNS_DIR", str(tmp_path / "another machine"))
    assert not copy_of(parts.store).path.exists()
    parts.stop.clear()
    parts.worker("worker 2")
    parts.rater()
    parts.learner().join(120)
    assert parts.results["learner"] is True
    there = load_latest(copy_of(parts.store))
    assert there is not None
    assert there.facts["iteration"] == 4
    names = [name for name in parts.store.names("shards") if name.endswith(".games")]
    assert len(names) == there.facts["last_shard"]
    assert set(ratings_of(copy_of(parts.store))) >= {"000002", "000004"}


@pytest.mark.parametrize(
    ("waiting", "most"), [(0, workers.MOST_WAITING), (workers.SHARDS_OF_AN_ITERATION, 1)]
)
def test_a_worker_pauses_while_nobody_counts_its_shards(
    run_at: Callable[..., Parts], tmp_path: Path, waiting: int, most: int
) -> None:
    short = replace(TINY.run, iterations=1)
    config = replace(TINY, run=short, rating=replace(TINY.rating, every=0))
    parts = run_at(str(tmp_path / "run"), config)
    parts.worker()
    parts.learner().join(120)
    wait_for(lambda: parts.results.get("worker 1"))
    # The learner is killed: the manifest says that it trains, and it counts nothing more.
    _pretend_learner(parts.store, waiting)
    parts.worker("worker 2")
    session = max(sessions(parts.store)) + 1

    def beat() -> dict[str, Any]:
        return read_json(parts.store, session_file(session))

    wait_for(lambda: beat().get("state") == WAITING)
    shards, ticks = beat()["shards"], beat()["ticks"]
    assert shards == most
    time.sleep(1.0)
    assert beat()["state"] == WAITING
    assert (beat()["shards"], beat()["ticks"]) == (shards, ticks)


def _pretend_learner(store: Store, waiting: int) -> None:
    manifest = read_manifest(store)
    write_manifest(store, manifest._replace(state="training", counted={}, waiting=waiting))


def test_a_worker_with_broken_games_is_set_aside_and_named(
    run_at: Callable[..., Parts], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    parts = run_at(str(path), replace(TINY, run=replace(TINY.run, iterations=0)))
    parts.learner()
    parts.worker("the good one")
    parts.worker("the bad one")
    wait_for(lambda: len(read_manifest(parts.store).workers) == 2)
    bad = next(
        int(each["session"])
        for each in read_manifest(parts.store).workers
        if each["label"] == "the bad one"
    )
    parts.store.write(f"{INCOMING}/{WorkerShard(bad, 900).file}", b"nonsense")
    wait_for(lambda: "the bad one" in parts.results)
    assert str(parts.results["the bad one"]).startswith("set aside: a shard is not a shard")
    assert f"the bad one (session {bad} on" in capsys.readouterr().err
    assert WorkerShard(bad, 900).file in parts.store.names(REJECTED)
    assert "the good one" not in parts.results
    iterations = len(read_lines(RunFolder(path).metrics))
    wait_for(lambda: len(read_lines(RunFolder(path).metrics)) > iterations + 1)
    parts.close()
    checkpoint = load_latest(RunFolder(path))
    assert checkpoint is not None
    assert list(checkpoint.facts["aside"]) == [str(bad)]


def test_files_that_are_out_of_reach_for_a_while_cost_nothing(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    away = threading.Event()
    for name in ("read", "write", "names", "remove", "create"):
        monkeypatch.setattr(FolderStore, name, unless(away, getattr(FolderStore, name)))
    monkeypatch.setattr(workers, "RETRY_SECONDS", (0.1, 0.2))
    path = tmp_path / "run"
    parts = run_at(str(path), replace(TINY, run=replace(TINY.run, iterations=0)))
    archive = Archive(path, tmp_path / "archive")
    lines = RunFolder(path).metrics
    parts.worker()
    parts.rater()
    parts.learner()
    for _ in range(2):
        ended = len(read_lines(lines))
        wait_for(lambda at=ended: len(read_lines(lines)) > at + 1)  # type: ignore[misc]
        away.set()
        time.sleep(2.0)
        away.clear()
    ended, begun = len(read_lines(lines)), sessions(parts.store)
    wait_for(lambda: len(read_lines(lines)) > ended + 1)
    assert parts.results == {}
    assert sessions(parts.store) == begun == [1]
    parts.close()
    assert_counted_once(path, archive)


def unless(away: threading.Event, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if away.is_set():
            raise OSError("Network is unreachable")
        return method(*arguments, **options)

    return call


def test_a_learner_that_was_replaced_writes_nothing_more(
    run_at: Callable[..., Parts], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    parts = run_at(str(path), replace(TINY, run=replace(TINY.run, iterations=0)))
    parts.worker()
    learner = parts.learner()
    wait_for(lambda: load_latest(RunFolder(path)))
    parts.store.write("cluster/learner.json", b'{"token": "of another"}')
    learner.join(60)
    assert isinstance(parts.results["learner"], RunError)
    assert "another learner has taken over" in str(parts.results["learner"])


def test_a_torn_or_foreign_manifest_is_no_manifest(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    assert read_manifest(store) == Manifest()
    store.write(MANIFEST, b'{"version": 3, "unknown": 1')
    assert read_manifest(store) == Manifest()
    store.write(MANIFEST, b'{"version": 3, "unknown": 1}')
    assert read_manifest(store).version == 3


def test_a_machine_that_does_not_see_the_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"does not see the run at .*all machines share"):
        work(str(tmp_path / "nowhere"))


def test_networks_that_nobody_rates_do_not_pile_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = new_run(tmp_path / "run")
    asked: list[tuple[RatingTask, ...]] = []
    for playing, most in (("", MOST_TASKS), ("000000", MOST_GATED_TASKS)):
        queue = RaterQueue(FolderStore(folder.path), folder, asked.append, None)
        for iteration in range(12):
            network_file(folder, network_name(iteration)).write_bytes(bytes([iteration]))
            queue.rate(iteration, playing)
            assert len(asked[-1]) <= most
        assert asked[-1][-1].iteration == 11
        left_out = queue.rated()
        assert len(left_out) == 12 - most
        assert f"{left_out[0]:06} is not rated: raters are behind" in capsys.readouterr().err
    network_file(folder, network_name(3)).unlink()
    queue.rate(3, "")
    assert queue.rated() == [3]
