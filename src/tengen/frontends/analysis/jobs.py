"""Positions that wait to be searched: who goes first, and who goes on with whose tree."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tengen.frontends.analysis.respond import Answer
    from tengen.frontends.analysis.schema import Query, Turn

Send: TypeAlias = "Callable[[Answer], None]"


@dataclass(frozen=True, eq=False)
class Job:
    """One position of a query, and whom to tell what is found."""

    owner: object
    query: Query
    turn: Turn
    send: Send
    then: Job | None = None  # the turn after it, which can go on with its tree
    stop: threading.Event = field(default_factory=threading.Event)

    def concerns(self, owner: object, query_id: str | None, turns: Collection[int] | None) -> bool:
        """Is it one of an owner's jobs, by its query and turn unless any will do?"""
        return (
            self.owner is owner
            and query_id in (None, self.query.id)
            and (turns is None or self.turn.number in turns)
        )


def jobs_of(owner: object, query: Query, send: Send) -> list[Job]:
    """A job for each turn of a query, in order."""
    jobs: list[Job] = []
    for turn in reversed(query.turns):
        jobs.append(Job(owner, query, turn, send, jobs[-1] if jobs else None))
    return jobs[::-1]


def in_stretches(jobs: list[Job], threads: int) -> list[Job]:
    """Jobs in the order in which threads should begin with them.

    Each thread is to walk through a stretch of the game, so the first turns of all stretches come
    first. One that has finished its own helps with another's from the far end.
    """
    length = max(1, -(-len(jobs) // threads))
    return [job for k in (0, *range(length - 1, 0, -1)) for job in jobs[k::length]]


class JobQueue:
    """Jobs waiting and running: the highest priority first, then the earliest.

    All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._heap: list[tuple[int, int, Job]] = []  # may hold jobs that do not wait any more
        self._waiting: set[Job] = set()
        self._running: set[Job] = set()
        self._count = 0
        self._closed = False

    def put(self, jobs: Iterable[Job]) -> None:
        """Let jobs wait, the first of them first."""
        with self._changed:
            if not self._closed:
                for job in jobs:
                    heapq.heappush(self._heap, (-job.turn.priority, self._count, job))
                    self._waiting.add(job)
                    self._count += 1
                self._changed.notify_all()

    def next(self) -> Job | None:
        """Wait for a job to do; None when closed. Whoever takes it calls `done`."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            return None if self._closed else self._start(self._first())

    def follower(self, job: Job) -> Job | None:
        """The turn after a job, to be done at once, unless something else is more urgent."""
        with self._changed:
            then = job.then
            if then is None or then not in self._waiting:
                return None
            return self._start(then) if then.turn.priority >= self._first().turn.priority else None

    def _first(self) -> Job:
        while self._heap[0][2] not in self._waiting:
            heapq.heappop(self._heap)
        return self._heap[0][2]

    def _start(self, job: Job) -> Job:
        self._waiting.remove(job)
        self._running.add(job)
        return job

    def done(self, job: Job) -> None:
        """A job has been answered."""
        with self._changed:
            self._running.remove(job)
            self._changed.notify_all()

    def take_out(
        self, owner: object, query_id: str | None = None, turns: Collection[int] | None = None
    ) -> list[Job]:
        """Stop the running ones of some jobs; returns the others, which do not wait any more."""
        with self._changed:
            for job in self._running:
                if job.concerns(owner, query_id, turns):
                    job.stop.set()
            return self._remove(
                {job for job in self._waiting if job.concerns(owner, query_id, turns)}
            )

    def take_all_out(self) -> list[Job]:
        """All that wait, for whomever, which do not wait any more."""
        with self._changed:
            return self._remove(set(self._waiting))

    def _remove(self, out: set[Job]) -> list[Job]:
        if out:
            self._waiting -= out
            self._heap = [each for each in self._heap if each[2] in self._waiting]
            heapq.heapify(self._heap)
            self._changed.notify_all()
        return sorted(out, key=lambda job: job.turn.number)

    def drain(self, until: threading.Event) -> None:
        """Wait until no job is left, or the event is set."""
        with self._changed:
            while (self._waiting or self._running) and not until.is_set():
                self._changed.wait(0.1)

    def close(self) -> None:
        """Stop everything; what was not begun is not done."""
        with self._changed:
            self._closed = True
            self._remove(set(self._waiting))
            for job in self._running:
                job.stop.set()
            self._changed.notify_all()
