"""Storage that cannot be reached for a while: messages about it, and repeated attempts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tengen.runs.folder import RunError, RunLock
from tengen.user_messages import say

AGAIN_SECONDS = 30.0  # between two messages about the same outage
SHORT_SECONDS = 2.0  # shorter outages get no message when they end
LOCK_LOOK_SECONDS = 0.5
RETRY_SECONDS = 1.0, 10.0  # first and longest pause between two attempts

T = TypeVar("T")


class Outage:
    """Reports the beginning and the end of an outage, and at intervals that it goes on.

    Not thread-safe.
    """

    def __init__(self, where: str, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`where` is a run and `what` cannot be done there, such as "shards cannot be read"."""
        self._where, self._what, self._clock = where, what, clock
        self._began: float | None = None  # since when all attempts have failed
        self._said: float | None = None

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Run an attempt; an OSError is reported and not raised."""
        try:
            yield
        except OSError as error:
            self.failed(error)
        else:
            self.worked()

    def failed(self, error: OSError) -> None:
        """An attempt has failed."""
        now = self._clock()
        if self._began is None:
            self._began = now
        if self._said is None or now - self._said >= AGAIN_SECONDS:
            self._said = now
            say(f"{self._where}: {self._what} now, trying again: {error.strerror or error}")

    def worked(self) -> None:
        """An attempt has succeeded."""
        if self._began is None:
            return
        silent, self._began = self._clock() - self._began, None
        if silent >= SHORT_SECONDS:
            self._said = None
            say(f"{self._where}: within reach again, after {silent:.0f} s")


def patiently(where: str, attempt: Callable[[], T], should_stop: Callable[[], bool]) -> T | None:
    """Repeat an attempt while it raises OSError; None if `should_stop` first."""
    seconds, longest = RETRY_SECONDS
    outage = Outage(where, "its files are out of reach")
    while True:
        try:
            done = attempt()
        except OSError as error:
            outage.failed(error)
        else:
            outage.worked()
            return done
        if should_stop():
            return None
        time.sleep(seconds)
        seconds = min(2 * seconds, longest)


def lock_soon(path: Path, seconds: float, should_stop: Callable[[], bool]) -> RunLock:
    """The lock of a run's folder, which a process that lost contact may hold for a while.

    Raises RunError if it is still held after so many seconds, or if `should_stop`.
    """
    deadline = time.monotonic() + seconds
    said = False
    while True:
        try:
            return RunLock(path)
        except RunError as error:
            if time.monotonic() >= deadline or should_stop():
                raise
            if not said:
                said = True
                say(f"waiting for {seconds:.0f} s at most: {error}")
        time.sleep(LOCK_LOOK_SECONDS)
