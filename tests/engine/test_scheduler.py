"""Many searches at a time: what each finds, who goes first, and what ends them."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.engine.katago_params import PLAYING
from tengen.engine.task import SearchTask
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.params import SearchParams
from tengen.search.request import OVER, VISITS, Limits, RootOptions, SearchRequest, Wanted
from tengen.search.result import SearchResult
from tests.search.plain_search import Search
from tests.search.scripts import Script, opinions

MOVES = ["D4", "F6", "E3", "C6", "G4", "E7", "C3", "F3", "F4", "G3", "H4", "H3", "D7", "D6"]
ONE_LEAF = FakeEvaluator(opinions(), best_batch=1)
TREES = 24  # fewer than positions, so that they walk through the game
ENDLESS = Limits(visits=10**9)


def slowly(batch: Batch) -> Evaluation:
    time.sleep(0.001)
    return uniform(batch)


def game(size: int = 9, moves: Sequence[str] = MOVES) -> list[Position]:
    """The positions before the first and after each move."""
    line = [Position(size, "tromp-taylor", 7)]
    for move in moves:
        line.append(line[-1].play(move))
    return line


def likely_game(moves: int) -> list[Position]:
    """A game in which each move is the one that a search expects."""
    line, search = [Position(9, "tromp-taylor", 7)], Search(ONE_LEAF)
    for _ in range(moves):
        search.set_position(line[-1])
        line.append(line[-1].play(search.run(Limits(visits=80)).move))
    return line


def requests(
    positions: Sequence[Position], visits: int, wanted: Wanted | None = None, priority: int = 0
) -> list[SearchRequest]:
    limits = Limits(visits=visits)
    return [
        SearchRequest(position, limits, wanted=wanted or Wanted(), priority=priority)
        for position in positions
    ]


def found(
    script: Script,
    positions: Sequence[Position],
    visits: int,
    wanted: Wanted | None = None,
    best_batch: int = 8,
    cache_megabytes: float = 0.0,
    params: SearchParams | None = None,
    tree_megabytes: float = 1000.0,
    max_searches: int | None = None,
) -> list[SearchResult]:
    """What is found in each of the positions of a game."""
    with Engine(
        FakeEvaluator(script, best_batch=best_batch),
        cache_megabytes=cache_megabytes,
        params=params,
        tree_megabytes=tree_megabytes,
        max_searches=max_searches,
    ) as engine:
        tasks = engine.submit_game(requests(positions, visits, wanted))
        return [task.result(60) for task in tasks]


def unsure(script: Script) -> Script:
    """With uncertainties that differ from position to position."""

    def with_errors(batch: Batch) -> Evaluation:
        said = script(batch)
        return said._replace(value_error=said.value[:, 0] + 0.5, score_error=said.spread + 1)

    return with_errors


def unrelated(count: int) -> list[Position]:
    """Positions of which none follows another."""
    empty = Position(9, "tromp-taylor", 7)
    points = [(x, y) for y in range(9) for x in range(9)]
    return [empty.play(points[k]).play(points[k - 40]) for k in range(count)]


def search_threads() -> int:
    return sum(thread.name == "search" for thread in threading.enumerate())


# What is found


def test_unrelated_positions_are_searched_as_each_would_be_alone() -> None:
    evaluator = FakeEvaluator(unsure(opinions()), best_batch=1)
    positions = unrelated(20)
    wanted = Wanted(ownership=True, moves_ownership=True)
    results = found(unsure(opinions()), positions, 60, wanted, best_batch=1)
    for position, many in zip(positions, results, strict=True):
        alone = Search(evaluator, SearchParams(**PLAYING))
        alone.set_position(position)
        one = alone.run(Limits(visits=60), wanted=wanted)
        assert many.position is position
        assert many.stopped_by == VISITS
        assert [(each.move, each.visits) for each in many.moves] == [
            (each.move, each.visits) for each in one.moves
        ]
        assert many.winrate == one.winrate
        assert many.evaluated == one.evaluated
        assert many.raw.uncertainty == one.raw.uncertainty != (0, 0, 0)
        np.testing.assert_array_equal(many.policy, one.policy)
        assert many.ownership is not None
        assert one.ownership is not None
        np.testing.assert_array_equal(many.ownership, one.ownership)
        assert many.moves[0].ownership is not None


def test_the_turns_of_a_game_keep_their_trees() -> None:
    line = likely_game(80)
    alone = Search(ONE_LEAF)
    fresh = kept = 0
    # Without looks at passes, which are evaluations beyond the visits.
    results = found(opinions(), line, 80, best_batch=1, params=alone.params, max_searches=TREES)
    for position, many in zip(line, results, strict=True):
        alone.forget()
        alone.set_position(position)
        one = alone.run(Limits(visits=80))
        assert many.visits == 80
        assert many.evaluated <= 80 - many.reused
        assert abs(many.winrate - one.winrate) < 0.1
        fresh += one.evaluated
        kept += many.evaluated
    assert kept < 0.8 * fresh


def test_uncertainty_is_that_of_the_position_though_its_tree_was_kept() -> None:
    results = found(unsure(opinions()), likely_game(80), 50, max_searches=TREES)
    assert any(result.reused > 10 for result in results)
    for result in results:
        assert result.raw.uncertainty.value == pytest.approx(result.raw.winrate + 0.5, abs=1e-6)


def test_the_networks_output_at_the_root_is_told_though_its_tree_was_kept() -> None:
    line = likely_game(60)
    results = found(opinions(), line, 50, Wanted(root_evaluation=True), max_searches=TREES)
    assert any(result.reused > 10 for result in results)
    with Engine(FakeEvaluator(opinions())) as engine:
        expected = engine.evaluate(line).result(20)
    for k, result in enumerate(results):
        assert result.root_evaluation is not None
        np.testing.assert_array_equal(result.root_evaluation.policy, expected.policy[k])


def test_a_cache_saves_what_neighbouring_turns_share() -> None:
    asked = 0

    def counted(batch: Batch) -> Evaluation:
        nonlocal asked
        asked += len(batch.planes)
        return opinions()(batch)

    results = found(counted, likely_game(14), 60, cache_megabytes=10)
    assert asked < 0.8 * sum(result.evaluated for result in results)


def test_no_position() -> None:
    assert found(uniform, [], 10) == []


def test_boards_of_different_sizes() -> None:
    positions = [
        *game(9, MOVES[:6]),
        Position((5, 7)),
        *game(13, MOVES[:3]),
        Position((5, 7)).play("C3"),
    ]
    results = found(opinions(), positions, 30)
    for position, result in zip(positions, results, strict=True):
        assert result.position is position
        assert result.visits == 30
        assert len(result.policy) == position.size.area + 1
        assert result.move is None or position.is_legal(result.move)


def test_finished_games_have_no_visits() -> None:
    over = Position(5).play("pass").play("pass")
    line = [Position(5), Position(5).play("pass"), over, Position(5).play("C3"), over]
    results = found(opinions(), line, 20)
    assert [result.visits for result in results] == [20, 20, 0, 20, 0]
    assert [result.stopped_by for result in results] == [VISITS, VISITS, OVER, VISITS, OVER]
    assert results[2].moves == ()


def test_little_memory_is_enough() -> None:
    line = game(9, MOVES[:6])
    results = found(opinions(), line, 50, tree_megabytes=0.5)
    assert [result.visits for result in results] == [50] * len(line)


def test_deep_searches_run_at_the_same_time() -> None:
    positions = unrelated(5)
    with Engine(FakeEvaluator(slowly), params=SearchParams(megabytes=2)) as engine:
        tasks = [
            engine.submit(SearchRequest(position, Limits(seconds=0.5))) for position in positions
        ]
        began = time.monotonic()
        results = [task.result(20) for task in tasks]
        assert time.monotonic() - began < 2.4  # one after another: 2.5
    assert all(result.stopped_by == "time" and result.visits > 1 for result in results)


def test_whatever_the_time_something_is_known() -> None:
    def very_slow(batch: Batch) -> Evaluation:
        time.sleep(0.05)
        return uniform(batch)

    with Engine(FakeEvaluator(very_slow)) as engine:
        assert engine.search(Position(5), seconds=1e-6).visits >= 1


def test_small_searches_share_batches() -> None:
    sizes = []

    def noting(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        time.sleep(0.001)
        return opinions()(batch)

    with Engine(FakeEvaluator(noting, best_batch=64)) as engine:
        trees = [engine.new_tree(ownership=False, max_visits=40) for _ in range(16)]
        tasks = [
            engine.submit(request, tree=tree)
            for tree, request in zip(trees, requests(unrelated(16), 40), strict=True)
        ]
        assert all(task.result(20).visits == 40 for task in tasks)
    assert np.median(sizes) >= 8


# Who goes first


@pytest.mark.parametrize(("seconds_at_a_time", "early"), [(0.1, True), (1000.0, False)])
def test_a_slow_network_tells_of_the_first_positions_long_before_the_last(
    seconds_at_a_time: float, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fast one, for which all are done within that time, has them under way together."""
    monkeypatch.setattr("tengen.engine.scheduler.SECONDS_AT_A_TIME", seconds_at_a_time)
    asked = 0
    asked_until: list[int] = []  # each result

    def slow(batch: Batch) -> Evaluation:
        nonlocal asked
        time.sleep(0.01)
        asked += len(batch.planes)
        return opinions()(batch)

    with Engine(FakeEvaluator(slow)) as engine:
        tasks = engine.submit_game(requests(unrelated(70), 60))
        for task in tasks:
            task.future.add_done_callback(lambda _: asked_until.append(asked))
        for task in tasks:
            task.result(60)
    assert (asked_until[0] < 0.6 * asked) is early


