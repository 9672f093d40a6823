"""A session's tasks: one of each name, searches that end with them, and what goes wrong in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from tengen.engine.engine import Engine, wait_for
from tengen.engine.task import SearchTask
from tengen.frontends.web.limits import not_now
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.game.position import Position
from tengen.search.request import Limits, SearchRequest
from tests.frontends.web.made_up import slow_halves

ENDLESS = SearchRequest(Position(9, "chinese"), Limits(visits=10**9))


class Heard:
    """What the callbacks of tasks were told."""

    def __init__(self) -> None:
        self.found: list[object] = []
        self.failures: list[str] = []


def raise_error(_: object) -> None:
    raise ValueError("no screen")


def answer(value: object, heard: Callable[[object], None]) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        await asyncio.sleep(0.01)
        heard(value)

    return work


def result_of(search: SearchTask, heard: Callable[[object], None]) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        heard(await wait_for(search))

    return work


def fail(error: Exception) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        await asyncio.sleep(0)
        raise error

    return work


def test_a_new_task_takes_the_place_of_the_one_of_its_name() -> None:
    heard = Heard()

    async def main() -> None:
        tasks = SessionTasks()
        for value in (1, 2):
            tasks.start("a", answer(value, heard.found.append), heard.failures.append)
        tasks.start("b", answer(3, heard.found.append), heard.failures.append)
        tasks.start("c", answer(4, heard.found.append), heard.failures.append)
        tasks.cancel("c", "unknown")
        assert tasks.running("a")
        assert not tasks.running("c")
        await asyncio.sleep(0.1)
        assert not tasks.running("a")

    asyncio.run(main())
    assert heard.found == [2, 3]
    assert heard.failures == []


def test_work_that_fails_is_reported_and_the_next_one_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    heard = Heard()

    async def main() -> None:
        tasks = SessionTasks()
        for error in (ZeroDivisionError("oh"), not_now("later")):
            tasks.start("a", fail(error), heard.failures.append)
            await asyncio.sleep(0.05)
            assert not tasks.running("a")
        tasks.start("a", answer(1, raise_error), heard.failures.append)
        await asyncio.sleep(0.05)
        tasks.start("a", answer(1, heard.found.append), heard.failures.append)
        await asyncio.sleep(0.05)

    asyncio.run(main())
    assert heard.found == [1]
    assert heard.failures[:2] == ["the search failed: ZeroDivisionError: oh", "later"]
    assert heard.failures[2:] == ["the search failed: ValueError: no screen"]
    assert "ZeroDivisionError: oh" in capsys.readouterr().err


def test_a_search_ends_soon_after_its_task_was_cancelled() -> None:
    heard = Heard()
    with Engine(slow_halves(0.01)) as engine:
        search = engine.submit(ENDLESS, owner="a")

        async def main() -> None:
            tasks = SessionTasks()
            tasks.start("a", result_of(search, heard.found.append), heard.failures.append)
            await asyncio.sleep(0.1)
            tasks.cancel_all()
            await asyncio.sleep(0)

        asyncio.run(main())
        begun = time.monotonic()
        assert engine.search(Position(9, "chinese"), visits=5).visits == 5
        assert time.monotonic() - begun < 2
        assert search.stopped
    assert heard.found == []
    assert heard.failures == []


def test_closing_the_engine_ends_tasks_without_a_word() -> None:
    heard = Heard()

    async def main() -> None:
        tasks = SessionTasks()
        engine = Engine(slow_halves(0.01), max_searches=1)
        running, waiting = (engine.submit(ENDLESS, owner="a") for _ in range(2))
        tasks.start("running", result_of(running, heard.found.append), heard.failures.append)
        tasks.start("waiting", result_of(waiting, heard.found.append), heard.failures.append)
        await asyncio.sleep(0.1)
        await asyncio.to_thread(engine.close)
        await asyncio.sleep(0.1)
        assert not tasks.running("running")
        assert not tasks.running("waiting")

    asyncio.run(main())
    assert len(heard.found) == 1
    assert heard.failures == []
