"""Searches that are watched, stopped, or fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform
from tengen.search.request import Limits
from tengen.search.result import SearchResult
from tests.search.scripts import opinions
from tests.search.trees import forest_of, searching

ENDLESS = Limits(visits=10**9)


def test_progress_is_told_with_growing_visits() -> None:
    told: list[SearchResult] = []
    search = searching(Position(5), opinions())
    result = search.run(Limits(visits=200), on_progress=told.append, every=0)
    visits = [each.visits for each in told]
    assert len(visits) > 20
    assert all(fewer < more for fewer, more in pairwise(visits))
    assert visits[-1] <= result.visits == 200
    assert {each.stopped_by for each in told} == {"running"}
    assert all(each.position == Position(5) for each in told)


def test_progress_waits_its_time() -> None:
    told: list[SearchResult] = []
    search = searching(Position(5), opinions())
    search.run(Limits(visits=200), on_progress=told.append, every=60)
    assert not told


@pytest.mark.parametrize("leaves", [1, 8, 64])
def test_a_search_stops_within_a_batch(leaves: int) -> None:
    stop = threading.Event()
    batches = 0

    def stopping(batch: Batch) -> Evaluation:
        nonlocal batches
        batches += 1
        if batches == 20:
            stop.set()
        return uniform(batch)

    search = searching(Position(9), stopping, leaves=leaves)
    result = search.run(Limits(visits=10**6), stop=stop)
    assert result.stopped_by == "cancelled"
    assert batches <= 21
    # Nothing is left under way, and the search can go on.
    forest = forest_of(search)
    assert not forest.nodes[: forest.trees[0]["n_nodes"]]["pending"].any()
    assert search.run(Limits(playouts=10)).stopped_by == "playouts"


def test_a_stop_that_is_set_already_searches_nothing() -> None:
    stop = threading.Event()
    stop.set()
    result = searching(Position(5)).run(Limits(visits=100), stop=stop)
    assert (result.visits, result.stopped_by) == (0, "cancelled")


# When something fails


@contextmanager
def at_most(seconds: float) -> Iterator[threading.Event]:
    """An event that ends a search that would never end."""
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    try:
        yield stop
    finally:
        timer.cancel()
        timer.join()


class Failing:
    """A network that fails as often as it is told to."""

    def __init__(self) -> None:
        self.failures = 0

    def __call__(self, batch: Batch) -> Evaluation:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("no network")
        return uniform(batch)


def test_a_search_goes_on_after_the_network_failed_several_times() -> None:
    failing = Failing()
    search = searching(Position(5), failing)
    for komi in range(3):
        failing.failures = 1
        search.set_position(Position(5, komi=komi))
        with pytest.raises(RuntimeError, match="no network"):
            search.run(Limits(visits=20))
    search.set_position(Position(5, komi=7))
    assert search.run(Limits(visits=20)).visits == 20


@pytest.mark.parametrize("before", [0, 20])
def test_the_same_position_can_be_searched_after_the_network_failed(before: int) -> None:
    failing = Failing()
    search = searching(Position(5), failing)
    if before:
        search.run(Limits(visits=before))
    failing.failures = 1
    with pytest.raises(RuntimeError, match="no network"):
        search.run(Limits(visits=before + 20))
    search.set_position(Position(5))
    with at_most(5) as stop:
        assert search.run(Limits(visits=60), stop=stop).stopped_by == "visits"


def test_a_search_goes_on_after_whoever_watched_it_failed() -> None:
    def raising(_: object) -> None:
        raise RuntimeError("no screen")

    search = searching(Position(5), opinions(), leaves=64)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="no screen"):
            search.run(Limits(visits=200), on_progress=raising, every=0)
    with at_most(5) as stop:
        assert search.run(Limits(visits=200), stop=stop).stopped_by == "visits"