def test_owners_have_equal_shares_however_much_they_ask_for() -> None:
    with Engine(FakeEvaluator(slowly)) as engine:
        engine.submit_game(requests(unrelated(60), 400), owner="many")
        time.sleep(0.05)
        began = time.monotonic()
        engine.submit(requests([Position(9)], 100)[0], owner="one").result(60)
        alone = time.monotonic() - began
        # Alone it takes some 60 batches of a millisecond; a sixtieth of the time would be 3 s.
        assert alone < 2.5


def test_higher_priorities_go_first() -> None:
    ended: list[str] = []
    with Engine(FakeEvaluator(slowly), max_searches=4) as engine:
        low = engine.submit_game(requests(unrelated(30), 200), owner="client")
        high = engine.submit_game(requests(unrelated(10), 200, priority=5), owner="client")
        for name, tasks in (("low", low), ("high", high)):
            for task in tasks:
                task.future.add_done_callback(lambda _, name=name: ended.append(name))  # type: ignore[misc]
        for task in [*low, *high]:
            task.result(60)
    assert "high" not in ended[14:]  # before them those that were under way, at most


def test_priorities_that_rise_do_not_begin_any_number_of_searches() -> None:
    position = Position(9)
    with Engine(FakeEvaluator(slowly), max_searches=3) as engine:
        tasks = []
        for k in range(12):
            request = SearchRequest(position, Limits(visits=1000), priority=k)
            tasks.append(engine.submit(request, owner="client"))
            time.sleep(0.02)
        assert sum(task.begun for task in tasks) == 6


