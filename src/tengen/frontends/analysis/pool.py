"""Threads that search the positions of all clients, with one network."""

from __future__ import annotations

import threading
from collections.abc import Collection
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tengen.frontends.analysis.error_text import one_safe_line
from tengen.frontends.analysis.jobs import AnalysisJob, AnalysisQueue, Send, in_stretches, jobs_of
from tengen.search.memory import Memory, megabytes_for
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.frontends.analysis.analyse import Analyst
    from tengen.frontends.analysis.answers import Answer
    from tengen.frontends.analysis.query import Query, QueryTurn
    from tengen.network.evaluator import Evaluator

THREADS = 24  # for positions that must be searched by themselves


class SearchPool:
    """Searches many positions at a time; all methods may be called from any thread.

    Close it in the end.
    """

    def __init__(self, network: Future[Evaluator], searches: int | None, megabytes: float) -> None:
        """Jobs wait until the network is there; `megabytes` are for all trees together."""
        self._network = network
        self._searches = searches
        self._memory = Memory(megabytes)
        self._jobs = AnalysisQueue()
        self._threads: list[threading.Thread] = []
        self._failure: str | None = None  # why there is no network
        network.add_done_callback(self._begin)

    def submit(self, owner: object, query: Query, send: Send) -> None:
        """Search all positions of a query; `send` gets what is found."""
        from tengen.frontends.analysis.batch_search import kind_of

        jobs = jobs_of(owner, query, send, kind_of(query))
        self._jobs.put(in_stretches(jobs, self._trees_for(query)))
        if self._failure is not None:
            self._give_up(self._failure)

    def _trees_for(self, query: Query) -> int:
        """How many positions of a query are searched at a time."""
        from tengen.search.grove import usual_trees

        return self._searches or usual_trees(query.settings.visits)

    def terminate(
        self, owner: object, query_id: str | None = None, turns: Collection[int] | None = None
    ) -> None:
        """End an owner's searches with what they have; those not begun end with nothing."""
        from tengen.frontends.analysis.answers import nothing_found

        for job in self._jobs.take_out(owner, query_id, turns):
            job.send(nothing_found(job.query, job.turn.number))

    def drop(self, owner: object) -> None:
        """End all searches of an owner who is gone."""
        self._jobs.take_out(owner)

    def drain(self, until: threading.Event) -> None:
        """Wait until nothing is left to do, or the event is set."""
        self._jobs.drain(until)

    def close(self) -> None:
        """End all searches, and the threads; what was not begun is not answered."""
        self._jobs.close()
        for thread in self._threads:
            thread.join()

    # The threads

    def _begin(self, network: Future[Evaluator]) -> None:
        """Start the threads when the network is there, or tell everybody that there is none."""
        error = network.exception()
        if error is not None:
            self._failure = f"the network cannot be used: {error}"
            self._give_up(self._failure)
            return
        for k in range(min(self._searches or THREADS, THREADS)):
            thread = threading.Thread(target=self._work, name=f"search {k}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _give_up(self, why: str) -> None:
        for job in self._jobs.take_all_out():
            job.send(_failed(job.query, job.turn, why))

    def _work(self) -> None:
        from tengen.frontends.analysis.analyse import Analyst

        analyst = Analyst(self._network.result())
        while (job := self._jobs.next()) is not None:
            if job.kind is None:
                self._search_alone(job, analyst)
            else:
                self._search_together(job)

    def _search_together(self, job: AnalysisJob) -> None:
        """See to all jobs of a kind."""
        from tengen.frontends.analysis.batch_search import BatchSearcher

        try:
            crew = BatchSearcher(self._network.result(), self._jobs, self._memory)
            crew.work(job, self._trees_for(job.query), _fail)
        finally:
            self._jobs.disband(job.kind)

    def _search_alone(self, job: AnalysisJob, analyst: Analyst) -> None:
        """Search a position, and those after it in the same tree."""
        visits, area = job.query.settings.visits, job.turn.position.size.area
        megabytes = self._memory.take(megabytes_for(visits, area))
        next_job: AnalysisJob | None = job
        while next_job is not None:
            job = next_job
            try:
                job.send(analyst.analyse(job.query, job.turn, megabytes, job.stop, job.send))
            except Exception as error:  # whoever asked must hear of it, and the thread go on
                analyst.forget()
                _fail(job, error)
            next_job = self._jobs.follower(job)
            self._jobs.done(job)
        analyst.forget()
        self._memory.give_back(megabytes)


def _fail(job: AnalysisJob, error: Exception) -> None:
    what = one_safe_line(f"the search failed: {type(error).__name__}: {error}")
    say(what)
    job.send(_failed(job.query, job.turn, what))


def _failed(query: Query, turn: QueryTurn, text: str) -> Answer:
    return {"id": query.id, "turnNumber": turn.number, "error": text}
