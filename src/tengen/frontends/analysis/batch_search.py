"""Positions of which nothing special is asked: they are searched side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tengen.frontends.analysis.analyse import evaluate_one, wanted_by
from tengen.frontends.analysis.answers import Answer, found, nothing_found
from tengen.frontends.analysis.jobs import AnalysisJob, AnalysisQueue
from tengen.frontends.analysis.query import Query
from tengen.frontends.analysis.query_positions import MOST_MOVES, root_of
from tengen.frontends.analysis.query_settings import QuerySettings
from tengen.game.geometry import Size
from tengen.network.evaluator import Evaluator
from tengen.search.grove import Errand, Grove, grove_tree_bytes
from tengen.search.memory import Memory
from tengen.search.result import SearchResult

MOST_VISITS = 2000  # larger trees fill the network's batches by themselves


class BatchKey(NamedTuple):
    """What positions must have in common to be searched side by side."""

    settings: QuerySettings
    size: Size
    ownership: bool


def kind_of(query: Query) -> BatchKey | None:
    """What a query's positions have in common; None if each must be searched by itself."""
    settings = query.settings
    special = (
        settings.visits > MOST_VISITS
        or settings.playouts is not None
        or settings.seconds is not None
        or query.first_report is not None
        or query.report_every is not None
        or query.avoid
        or settings.ignore_history
        or settings.symmetry_pruning
        or settings.noisy_root
    )
    if special or not query.turns:
        return None
    return BatchKey(settings, query.turns[0].position.size, query.include.any_ownership)


class BatchSearcher:
    """Sees to all jobs of one kind, in one thread."""

    def __init__(self, evaluator: Evaluator, jobs: AnalysisQueue, memory: Memory) -> None:
        self._evaluator, self._jobs, self._memory = evaluator, jobs, memory
        self._under_way: set[AnalysisJob] = set()

    def work(
        self, first: AnalysisJob, trees: int, fail: Callable[[AnalysisJob, Exception], None]
    ) -> None:
        """Do a job, and others of its kind as long as there are any.

        `fail` answers one whose search went wrong.
        """
        assert isinstance(first.kind, BatchKey)
        kind = first.kind
        self._under_way.add(first)
        visits, area = kind.settings.visits, kind.size.area
        each = grove_tree_bytes(self._evaluator, area, visits, kind.ownership) / 1e6
        megabytes = self._memory.take(trees * each)
        begun = [first]

        def begin() -> Errand | None:
            job = begun.pop() if begun else self._jobs.next_of(kind)
            return None if job is None else self._errand(job, fail)

        try:
            grove = Grove(
                self._evaluator,
                kind.settings.search_params(),
                kind.size,
                visits=visits,
                moves=MOST_MOVES,
                trees=max(1, min(trees, int(megabytes / each))),
                ownership=kind.ownership,
            )
            grove.search(begin)
        except Exception as error:  # of the network: all that were under way must hear of it
            for job in [*self._under_way]:
                fail(job, error)
                self._done(job)
        self._memory.give_back(megabytes)

    def _errand(self, job: AnalysisJob, fail: Callable[[AnalysisJob, Exception], None]) -> Errand:
        self._under_way.add(job)

        def deliver(result: SearchResult) -> None:
            try:
                job.send(self._answer(job, result))
            except Exception as error:  # one that cannot be told must not end the others
                fail(job, error)

        def then() -> Errand | None:
            following = self._jobs.follower(job)
            self._done(job)
            return None if following is None else self._errand(following, fail)

        return Errand(
            root_of(job.turn.position, ignore_history=False).position,
            job.query.settings.visits,
            deliver,
            wanted_by(job.query),
            job.stop.is_set,
            then,
        )

    def _done(self, job: AnalysisJob) -> None:
        self._under_way.remove(job)
        self._jobs.done(job)

    def _answer(self, job: AnalysisJob, result: SearchResult) -> Answer:
        if not result.visits:
            return nothing_found(job.query, job.turn.number)
        return found(
            job.query,
            job.turn.number,
            result,
            lambda: evaluate_one(self._evaluator, result.position),
            during=False,
            real=job.turn.position,
        )
