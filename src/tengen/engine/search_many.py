"""Searches of many positions: results in order, searches side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from tengen.engine.task import SearchTask
from tengen.search.request import SearchRequest
from tengen.search.result import SearchResult

# Waiting searches for each one under way, so that the engine never waits for the reader.
AHEAD = 2
Given = TypeVar("Given")
OnDone = Callable[[int, int | None], object]  # results so far, and in all if that is known


def search_in_order(
    submit: Callable[[SearchRequest], SearchTask],
    requests: Iterable[SearchRequest],
    at_a_time: Callable[[SearchRequest], int],
    progress: bool | OnDone,
) -> Iterator[SearchResult]:
    """The results of searches in the order of their requests, which are read as they are needed.

    Leaving the loop ends the searches under way.
    """
    total = len(requests) if isinstance(requests, Sized) else None
    under_way: deque[SearchTask] = deque()
    left = iter(requests)
    done = 0
    with reporting(progress) as report:
        report(done, total)
        try:
            for request in left:
                under_way.append(submit(request))
                more = AHEAD * at_a_time(request) - len(under_way)
                under_way.extend(map(submit, islice(left, max(0, more))))
                yield under_way.popleft().result()
                report(done := done + 1, total)
            while under_way:
                yield under_way.popleft().result()
                report(done := done + 1, total)
        finally:
            for task in under_way:
                task.cancel()


def requests_for(
    positions: Iterable[Given], request: Callable[[Given], SearchRequest]
) -> Iterable[SearchRequest]:
    """The requests for positions; their number is known if that of the positions is."""
    if isinstance(positions, Sequence):
        return [request(each) for each in positions]
    return (request(each) for each in positions)


@contextmanager
def reporting(progress: bool | OnDone) -> Iterator[OnDone]:
    """What to tell about each result: a function of the caller's, a bar on stderr, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda *_: None
    else:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        from tengen.terminal_console import TerminalConsole

        columns = TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=TerminalConsole(stderr=True)) as bars:
            bar = bars.add_task("searching", total=None)
            yield lambda done, total: bars.update(bar, completed=done, total=total)