def test_priorities_within_a_game_do_not_cost_its_trees() -> None:
    asked = requests(likely_game(12), 40)
    urgent = [replace(request, priority=1) for request in asked[:2]]
    with Engine(ONE_LEAF, max_searches=1) as engine:
        alike, others = (
            [task.result(60).reused for task in engine.submit_game(game)]
            for game in (asked, [*urgent, *asked[2:]])
        )
    assert alike == others
    assert alike[2] > 0


# What ends them


def test_progress_is_told_while_a_search_runs() -> None:
    told: list[SearchResult] = []
    position = Position(5).play("C3")
    request = SearchRequest(
        position,
        Limits(visits=50),
        RootOptions(gumbel=4),
        Wanted(pv_length=1),
        progress_interval=0,
    )
    with Engine(FakeEvaluator(opinions())) as engine:
        task = engine.submit(request, on_progress=told.append)
        result = task.result(20)
    assert result.position is position
    assert (result.visits, result.stopped_by) == (50, "visits")
    assert len(result.moves) == 4
    assert {len(each.pv) for each in result.moves} == {1}
    visits = [each.visits for each in told]
    assert visits == sorted(visits)
    assert {each.stopped_by for each in told} == {"running"}


def test_the_first_report_has_a_time_of_its_own() -> None:
    told: list[SearchResult] = []
    request = SearchRequest(Position(9), ENDLESS, first_progress=0.1)
    with Engine(FakeEvaluator(slowly)) as engine:
        task = engine.submit(request, on_progress=told.append)
        deadline = time.monotonic() + 20
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        task.stop()
        task.result(20)
    assert len(told) == 1
    assert told[0].seconds >= 0.1


