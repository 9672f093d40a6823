"""Worker, learner and rater, without Ray: games go their way, and nobody waits for nobody."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tengen.cluster import worker as workers
from tengen.cluster.learner import MOST_GATED_TASKS, MOST_TASKS, RaterQueue
from tengen.cluster.manifest import (
    ENDED,
    TRAINING,
    Manifest,
    RatingTask,
    last_manifest,
    read_manifest,
    write_manifest,
)
from tengen.cluster.run_copy import copy_of
from tengen.cluster.worker import WAITING, work
from tengen.network.decoding import BrokenNetworkError
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.checkpoint import load_latest
from tengen.runs.exchange import (
    INCOMING,
    MANIFEST,
    REJECTED,
    WEIGHTS,
    WorkerShard,
    first_game,
    incoming_shards,
    sessions,
)
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.ledger import Ledger
from tengen.runs.rating import network_file, network_name, ratings_of
from tengen.runs.run import train
from tengen.runs.store import FolderStore
from tengen.selfplay.fleet import Fleet
from tests.cluster.parts import MOST_SECONDS, Parts
from tests.cluster.tiny import ENDLESS, TINY, Archive, assert_counted_once
from tests.frontends.web.run_folders import new_run

pytestmark = [
    pytest.mark.usefixtures("one_kernel_thread"),
    pytest.mark.timeout(2 * MOST_SECONDS),
]

GATED = replace(TINY, rating=replace(TINY.rating, gate=0.25))
BOTH_SIZES = replace(TINY, selfplay=replace(TINY.selfplay, board_sizes=(3, 4)))


def test_a_run_goes_from_one_process_to_workers_and_back(
    run_at: Callable[..., Parts], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    train(path, replace(GATED, run=replace(TINY.run, iterations=1)))
    parts = run_at(str(path), GATED)  # now with more iterations
    archive = Archive(path, tmp_path / "archive")
    parts.worker()
    parts.rater()
    parts.learner()
    assert parts.result("learner") is True
    assert parts.result("worker 1") == parts.result("rater") == ENDED
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
    # With a gate only networks play that were kept to be rated.
    kept = [load_network_file(file) for file in folder.networks.glob("*.safetensors")]
    played = {int(step) for step in archive.games()["step"]}
    assert played <= {int(network.provenance["steps"]) for network in kept}
    before = assert_counted_once(path, archive)
    # One process alone counts what the worker has left, and numbers its own games anew.
    train(path, replace(GATED, run=replace(TINY.run, iterations=5)))
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
    parts.learner()
    parts.wait_for(lambda: len(parts.store.names("checkpoints")) >= 2, "two checkpoints")
    parts.stop_learner.set()
    assert not parts.result("learner")
    assert parts.result("worker 1") == parts.result("rater") == "stopped"
    here = copy_of(parts.store)
    assert load_latest(here) is not None
    monkeypatch.setenv("TENGEN_RUNS_DIR", str(tmp_path / "another machine"))
    assert not copy_of(parts.store).path.exists()
    parts.results.clear()
    parts.worker("worker 2")
    parts.rater()
    parts.learner()
    assert parts.result("learner") is True
    there = load_latest(copy_of(parts.store))
    assert there is not None
    assert there.facts["iteration"] == 4
    names = [name for name in parts.store.names("shards") if name.endswith(".games")]
    assert len(names) == there.facts["last_shard"]
    assert set(ratings_of(copy_of(parts.store))) >= {"000002", "000004"}


def test_workers_of_different_speed_play_boards_of_several_sizes(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    monkeypatch.setattr(Fleet, "tick", every_other_one_slowly(Fleet.tick))
    parts = run_at(str(path), replace(BOTH_SIZES, rating=replace(TINY.rating, every=0)))
    archive = Archive(path, tmp_path / "archive")
    parts.worker("a quick one")
    parts.worker("a slow one")
    parts.learner()
    assert parts.result("learner") is True
    assert parts.result("a quick one") == parts.result("a slow one") == ENDED
    assert_counted_once(path, archive)
    games = archive.games()
    assert set(games["width"].tolist()) == {3, 4}
    assert len(set((games["number"] >> 32).tolist())) == 2


def every_other_one_slowly(tick: Callable[[Fleet], None]) -> Callable[[Fleet], None]:
    """A fleet's tick, which takes longer in every second fleet."""
    known: list[Fleet] = []

    def call(fleet: Fleet) -> None:
        if not any(fleet is each for each in known):
            known.append(fleet)
        if fleet is not known[0]:
            time.sleep(0.001)
        tick(fleet)

    return call


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
    parts.learner()
    assert parts.result("worker 1") == ENDED
    assert parts.result("learner") is True
    # The learner is killed: the manifest says that it trains, and it counts nothing more.
    pretended = parts.manifest._replace(state=TRAINING, counted={}, waiting=waiting)
    write_manifest(parts.store, pretended)
    session = max(sessions(parts.store)) + 1
    parts.worker("worker 2")
    parts.wait_for(lambda: parts.beat(session).get("state") == WAITING, "a pause")
    shards, ticks = parts.beat(session)["shards"], parts.beat(session)["ticks"]
    assert shards == most
    beats = parts.beat(session)["beat"]
    parts.wait_for(lambda: parts.beat(session)["beat"] > beats + 2, "more heartbeats")
    assert parts.beat(session)["state"] == WAITING
    assert (parts.beat(session)["shards"], parts.beat(session)["ticks"]) == (shards, ticks)
    # Once its shards are counted it goes on.
    counted = {str(session): shards}
    write_manifest(parts.store, pretended._replace(counted=counted, waiting=0))
    parts.wait_for(lambda: parts.beat(session)["shards"] > shards, "another shard")


