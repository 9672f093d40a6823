"""Files that are out of reach, and a learner that was replaced: nobody waits for ever."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tengen.cluster import learner as learners
from tengen.cluster import worker as workers
from tengen.cluster.driver import local_folder
from tengen.cluster.manifest import TRAINING, Manifest, write_manifest
from tengen.cluster.outage import AGAIN_SECONDS, Outage, lock_soon
from tengen.runs import checkpoint
from tengen.runs.checkpoint import load_latest
from tengen.runs.exchange import INCOMING, WEIGHTS, WorkerShard, incoming_shards, sessions
from tengen.runs.folder import RunError, RunFolder, RunLock
from tengen.runs.store import FolderStore
from tests.cluster.parts import MOST_SECONDS, Parts
from tests.cluster.tiny import ENDLESS, Archive, assert_counted_once

pytestmark = [
    pytest.mark.usefixtures("one_kernel_thread"),
    pytest.mark.timeout(2 * MOST_SECONDS),
]

AWAY = OSError(errno.ENETUNREACH, "Network is unreachable")


def unless(away: Callable[[str], bool], method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a store that fails for some names."""

    def call(store: FolderStore, name: str, *arguments: Any, **options: Any) -> Any:
        if away(name):
            raise AWAY
        return method(store, name, *arguments, **options)

    return call


