"""The engine from Python: waiting, awaiting, streaming; one search at a time."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tengen.engine.engine import Engine
from tengen.engine.levels import level_named
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.request import Limits, SearchRequest


def slow(batch: Batch) -> Evaluation:
    time.sleep(0.002)
    return uniform(batch)


def test_a_search_waits_for_its_visits_and_knows_who_will_own_what() -> None:
    with Engine(FakeEvaluator()) as engine:
        result = engine.search(Position(5), visits=60)
        assert result.visits == 60
        assert result.ownership is not None
        assert result.ownership.shape == (5, 5)


def test_the_tree_is_kept_from_move_to_move() -> None:
    with Engine(FakeEvaluator()) as engine:
        position = Position(5)
        first = engine.search(position, visits=100)
        second = engine.search(position.play(first.move), visits=100)
        assert second.reused == first.moves[0].visits
        engine.clear()
        assert engine.search(position.play(first.move), visits=100).reused == 0


def test_a_stream_shows_a_growing_search_and_ends_with_its_result() -> None:
    with Engine(FakeEvaluator(slow)) as engine:
        visits = [result.visits for result in engine.stream(Position(5), visits=400, every=0.02)]
        assert len(visits) > 2
        assert visits == sorted(visits)
        assert visits[-1] == 400


def test_leaving_a_stream_ends_its_search() -> None:
    with Engine(FakeEvaluator(slow)) as engine:
        for _ in engine.stream(Position(5), seconds=60, every=0.01):
            break
        began = time.monotonic()
        assert engine.search(Position(5), visits=1).visits >= 1
        assert time.monotonic() - began < 20


def test_searches_can_be_awaited_and_streamed() -> None:
    async def both() -> tuple[int, list[int]]:
        with Engine(FakeEvaluator(slow)) as engine:
            result = await engine.search_async(Position(5), visits=50)
            stream = engine.stream_async(Position(5).play("C3"), visits=200, every=0.02)
            return result.visits, [report.visits async for report in stream]

    visits, reports = asyncio.run(both())
    assert visits == 50
    assert reports == sorted(reports)
    assert reports[-1] == 200


def test_cancelling_an_awaited_search_ends_it() -> None:
    async def cancelled() -> float:
        with Engine(FakeEvaluator(slow)) as engine:
            task = asyncio.ensure_future(engine.search_async(Position(5), seconds=60))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic()

    began = time.monotonic()
    assert asyncio.run(cancelled()) - began < 20


@pytest.mark.parametrize("level", ["beginner", "expert", "champion"])
def test_an_awaited_decision_is_the_one_that_is_waited_for(level: str) -> None:
    async def decided(position: Position) -> Point | None:
        return (await engine.decide_async(position, level_named(level), 3, owner="a")).move

    with Engine(FakeEvaluator(best_batch=1)) as engine:
        for position in (Position(5), Position(5).play("C3"), Position(5).play("pass")):
            assert asyncio.run(decided(position)) == engine.genmove(position, level, 3).move


def test_cancelling_an_awaited_decision_ends_its_search() -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(engine.decide_async(Position(9), level_named("full"), 1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    def sleepy(batch: Batch) -> Evaluation:
        time.sleep(0.1)
        return uniform(batch)

    with Engine(FakeEvaluator(sleepy)) as engine:
        began = time.monotonic()
        asyncio.run(cancelled())
        assert engine.search(Position(5), visits=1).visits == 1
        assert time.monotonic() - began < 3


def test_a_new_search_ends_the_one_under_way() -> None:
    with Engine(FakeEvaluator(slow)) as engine:
        long = engine.start(SearchRequest(Position(5), Limits(seconds=60)))
        short = engine.start(SearchRequest(Position(4), Limits(visits=10)))
        assert short.result(20).position.size.area == 16
        assert long.result(20).stopped_by == "cancelled"


def test_parameters_can_be_changed_and_bad_ones_are_named() -> None:
    with Engine(FakeEvaluator()) as engine:
        engine.set_params(exploration=0.5)
        assert engine.params.exploration == 0.5
        with pytest.raises(ValueError, match="exploration must be"):
            engine.set_params(exploration=-1)
        with pytest.raises(ValueError, match="no_such_parameter"):
            engine.set_params(no_such_parameter=1)
        assert engine.search(Position(5), visits=5).visits == 5


def test_the_tree_goes_on_under_other_parameters_where_it_can() -> None:
    with Engine(FakeEvaluator()) as engine:
        engine.search(Position(5), visits=100)
        engine.set_params(exploration=0.5)
        assert engine.search(Position(5), visits=120).reused == 100
        engine.set_params(wide_root_noise=0.1)
        assert engine.search(Position(5), visits=100).reused == 0
        position, moves = engine.moves_after([None])
        assert position.last_move is not None
        assert all(each.visits for each in moves)


def test_closing_ends_the_thread() -> None:
    before = set(threading.enumerate())
    engine = Engine(FakeEvaluator(slow))
    engine.start(SearchRequest(Position(5), Limits(seconds=60)))
    assert set(threading.enumerate()) - before
    engine.close()
    assert not set(threading.enumerate()) - before


def test_a_network_that_failed_once_is_asked_again() -> None:
    calls = 0

    def failing_once(batch: Batch) -> Evaluation:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("out of memory")
        return uniform(batch)

    with Engine(FakeEvaluator(failing_once)) as engine:
        with pytest.raises(RuntimeError, match="out of memory"):
            engine.search(Position(5), visits=50)
        assert engine.start(SearchRequest(Position(5), Limits(visits=50))).result(20).visits == 50
