"""Files by name, in a folder or behind a URL."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.runs.exchange import claim_session, read_json, session_file, sessions
from tengen.runs.store import FolderStore, Store, StoreError, UrlStore, is_url, open_store

KINDS = ("folder", "file URL", "memory", "renamed")


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param not in ("folder", "file URL"):
        pytest.importorskip("fsspec", reason="URLs need fsspec: pip install 'tengen-go[cluster]'")
    return open_store(
        {
            "folder": str(tmp_path / "run"),
            "file URL": f"file://{tmp_path}/run",
            "memory": f"memory://{secrets.token_hex(4)}/run",
            "renamed": f"local://{tmp_path}/run",  # fsspec's own, without whole puts
        }[request.param]
    )


def test_files_are_written_replaced_listed_and_removed(store: Store) -> None:
    assert store.names("a/b") == []
    with pytest.raises(FileNotFoundError):
        store.read("a/b/one")
    store.write("a/b/two", b"2")
    store.write("a/b/one", b"1")
    store.write("a/b/one", b"11", durable=False)
    store.write("top", b"")
    assert store.names("a/b") == ["one", "two"]
    assert store.names("") == ["top"]
    assert store.read("a/b/one") == b"11"
    store.remove("a/b/one")
    store.remove("a/b/one")
    assert store.names("a/b") == ["two"]


def test_a_new_file_replaces_none(store: Store) -> None:
    store.create("a/one", b"1")
    with pytest.raises(FileExistsError):
        store.create("a/one", b"2")
    assert store.read("a/one") == b"1"


def test_its_location_opens_it_again(store: Store) -> None:
    store.write("a", b"1")
    assert open_store(store.location).read("a") == b"1"


def test_file_urls_are_folders(tmp_path: Path) -> None:
    assert isinstance(open_store(f"file://{tmp_path}"), FolderStore)
    assert isinstance(open_store("memory://x"), UrlStore)
    assert not is_url(tmp_path)


def test_readers_never_see_half_a_file(store: Store) -> None:
    store.write("a/one", b"0" * 100_000)
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            content = store.read("a/one")
            seen.add(content[:1] if content == content[:1] * 100_000 else content)

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(50):
        store.write("a/one", str(k % 10).encode() * 100_000, durable=False)
    done.set()
    reader.join()
    assert seen <= {str(k).encode() for k in range(10)}


def test_sessions_claimed_at_the_same_time_differ(store: Store) -> None:
    claimed: list[int] = []

    def claim() -> None:
        claimed.extend(claim_session(store, {"kind": "worker"}) for _ in range(5))

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(set(claimed))
    assert len(claimed) == 20
    assert set(claimed) <= set(sessions(store))
    assert claim_session(store, {}, at_least=1000) == 1000
    assert read_json(store, session_file(1000))["token"]


def in_words(make: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        make()
    return str(caught.value)


def test_unknown_urls_and_missing_packages_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="URLs need fsspec: pip install 'tengen-go[cluster]'")
    assert "is no URL that fsspec knows" in in_words(lambda: open_store("nonsense://a/b"))
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert "pip install 'tengen-go[cluster]'" in in_words(lambda: open_store("s3://a/b"))