def let_fail(patch: pytest.MonkeyPatch, away: Callable[[str], bool], *methods: str) -> None:
    for name in methods or ("read", "write", "names", "remove", "create"):
        patch.setattr(FolderStore, name, unless(away, getattr(FolderStore, name)))


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.long)])
def test_files_that_are_out_of_reach_for_a_while_cost_nothing(
    run_at: Callable[..., Parts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    seconds: float,
) -> None:
    away = threading.Event()
    let_fail(monkeypatch, lambda _: away.is_set())
    path = tmp_path / "run"
    parts = run_at(str(path), ENDLESS)
    archive = Archive(path, tmp_path / "archive")
    parts.worker()
    parts.rater()
    parts.learner()
    for _ in range(2):
        parts.wait_for_iterations()
        away.set()
        time.sleep(seconds)
        away.clear()
    begun = sessions(parts.store)
    parts.wait_for_iterations()
    assert parts.results == {}
    assert sessions(parts.store) == begun == [1]
    parts.close()
    assert_counted_once(path, archive)
    said = capsys.readouterr().err.splitlines()
    assert 1 <= sum("trying again" in line for line in said) <= 30 + 2 * seconds


def test_a_number_is_never_given_to_other_games_though_nobody_knows_whether_they_arrived(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write = FolderStore.write
    written: dict[str, set[bytes]] = {}

    def write_and_fail(store: FolderStore, name: str, content: bytes, durable: bool = True) -> None:
        write(store, name, content, durable)
        if name.startswith(INCOMING):
            written.setdefault(name, set()).add(content)
            raise AWAY

    monkeypatch.setattr(FolderStore, "write", write_and_fail)
    monkeypatch.setattr(workers, "TICKS", 400)  # so that more games have ended at each look
    path = tmp_path / "run"
    parts = run_at(str(path), ENDLESS)
    archive = Archive(path, tmp_path / "archive")
    parts.learner()
    parts.worker()
    parts.wait_for(lambda: parts.manifest.counted.get("1"), "a shard that is counted")
    parts.stop.set()
    assert parts.result("worker 1") == "stopped"
    assert list(written) == [f"{INCOMING}/{WorkerShard(1, 1).file}"]
    assert len(written[f"{INCOMING}/{WorkerShard(1, 1).file}"]) == 1
    parts.close()
    assert assert_counted_once(path, archive) > 0


def test_weights_that_cannot_be_announced_at_first_are_later(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    away = threading.Event()
    away.set()
    tried = threading.Event()

    def is_away(name: str) -> bool:
        if not name.startswith(WEIGHTS):
            return False
        tried.set()
        return away.is_set()

    let_fail(monkeypatch, is_away, "write")
    parts = run_at(str(tmp_path / "run"), ENDLESS)
    parts.worker()
    parts.learner()
    parts.wait_for(tried.is_set, "an attempt to announce weights")
    away.clear()
    parts.wait_for_iterations(1)


def test_a_shard_that_cannot_be_read_keeps_no_other_from_being_counted(
    run_at: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unreadable = f"{INCOMING}/{WorkerShard(1, 1).file}"
    let_fail(monkeypatch, lambda name: name == unreadable, "read")
    parts = run_at(str(tmp_path / "run"), ENDLESS)
    parts.worker()
    parts.learner()
    parts.wait_for_iterations()
    assert WorkerShard(1, 1) in incoming_shards(parts.store)


def test_a_worker_whose_first_weights_have_gone_takes_newer_ones(
    run_at: Callable[..., Parts], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = run_at(str(tmp_path / "run"), ENDLESS)
    gone = Manifest(TRAINING, version=1, file=f"{WEIGHTS}/00000001.safetensors")
    write_manifest(parts.store, gone)
    parts.worker()
    said = ""

    def has_tried() -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return "out of reach" in said

    parts.wait_for(has_tried, "an attempt to read them")
    parts.learner()
    parts.wait_for_iterations(1)


def test_a_learner_whose_disk_is_away_goes_on_from_its_last_checkpoint(
    run_at: Callable[..., Parts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run"
    parts = run_at(str(path), ENDLESS)
    archive = Archive(path, tmp_path / "archive")
    parts.worker()
    parts.learner()
    parts.wait_for_iterations(1)

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    said = ""

    def has_tried() -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return "out of reach (Input/output error)" in said

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "replace_file", fail)
        parts.wait_for(has_tried, "an attempt to save")
    parts.wait_for_iterations()
    parts.close()
    assert_counted_once(path, archive)


def test_a_url_that_does_not_answer_is_named() -> None:
    pytest.importorskip("fsspec", reason="URLs need fsspec: pip install 'tengen-go[cluster]'")
    with pytest.raises(
        RunError, match=r"ftp://127\.0\.0\.1:1/run: is out of reach .* check the URL"
    ):
        local_folder("ftp://127.0.0.1:1/run")


# A learner that was replaced


@pytest.mark.parametrize("waits_for", ["games", "ratings"])
def test_a_learner_that_was_replaced_notices_it_whatever_it_waits_for(
    run_at: Callable[..., Parts], tmp_path: Path, waits_for: str
) -> None:
    parts = run_at(str(tmp_path / "run"))
    parts.learner()
    parts.wait_for(lambda: parts.manifest.version, "weights")
    if waits_for == "ratings":  # which nobody plays
        parts.worker()
        checkpoints = RunFolder(tmp_path / "run").checkpoints
        parts.wait_for(lambda: list(checkpoints.glob("*-00000004.*")), "the last iteration")
    parts.store.write(learners.LEARNER, b'{"token": "of another"}')
    ended = parts.result("learner")
    assert isinstance(ended, RunError)
    assert "another learner has taken over" in str(ended)
    assert parts.manifest.state == TRAINING  # what workers hear is the other's


def test_a_learner_that_takes_over_goes_on_and_the_other_writes_nothing_more(
    run_at: Callable[..., Parts], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    parts = run_at(str(path), ENDLESS)
    archive = Archive(path, tmp_path / "archive")
    parts.worker()
    parts.learner("first")
    parts.wait_for(lambda: load_latest(RunFolder(path)), "a checkpoint")
    parts.learner("second")
    assert "another learner has taken over" in str(parts.result("first"))
    parts.wait_for_iterations()
    assert "worker 1" not in parts.results
    parts.close()
    assert parts.results["second"] is False
    assert_counted_once(path, archive)


def test_a_lock_is_waited_for_a_while(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = RunLock(tmp_path)
    with pytest.raises(RunError, match="in use by process"):
        lock_soon(tmp_path, 0.1, lambda: False)
    with pytest.raises(RunError, match="in use by process"):
        lock_soon(tmp_path, MOST_SECONDS, lambda: True)
    release = threading.Timer(0.2, held.close)
    release.start()
    lock_soon(tmp_path, MOST_SECONDS, lambda: False).close()
    release.join()
    assert "waiting for 900 s at most" in capsys.readouterr().err


# What is said


def test_an_outage_is_told_once_and_so_is_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    outage = Outage("run", "shards cannot be read", lambda: now)

    def attempt(*, fails: bool) -> str:
        with outage.reporting():
            if fails:
                raise AWAY
        return capsys.readouterr().err

    assert attempt(fails=False) == ""
    assert "run: shards cannot be read now, trying again: Network" in attempt(fails=True)
    for now in (1.0, 5.0, AGAIN_SECONDS - 1):  # noqa: B007
        assert attempt(fails=True) == ""
    now = AGAIN_SECONDS + 1
    assert "cannot be read now" in attempt(fails=True)
    now += 10
    assert f"within reach again, after {AGAIN_SECONDS + 11:.0f} s" in attempt(fails=False)
    assert attempt(fails=False) == ""
    # One file of many that cannot be read is not told of again and again.
    assert attempt(fails=True) != ""
    for _ in range(5):
        now += 0.5
        assert attempt(fails=False) == ""
        assert attempt(fails=True) == ""
