"""Searches that are watched, stopped and exchanged: from other threads, and in the background."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.background import BackgroundSearch, Task
from tengen.search.request import Limits
from tengen.search.params import SearchParams
from tengen.search.result import SearchResult
from tengen.search.request import Wanted
from tengen.search.request import RootOptions
from tengen.search.search import Search
from tests.search.scripts import Script, opinions
from tests.search.trees import forest_of, searching

ENDLESS = Limits(visits=10**9)


def slowly(batch: Batch) -> Evaluation:
    time.sleep(0.001)
    return uniform(batch)


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


def test_another_position_from_another_thread_ends_a_search() -> None:
    first, second = Position(9), Position(9).play("E5")
    begun = threading.Event()
    ends: list[SearchResult] = []

    def slow(batch: Batch) -> Evaluation:
        begun.set()
        time.sleep(0.001)
        return uniform(batch)

    search = searching(first, slow)
    runner = threading.Thread(target=lambda: ends.append(search.run(Limits(visits=10**6))))
    runner.start()
    assert begun.wait(10)
    search.set_position(second)
    runner.join(10)
    assert not runner.is_alive()
    (result,) = ends
    assert (result.stopped_by, result.position) == ("cancelled", first)
    assert search.position == second
    assert search.run(Limits(playouts=5)).position == second


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


# In the background


def background(script: Script = slowly) -> BackgroundSearch:
    return BackgroundSearch(Search(FakeEvaluator(script), SearchParams(megabytes=1)))


def search_threads() -> int:
    return sum(thread.name == "search" for thread in threading.enumerate())


def wait_for_visits(searches: BackgroundSearch, task: Task, visits: int) -> SearchResult:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = searches.snapshot(task)
        if found is not None and found.visits >= visits:
            return found
        time.sleep(0.001)
    raise AssertionError("no such visits")


def test_a_background_search_comes_to_its_result() -> None:
    told: list[SearchResult] = []
    position = Position(5).play("C3")
    with background(opinions()) as searches:
        task = searches.start(
            position,
            Limits(visits=50),
            options=RootOptions(gumbel=4),
            wanted=Wanted(pv_length=1),
            on_progress=told.append,
            every=0,
        )
        result = task.result(20)
        assert task.done
        assert result.position is position
        assert (result.visits, result.stopped_by) == (50, "visits")
        assert len(result.moves) == 4
        assert {len(each.pv) for each in result.moves} == {1}
        assert told
        assert searches.snapshot(task) is None


def test_a_search_under_way_can_be_watched_and_cancelled() -> None:
    position = Position(5)
    with background() as searches:
        task = searches.start(position, ENDLESS)
        early = wait_for_visits(searches, task, 10)
        late = wait_for_visits(searches, task, early.visits + 10)
        assert early.position is late.position is position
        assert late.stopped_by == "running"
        assert not task.done
        with pytest.raises(TimeoutError):
            task.result(timeout=0)
        task.cancel()
        result = task.result(20)
        assert result.stopped_by == "cancelled"
        assert result.visits >= late.visits


def test_a_new_search_takes_the_place_of_the_one_under_way() -> None:
    with background() as searches:
        first = searches.start(Position(5), ENDLESS)
        wait_for_visits(searches, first, 3)
        second = searches.start(Position(5).play("C3"), Limits(visits=20))
        assert first.result(20).stopped_by == "cancelled"
        assert first.result().position == Position(5)
        assert second.result(20).position == Position(5).play("C3")
        assert second.result().visits == 20
        assert searches.snapshot(first) is None


def test_the_tree_is_kept_from_one_background_search_to_the_next() -> None:
    with background() as searches:
        found = searches.start(Position(5), Limits(visits=100)).result(20).moves[0]
        after = Position(5).play(found.move)
        assert searches.start(after, Limits(playouts=10)).result(20).reused == found.visits


def test_stopping_ends_what_is_under_way() -> None:
    with background() as searches:
        searches.stop()
        task = searches.start(Position(5), ENDLESS)
        wait_for_visits(searches, task, 3)
        searches.stop()
        assert task.result(20).stopped_by == "cancelled"
        assert searches.start(Position(5), Limits(playouts=5)).result(20).stopped_by == "playouts"


def test_closing_ends_the_thread_and_what_it_searches() -> None:
    threads = search_threads()
    searches = background()
    assert search_threads() == threads + 1
    task = searches.start(Position(5), ENDLESS)
    searches.close()
    assert search_threads() == threads
    assert task.result(0).position == Position(5)
    with pytest.raises(ValueError, match="closed"):
        searches.start(Position(5), Limits(visits=1))
    searches.close()


def test_what_goes_wrong_is_told_to_who_asked_and_the_thread_lives_on() -> None:
    broken = True

    def failing(batch: Batch) -> Evaluation:
        if broken:
            raise RuntimeError("no network")
        return uniform(batch)

    with background(failing) as searches:
        task = searches.start(Position(5), Limits(visits=5))
        with pytest.raises(RuntimeError, match="no network"):
            task.result(20)
        broken = False
        assert searches.snapshot(task) is None
        assert searches.start(Position(5, komi=1), Limits(visits=5)).result(20).visits == 5


def resident_megabytes() -> float:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096 / 1e6


def random_games(choice: random.Random) -> list[Position]:
    """All positions of some games, the last of which are over."""
    positions = []
    for size in (4, 5, 5):
        position = Position(size, choice.choice(["tromp-taylor", "japanese"]), move_limit=30)
        while not position.is_over:
            positions.append(position)
            position = position.play(choice.choice([*position.legal_moves(), None]))
        positions.append(position)
    return positions


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from Linux")
def test_ten_thousand_random_orders_do_no_harm() -> None:
    choice = random.Random(11)
    positions = random_games(choice)
    threads = search_threads()
    tasks: deque[Task] = deque()
    seen, finished, memory = 0, 0, 0.0

    def check(task: Task, result: SearchResult) -> None:
        assert result.position is task.position
        assert (result.stopped_by == "game over") == task.position.is_over
        assert all(task.position.is_legal(each.move) for each in result.moves[:2])

    with background(opinions()) as searches:
        for step in range(10_000):
            kind = choice.random()
            if kind < 0.2 or not tasks:
                limits = Limits(visits=choice.choice([1, 20, 200, 10**9]))
                tasks.append(searches.start(choice.choice(positions), limits))
            elif kind < 0.3:
                choice.choice(tasks).cancel()
            elif kind < 0.35:
                searches.stop()
            elif kind < 0.65:
                task = choice.choice([tasks[-1], choice.choice(tasks)])
                found = searches.snapshot(task)
                if found is not None:
                    assert found.position is task.position
                    seen += found.visits > 0
            elif kind < 0.9:
                task = choice.choice(tasks)
                with suppress(TimeoutError):
                    check(task, task.result(timeout=0))
                    finished += 1
            else:
                time.sleep(choice.random() * 0.01)
            if len(tasks) > 20:
                old = tasks.popleft()  # others came after it, so its end is near
                check(old, old.result(timeout=20))
            if step == 2000:
                memory = resident_megabytes()
    assert resident_megabytes() - memory < 40
    for task in tasks:
        check(task, task.result(timeout=0))
    assert search_threads() == threads
    assert seen > 20
    assert finished > 200
