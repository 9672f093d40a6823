"""The search tasks of a query, and the answers from their results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeAlias

from tengen.engine.task import SearchTask
from tengen.frontends.analysis.answers import Answer, failed, found, nothing_found
from tengen.frontends.analysis.error_text import one_safe_line
from tengen.frontends.analysis.query import Query, QueryTurn
from tengen.frontends.analysis.query_positions import root_of
from tengen.search.request import Limits, RootOptions, SearchRequest
from tengen.search.result import SearchResult
from tengen.user_messages import say

Send: TypeAlias = Callable[[Answer], None]

LEAST_SECONDS = 1e-3


def task_for(query: Query, turn: QueryTurn, owner: object, send: Send) -> SearchTask:
    """A task for one position of a query, whose progress and result are sent as answers."""

    def on_progress(result: SearchResult) -> None:
        if result.visits:
            send(found(query, turn, result, during=True))

    def on_done(future: Future[SearchResult]) -> None:
        if future.cancelled():
            return
        try:
            result = future.result()
            send(found(query, turn, result) if result.visits else nothing_found(query, turn))
        except Exception as error:
            text = one_safe_line(f"the search failed: {type(error).__name__}: {error}")
            say(text)
            send(failed(query, turn, text))

    task = SearchTask(request_for(query, turn), owner, on_progress)
    task.future.add_done_callback(on_done)
    return task


def request_for(query: Query, turn: QueryTurn) -> SearchRequest:
    """What the engine is asked for."""
    settings, include = query.settings, query.include
    position, forbidden = root_of(turn.position, settings.ignore_history)
    seconds = settings.seconds
    return SearchRequest(
        position,
        Limits(
            visits=settings.visits,
            playouts=settings.playouts,
            seconds=None if seconds is None else max(seconds, LEAST_SECONDS),
        ),
        RootOptions(
            noisy=settings.noisy_root,
            avoid=(*query.avoid, *forbidden),
            symmetry_pruning=settings.symmetry_pruning,
        ),
        replace(include.wanted(settings.pv_length + 1), root_evaluation=include.policy),
        params=settings.search_params(),
        progress_interval=query.report_every,
        first_progress=query.first_report,
        priority=turn.priority,
    )
