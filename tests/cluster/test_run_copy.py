"""The copy of a run behind a URL: what is sent, in which order, and by whom."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tengen.cluster.run_copy import RunCopy
from tengen.runs.folder import RunError, RunFolder
from tengen.runs.store import Store, open_store

CHECKPOINT, SHARD = "checkpoints/checkpoint-00000001.safetensors", "shards/000001.games"


@pytest.fixture
def store() -> Store:
    pytest.importorskip("fsspec", reason="URLs need fsspec: pip install 'tengen-go[cluster]'")
    return open_store(f"memory://{secrets.token_hex(4)}/run")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A copy with a shard, and the checkpoint that refers to it."""
    for name in (CHECKPOINT, SHARD):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(name)
    return RunFolder(tmp_path)


def test_what_has_changed_is_sent_and_what_is_gone_is_removed(
    store: Store, folder: RunFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run_copy = RunCopy(store, folder)
    run_copy.push()
    assert store.read(SHARD) == SHARD.encode()
    (folder.path / CHECKPOINT).unlink()
    (folder.path / SHARD).write_bytes(b"more of them")
    run_copy.push()
    assert store.names("checkpoints") == []
    elsewhere = RunFolder(tmp_path_factory.mktemp("another machine"))
    RunCopy(store, elsewhere).pull()
    assert (elsewhere.path / SHARD).read_bytes() == b"more of them"


def test_a_learner_that_is_replaced_while_it_sends_overwrites_nothing_more(
    store: Store, folder: RunFolder
) -> None:
    sent = 0

    def check_ours() -> None:
        nonlocal sent
        if sent:
            raise RunError("another learner has taken over")
        sent += 1

    with pytest.raises(RunError, match="another learner"):
        RunCopy(store, folder).push(check_ours)
    assert store.names("shards") == ["000001.games"]
    assert store.names("checkpoints") == []  # which others would go on from