def test_stopped_searches_end_with_what_they_have_and_waiting_ones_with_nothing() -> None:
    with Engine(FakeEvaluator(slowly), max_searches=1) as engine:
        first, second = engine.submit_game(requests(unrelated(2), 2000))
        time.sleep(0.1)
        second.stop()
        assert (second.result(0).visits, second.result().stopped_by) == (0, "cancelled")
        assert not first.done
        first.stop()
        assert first.result(20).stopped_by == "cancelled"
        assert first.result().visits > 0


def test_a_cancelled_search_has_no_result() -> None:
    with Engine(FakeEvaluator(slowly)) as engine:
        task = engine.submit(SearchRequest(Position(5), ENDLESS))
        task.cancel()
        assert task.future.cancelled()
        assert engine.search(Position(5), visits=5).visits == 5


def test_closing_ends_the_thread_and_what_it_searches() -> None:
    threads = search_threads()
    evaluations = threading.Semaphore(0)

    def counted(batch: Batch) -> Evaluation:
        evaluations.release()
        return slowly(batch)

    engine = Engine(FakeEvaluator(counted), max_searches=1)
    assert search_threads() == threads + 1
    first, task, waiting = engine.submit_game(requests(unrelated(3), 10**6))
    for _ in range(8):
        assert evaluations.acquire(timeout=60)
    first.stop()
    first.result(60)
    for _ in range(8):  # it goes on with the next turn
        assert evaluations.acquire(timeout=60)
    engine.close()
    assert search_threads() == threads
    assert first.result(0).visits > 0
    assert task.result(0).stopped_by == "cancelled"
    assert waiting.future.cancelled()
    with pytest.raises(ValueError, match="closed"):
        engine.search(Position(5), visits=1)
    engine.close()


def test_whoever_asked_hears_what_went_wrong_and_the_thread_goes_on() -> None:
    broken = True

    def failing(batch: Batch) -> Evaluation:
        if broken:
            raise RuntimeError("no network")
        return uniform(batch)

    with Engine(FakeEvaluator(failing)) as engine:
        tasks = engine.submit_game(requests(unrelated(5), 20))
        for task in tasks:
            with pytest.raises(RuntimeError, match="no network"):
                task.result(20)
        with pytest.raises(RuntimeError, match="no network"):
            engine.evaluate([Position(5)]).result(20)
        broken = False
        assert engine.search(Position(5, komi=1), visits=5).visits == 5


def test_a_report_that_fails_ends_its_search_alone() -> None:
    def raising(_: SearchResult) -> None:
        raise RuntimeError("no screen")

    with Engine(FakeEvaluator(slowly)) as engine:
        other = engine.submit(SearchRequest(Position(5), Limits(visits=300)))
        task = engine.submit(
            SearchRequest(Position(5), ENDLESS, progress_interval=0), on_progress=raising
        )
        with pytest.raises(RuntimeError, match="no screen"):
            task.result(20)
        assert other.result(20).visits == 300


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
    tasks: deque[SearchTask] = deque()
    finished, memory = 0, 0.0

    def check(task: SearchTask, result: SearchResult) -> None:
        position = task.request.position
        assert result.position is position
        if result.stopped_by != "cancelled":
            assert (result.stopped_by == "game over") == position.is_over
        assert all(position.is_legal(each.move) for each in result.moves[:2])

    with Engine(FakeEvaluator(opinions()), params=SearchParams(megabytes=1)) as engine:
        trees = [engine.new_tree(max_visits=most) for most in (None, None, 200, 200)]
        for step in range(10_000):
            kind = choice.random()
            if kind < 0.2 or not tasks:
                limits = Limits(visits=choice.choice([1, 20, 200]))
                tree = choice.choice([*trees, None])
                if tree is not None and tree.max_visits is None and choice.random() < 0.5:
                    limits = ENDLESS
                request = SearchRequest(choice.choice(positions), limits, priority=step % 3)
                tasks.append(engine.submit(request, tree=tree, owner=step % 4))
            elif kind < 0.4:
                choice.choice(tasks).stop()
            elif kind < 0.42:
                choice.choice(trees).clear()
            elif kind < 0.9:
                task = choice.choice(tasks)
                with suppress(TimeoutError):
                    check(task, task.result(timeout=0))
                    finished += 1
            else:
                time.sleep(choice.random() * 0.01)
            if len(tasks) > 20:
                old = tasks.popleft()
                old.stop()
                check(old, old.result(timeout=20))
            if step == 2000:
                memory = resident_megabytes()
        for task in tasks:
            task.stop()
            check(task, task.result(timeout=20))
    assert resident_megabytes() - memory < 40
    assert search_threads() == threads
    assert finished > 200
