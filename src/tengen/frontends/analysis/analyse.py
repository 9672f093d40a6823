"""One position of a query: searched, and told about along the way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tengen.frontends.analysis.answers import Answer, found, nothing_found
from tengen.frontends.analysis.query import Query, QueryTurn
from tengen.frontends.analysis.query_positions import root_of
from tengen.game.position import Position
from tengen.network.evaluator import (
    Batch,
    Evaluation,
    Evaluator,
    EvaluatorWrapper,
    Pending,
    encode,
    evaluate,
)
from tengen.search.request import TIME, Limits, RootOptions, Wanted
from tengen.search.result import SearchResult
from tengen.search.search import Search

LEAST_SECONDS = 1e-3


class Analyst:
    """Searches positions one after another. Turns of one query keep the tree from move to move."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._watch = _RootWatch(evaluator)
        self._query: Query | None = None
        self._search: Search | None = None

    def forget(self) -> None:
        """Drop the tree."""
        self._query = self._search = None

    def analyse(
        self,
        query: Query,
        turn: QueryTurn,
        megabytes: float,
        stop: threading.Event,
        report: Callable[[Answer], None],
    ) -> Answer:
        """Search a position until its limits are reached or `stop` is set; returns the answer.

        `report` gets the answers before it, as often as the query wants them.
        """
        search = self._stand_at(query, turn, megabytes)

        def answer(result: SearchResult, during: bool) -> Answer:
            if not result.visits:
                return nothing_found(query, turn.number)

            def root() -> Evaluation:
                return self._watch.root_at(result.position)

            return found(query, turn.number, result, root, during, turn.position)

        def on_progress(result: SearchResult) -> None:
            if result.visits:
                report(answer(result, during=True))

        return answer(_run(search, query, stop, on_progress), during=False)

    def _stand_at(self, query: Query, turn: QueryTurn, megabytes: float) -> Search:
        """A search at the position, with a new tree unless the last one goes on there."""
        settings = query.settings
        if self._search is None or self._query is not query:
            params = replace(settings.search_params(), megabytes=megabytes)
            ownership = query.include.any_ownership
            self._query, self._search = query, Search(self._watch, params, ownership=ownership)
        position, forbidden = root_of(turn.position, settings.ignore_history)
        options = RootOptions(
            noisy=settings.noisy_root,
            avoid=(*query.avoid, *forbidden),
            symmetry_pruning=settings.symmetry_pruning,
        )
        self._search.set_position(position, options)
        self._watch.expect_root(fresh=not self._search.result().visits)
        return self._search


def wanted_by(query: Query) -> Wanted:
    """What a query's answers need of a result."""
    return query.include.wanted(query.settings.pv_length + 1)


def _run(
    search: Search,
    query: Query,
    stop: threading.Event,
    on_progress: Callable[[SearchResult], None],
) -> SearchResult:
    """Search within a query's limits, with reports along the way."""
    every, wanted = query.report_every, wanted_by(query)
    limits = _limits(query)
    if query.first_report is not None:
        result = search.run(_until(limits, query.first_report), wanted=wanted, stop=stop)
        if result.stopped_by != TIME or query.first_report >= (limits.seconds or np.inf):
            return result
        on_progress(result)
        limits = _rest(limits, query.first_report, result)
    result = search.run(
        limits,
        wanted=wanted,
        stop=stop,
        on_progress=None if every is None else on_progress,
        every=every or np.inf,
    )
    if not result.visits and not stop.is_set():  # no time, but something must be said
        result = search.run(Limits(visits=1), wanted=wanted, stop=stop)
    return result


def _limits(query: Query) -> Limits:
    settings = query.settings
    seconds = settings.seconds
    return Limits(
        visits=settings.visits,
        playouts=settings.playouts,
        seconds=None if seconds is None else max(seconds, LEAST_SECONDS),
    )


def _until(limits: Limits, seconds: float) -> Limits:
    return replace(limits, seconds=min(seconds, limits.seconds or np.inf))


def _rest(limits: Limits, spent: float, result: SearchResult) -> Limits:
    """What is left of the limits after a first part."""
    seconds, playouts = limits.seconds, limits.playouts
    return replace(
        limits,
        seconds=None if seconds is None else max(seconds - spent, LEAST_SECONDS),
        playouts=None if playouts is None else max(playouts - result.visits, 1),
    )


def evaluate_one(evaluator: Evaluator, position: Position) -> Evaluation:
    """What the network says of a position, without the batch axis."""
    found = evaluate(evaluator, encode(evaluator.features, [position]))
    return Evaluation(*(values[0] for values in found))


class _RootWatch(EvaluatorWrapper):
    """An evaluator that remembers what was said of the root, as far as a new tree asks for it."""

    def __init__(self, inner: Evaluator) -> None:
        super().__init__(inner)
        self._root: Evaluation | None = None  # without the batch axis
        self._fresh = False

    def expect_root(self, fresh: bool) -> None:
        """Watch out for another root, which is the first that a fresh tree asks for."""
        self._root, self._fresh = None, fresh

    def root_at(self, position: Position) -> Evaluation:
        """What the network says of the root, which stands at this position."""
        if self._root is None:
            self._root = evaluate_one(self._inner, position)
        return self._root

    def submit(self, batch: Batch) -> Pending:
        pending = self._inner.submit(batch)
        if not self._fresh:
            return pending
        self._fresh = False
        return _Watched(self, pending)

    def note(self, root: Evaluation) -> None:
        """The answer to a fresh tree's first question."""
        self._root = root


class _Watched:
    def __init__(self, watch: _RootWatch, pending: Pending) -> None:
        self._watch, self._pending = watch, pending

    def result(self) -> Evaluation:
        evaluation = self._pending.result()
        self._watch.note(Evaluation(*(np.copy(values[0]) for values in evaluation)))
        return evaluation
