"""Reads and writes files one task after another: in a thread, or at once if that is quicker."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tengen.closeable import Closeable

SLOW = 0.2  # seconds that a small write takes on a disk that is slow
SLOW_FOR = 10.0  # seconds in which nobody waits for such a disk

Done = TypeVar("Done")


class DiskWorker(Closeable):
    """Does one task at a time, those about the same file in order. Thread-safe; close it."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._working = threading.Lock()
        self._lock = threading.Lock()
        self._unfinished: Counter[Path | None] = Counter()  # in the thread, by file
        self._slow_until = 0.0

    def submit(self, work: Callable[[], Done], file: Path | None = None) -> Future[Done]:
        """Do a task soon, in the thread."""
        with self._lock:
            self._unfinished[file] += 1
        return self._thread.submit(self._work, work, file)

    def submit_small(self, work: Callable[[], Done], file: Path) -> Future[Done]:
        """Do a small task: in the caller's thread if it need not wait and the disk is quick.

        Waking another thread costs several times as much, and that thread waits for the GIL after
        each system call.
        """
        if not self._begin_at_once(file):
            return self.submit(work, file)
        future: Future[Done] = Future()
        began = time.monotonic()
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        finally:
            self._working.release()
        ended = time.monotonic()
        if ended - began > SLOW:
            self._slow_until = ended + SLOW_FOR
        return future

    def _begin_at_once(self, file: Path) -> bool:
        with self._lock:
            if self._unfinished[file] or time.monotonic() < self._slow_until:
                return False
            return self._working.acquire(blocking=False)

    def _work(self, work: Callable[[], Done], file: Path | None) -> Done:
        try:
            with self._working:
                return work()
        finally:
            with self._lock:
                self._unfinished[file] -= 1
                if not self._unfinished[file]:
                    del self._unfinished[file]

    def close(self) -> None:
        """Do the remaining tasks, and end the thread."""
        self._thread.shutdown()
