"""Positions that wait to be searched: who goes first, and who goes on with whose tree."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tengen.frontends.analysis.answers import Answer
    from tengen.frontends.analysis.query import Query, QueryTurn

Send: TypeAlias = "Callable[[Answer], None]"


@dataclass(frozen=True, eq=False)
class AnalysisJob:
    """One position of a query, and whom to tell what is found."""

    owner: object
    query: Query
    turn: QueryTurn
    send: Send
    kind: Hashable | None = None  # jobs of one kind are searched together; None: it is alone
    then: AnalysisJob | None = None  # the turn after it, which can go on with its tree
    stop: threading.Event = field(default_factory=threading.Event)

    def concerns(self, owner: object, query_id: str | None, turns: Collection[int] | None) -> bool:
        """Is it one of an owner's jobs, by its query and turn unless any will do?"""
        return (
            self.owner is owner
            and query_id in (None, self.query.id)
            and (turns is None or self.turn.number in turns)
        )


def jobs_of(owner: object, query: Query, send: Send, kind: Hashable | None) -> list[AnalysisJob]:
    """A job for each turn of a query, in order."""
    jobs: list[AnalysisJob] = []
    for turn in reversed(query.turns):
        jobs.append(AnalysisJob(owner, query, turn, send, kind, jobs[-1] if jobs else None))
    return jobs[::-1]


def in_stretches(jobs: list[AnalysisJob], trees: int) -> list[AnalysisJob]:
    """Jobs in the order in which trees should begin with them.

    Each tree is to walk through a stretch of the game, so the first turns of all stretches come
    first. One that has finished its own helps with another's from the far end.
    """
    length = max(1, -(-len(jobs) // trees))
    return [job for k in (0, *range(length - 1, 0, -1)) for job in jobs[k::length]]


class AnalysisQueue:
    """Jobs waiting and running: the highest priority first, then the earliest.

    Jobs of one kind are left to the *crew* that began with the first of them, until it disbands.
    All methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # By kind; they may hold jobs that do not wait any more.
        self._heaps: dict[Hashable | None, list[tuple[int, int, AnalysisJob]]] = {}
        self._waiting: set[AnalysisJob] = set()
        self._running: set[AnalysisJob] = set()
        self._crews: set[Hashable] = set()
        self._free = 0  # threads that wait for a job
        self._count = 0
        self._closed = False

    def put(self, jobs: Iterable[AnalysisJob]) -> None:
        """Let jobs wait, the first of them first."""
        with self._changed:
            if not self._closed:
                for job in jobs:
                    heap = self._heaps.setdefault(job.kind, [])
                    heapq.heappush(heap, (-job.turn.priority, self._count, job))
                    self._waiting.add(job)
                    self._count += 1
                self._call_threads()

    def next(self) -> AnalysisJob | None:
        """Wait for a job to do; None when closed. Whoever takes it calls `done`.

        Whoever takes one of a kind is its crew, and calls `disband`.
        """
        with self._changed:
            self._free += 1
            while (job := self._first_for_thread()) is None and not self._closed:
                self._changed.wait()
            self._free -= 1
            if job is None or self._closed:
                return None
            if job.kind is not None:
                self._crews.add(job.kind)
            return self._start(job)

    def next_of(self, kind: Hashable) -> AnalysisJob | None:
        """One more job for a crew, None if there is none, or another one goes before it."""
        with self._changed:
            self._tidy()
            if kind not in self._heaps:
                return None
            urgency, count, job = self._heaps[kind][0]
            if urgency > self._urgency():
                return None
            for other, heap in self._heaps.items():
                if not self._free and other not in self._crews and heap[0][:2] < (urgency, count):
                    return None
            return self._start(job)

    def disband(self, kind: Hashable) -> None:
        """A crew ends: whoever takes the next job of this kind begins anew."""
        with self._changed:
            self._crews.remove(kind)
            self._call_threads()

    def follower(self, job: AnalysisJob) -> AnalysisJob | None:
        """The turn after a job, to be done at once, unless something else is more urgent."""
        with self._changed:
            then = job.then
            if then is None or then not in self._waiting:
                return None
            self._tidy()
            return self._start(then) if -then.turn.priority <= self._urgency() else None

    def _first_for_thread(self) -> AnalysisJob | None:
        """The first that no crew sees to, unless something that one does is more urgent."""
        self._tidy()
        heads = [heap[0] for kind, heap in self._heaps.items() if kind not in self._crews]
        if not heads:
            return None
        first = min(heads, key=lambda each: each[:2])
        return first[2] if first[0] <= self._urgency() else None

    def _call_threads(self) -> None:
        """Wake who waits, if it is of any use: a crew sees to most jobs, and threads take time."""
        nothing_left = not (self._waiting or self._running)
        if nothing_left or (self._free and self._first_for_thread() is not None):
            self._changed.notify_all()

    def _urgency(self) -> int:
        """Of the most urgent job that waits: the lower the more."""
        return min(heap[0][0] for heap in self._heaps.values())

    def _tidy(self) -> None:
        """Let all heaps begin with a job that waits."""
        for kind, heap in list(self._heaps.items()):
            while heap and heap[0][2] not in self._waiting:
                heapq.heappop(heap)
            if not heap:
                del self._heaps[kind]

    def _start(self, job: AnalysisJob) -> AnalysisJob:
        self._waiting.remove(job)
        self._running.add(job)
        self._call_threads()  # less urgent ones may go on now
        return job

    def done(self, job: AnalysisJob) -> None:
        """A job has been answered."""
        with self._changed:
            self._running.remove(job)
            self._call_threads()

    def take_out(
        self, owner: object, query_id: str | None = None, turns: Collection[int] | None = None
    ) -> list[AnalysisJob]:
        """Stop the running ones of some jobs; returns the others, which do not wait any more."""
        with self._changed:
            for job in self._running:
                if job.concerns(owner, query_id, turns):
                    job.stop.set()
            return self._remove(
                {job for job in self._waiting if job.concerns(owner, query_id, turns)}
            )

    def take_all_out(self) -> list[AnalysisJob]:
        """All that wait, for whomever, which do not wait any more."""
        with self._changed:
            return self._remove(set(self._waiting))

    def _remove(self, out: set[AnalysisJob]) -> list[AnalysisJob]:
        if out:
            self._waiting -= out
            for kind, heap in self._heaps.items():
                left = [each for each in heap if each[2] in self._waiting]
                heapq.heapify(left)
                self._heaps[kind] = left
            self._call_threads()
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
