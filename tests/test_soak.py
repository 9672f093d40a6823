"""That the soak test of all servers sees what grows, and nothing else."""

from __future__ import annotations

import mmap
import os
import sys
import threading
from pathlib import Path

import pytest
from benchmarks.soak import Use, use_of, what_grew

LEVEL = Use(megabytes=500.0, of_files=100.0, threads=30, files=7)
MEGABYTE = 1 << 20
linux = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


def found(*, grows: float = 0.0, early: float = 0.0, **last: int) -> list[str]:
    """What is found after 60 rounds: memory grows each round, or early; the last one has more."""
    uses = [
        LEVEL._replace(megabytes=500 + grows * number + early * min(number, 20))
        for number in range(60)
    ]
    uses[-1] = uses[-1]._replace(**last)
    return what_grew([{"web": use} for use in uses])


def test_a_level_server_passes() -> None:
    assert found() == []
    assert found(early=10.0) == []  # until caches are full
    assert found(of_files=400) == []  # the system reads what it had dropped


def test_what_grows_is_named() -> None:
    assert found(grows=0.5) == []  # 4% from the end of the first third
    assert found(grows=1.0) == ["web grows by 7.5%"]


def test_a_thread_and_a_file_too_many_are_named() -> None:
    assert found(threads=31) == ["web leaves threads: 30, then 31"]
    assert found(files=8) == ["web leaves files: 7, then 8"]
    assert found(threads=29, files=6) == []


@linux
def test_memory_is_what_a_process_has_of_its_own(tmp_path: Path) -> None:
    (file := tmp_path / "large").write_bytes(bytes(64 * MEGABYTE))
    before = use_of(os.getpid())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            assert sum(mapped[:: mmap.PAGESIZE]) == 0  # every page was read
            with_file = use_of(os.getpid())
        finally:
            mapped.close()
    assert with_file.of_files - before.of_files > 60
    assert with_file.megabytes - before.megabytes < 10
    assert with_file.files > before.files
    kept = bytearray(b"x") * (64 * MEGABYTE)
    assert 60 < use_of(os.getpid()).megabytes - before.megabytes < 80
    del kept


@linux
def test_threads_are_counted() -> None:
    before, end = use_of(os.getpid()).threads, threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert use_of(os.getpid()).threads == before + 1
    end.set()
    thread.join()