def test_a_worker_with_broken_games_is_set_aside_and_named(
    run_at: Callable[..., Parts], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    parts = run_at(str(path), ENDLESS)
    parts.learner()
    parts.worker("the good one")
    parts.worker("the bad one")
    bad = session_named(parts, "the bad one")
    parts.store.write(f"{INCOMING}/{WorkerShard(bad, 900).file}", b"nonsense")
    assert str(parts.result("the bad one")).startswith("set aside: a shard is not a shard")
    parts.wait_for(lambda: WorkerShard(bad, 900).file in parts.store.names(REJECTED), "a move")
    assert f"the bad one (session {bad} on" in capsys.readouterr().err
    assert "the good one" not in parts.results
    parts.wait_for_iterations()
    parts.close()
    checkpoint = load_latest(RunFolder(path))
    assert checkpoint is not None
    assert list(checkpoint.facts["aside"]) == [str(bad)]


def session_named(parts: Parts, label: str) -> int:
    """The session of a worker, as soon as it is known."""
    parts.wait_for(lambda: label in labels(parts), f"the session of {label}")
    return labels(parts)[label]


def labels(parts: Parts) -> dict[str, int]:
    beats = {each: parts.beat(each) for each in sessions(parts.store)}
    return {str(beat["label"]): each for each, beat in beats.items() if "label" in beat}


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (BrokenNetworkError("net 7: its value output is not finite"), "set aside: net 7"),
        (MemoryError("no room"), None),
    ],
)
def test_a_worker_that_fails_tells_the_learner_why(
    run_at: Callable[..., Parts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    result: str | None,
) -> None:
    def fail(_: Fleet) -> None:
        raise error

    parts = run_at(str(tmp_path / "run"), ENDLESS)
    parts.learner()
    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "tick", fail)
        parts.worker("the bad one")
        found = parts.result("the bad one")
    assert found is error if result is None else str(found).startswith(result)
    parts.wait_for(lambda: [each["state"] for each in parts.manifest.workers] == ["left"], "it")
    said = capsys.readouterr().err
    assert "the bad one (session 1 on" in said
    assert f"has ended: {result or 'MemoryError: no room'}" in said
    parts.worker("the good one")  # and the run goes on
    parts.wait_for_iterations(1)


def test_a_learner_whose_talk_to_the_workers_ends_fails(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = ZeroDivisionError("a fault of ours")

    def fail(*_: object) -> None:
        raise broken

    parts = run_at(str(tmp_path / "run"), ENDLESS)
    parts.learner()
    parts.wait_for(lambda: parts.manifest.version, "weights")
    monkeypatch.setattr("tengen.cluster.games_from_workers.incoming_shards", fail)
    assert parts.result("learner") is broken


def test_networks_that_cannot_be_rated_do_not_keep_a_run_from_its_end(
    run_at: Callable[..., Parts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> bool:
        raise ValueError("nobody to play against")

    monkeypatch.setattr("tengen.cluster.rater.rate_network", fail)
    short = replace(TINY.run, iterations=1)
    parts = run_at(str(tmp_path / "run"), replace(TINY, run=short))
    for start in (parts.worker, parts.rater, parts.learner):
        start()
    assert parts.result("learner") is True
    assert "000001 is not rated: nobody to play against" in capsys.readouterr().err


def test_a_torn_or_foreign_manifest_is_no_manifest(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    assert read_manifest(store) == Manifest()
    store.write(MANIFEST, b'{"version": 3, "unknown": 1')
    assert read_manifest(store) == Manifest()
    store.write(MANIFEST, b'{"version": 3, "unknown": 1}')
    assert read_manifest(store).version == 3


def test_versions_count_on_though_the_manifest_was_lost(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    assert last_manifest(store) == Manifest()
    for name in ("00000030.safetensors", "00000031.safetensors", "of somebody else"):
        store.write(f"{WEIGHTS}/{name}", b"")
    lost = last_manifest(store)
    assert (lost.version, lost.last_step) == (31, None)
    write_manifest(store, Manifest(version=30, last_step=7))  # the newest was not announced yet
    assert last_manifest(store) == Manifest(version=30, last_step=7)


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
