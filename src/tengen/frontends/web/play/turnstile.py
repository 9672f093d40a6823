"""Turns at the network: a few searches run at a time, and all who wait have theirs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from tengen.network.evaluator import Batch, Evaluator, EvaluatorWrapper, Pending

OWNERS_REMEMBERED = 1_000


class Turnstile:
    """Lets a few in at a time. Who has been inside for a while gives way to those who wait.

    The owner who was served longest ago comes first, however many searches each of them has.
    """

    def __init__(self, places: int, seconds: float) -> None:
        """So many at a time, each for so long where others wait."""
        self._free, self._seconds = places, seconds
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[threading.Event]] = {}
        self._served: dict[str, int] = {}  # when owners had their last turn, as a running number
        self._turns = 0

    @contextmanager
    def turn(self, owner: str) -> Iterator[Turn]:
        """Wait for a place, and leave it in the end."""
        turn = Turn(self, owner)
        turn.enter()
        try:
            yield turn
        finally:
            turn.leave()

    def enter(self, owner: str) -> None:
        """Wait for a place."""
        with self._lock:
            if self._free and not self._waiting:
                self._free -= 1
                self._note(owner)
                return
            ticket = threading.Event()
            self._waiting.setdefault(owner, deque()).append(ticket)
        ticket.wait()

    def leave(self) -> None:
        """Give the place to who waits for it, or to nobody."""
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            owner = min(self._waiting, key=lambda each: self._served.get(each, 0))
            tickets = self._waiting[owner]
            tickets.popleft().set()
            if not tickets:
                del self._waiting[owner]
            self._note(owner)

    def _note(self, owner: str) -> None:
        self._turns += 1
        self._served.pop(owner, None)
        self._served[owner] = self._turns
        if len(self._served) > OWNERS_REMEMBERED:
            del self._served[next(iter(self._served))]

    @property
    def crowded(self) -> bool:
        """Does somebody wait?"""
        return bool(self._waiting)

    @property
    def seconds(self) -> float:
        """How long a turn is where others wait."""
        return self._seconds


class Turn:
    """A place that somebody has, for a while."""

    def __init__(self, turnstile: Turnstile, owner: str) -> None:
        self._turnstile, self._owner = turnstile, owner
        self._until = 0.0
        self.hurried = False  # it is to end soon, and waits for nobody

    def enter(self) -> None:
        """Wait for the place."""
        self._turnstile.enter(self._owner)
        self._until = time.monotonic() + self._turnstile.seconds

    def leave(self) -> None:
        """Give it up."""
        self._turnstile.leave()

    def give_way(self) -> None:
        """Let others in if this turn has been long enough, and come back after them."""
        if self.hurried or time.monotonic() < self._until:
            return
        if self._turnstile.crowded:
            self.leave()
            self.enter()
        else:
            self._until = time.monotonic() + self._turnstile.seconds


class TurnTaking(EvaluatorWrapper):
    """An evaluator that gives way to other searches between two batches."""

    def __init__(self, inner: Evaluator) -> None:
        super().__init__(inner)
        self.turn: Turn | None = None

    def submit(self, batch: Batch) -> Pending:
        """Ask when it is one's turn."""
        if self.turn is not None:
            self.turn.give_way()
        return self._inner.submit(batch)
