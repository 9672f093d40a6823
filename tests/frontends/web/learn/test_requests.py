"""Requests of the page for learning: what they may send, and how long others wait for them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import Counter
from contextlib import closing
from http.client import HTTPConnection

import pytest

from tengen.frontends.web import limits
from tengen.frontends.web.learn import capture_go
from tengen.frontends.web.learn.work import MOST_WAITING, LearningWork
from tengen.frontends.web.limits import RefusedError
from tests.frontends.web.server import Client

JSON = {"Content-Type": "application/json"}
CAPTURE = {"side": 5, "level": "sharp", "colour": "white", "moves": [], "seed": 1}


def posted(port: int, content: bytes) -> tuple[int, bytes]:
    """The status and the answer of a request for a move of capture Go."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/api/learn/capture", content, JSON)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_a_request_is_read_up_to_its_limit(port: int) -> None:
    content = json.dumps(CAPTURE).encode()
    status, answer = posted(port, content.ljust(limits.BODY_BYTES))
    assert status == 200
    assert len(json.loads(answer)["moves"]) == 1
    status, answer = posted(port, content.ljust(limits.BODY_BYTES + 1))
    assert (status, answer) == (413, b"a request has at most 64,000 bytes\n")


@pytest.mark.parametrize("kind", ["Content-Length: 9000000000", "Transfer-Encoding: chunked"])
def test_a_request_that_does_not_end_is_not_waited_for(port: int, kind: str) -> None:
    piece = 1000 * b"["
    if "chunked" in kind:
        piece = b"%x\r\n%b\r\n" % (len(piece), piece)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        head = f"POST /api/learn/capture HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n\r\n"
        connection.sendall(head.encode())
        for _ in range(limits.BODY_BYTES // 1000 + 1):
            connection.sendall(piece)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_few_may_wait_and_the_others_are_told_so() -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def work() -> bool:
        begun.release()
        return go_on.wait(20)

    async def ask() -> list[bool | BaseException]:
        with LearningWork() as learning:
            waiting = [asyncio.create_task(learning.do(work)) for _ in range(MOST_WAITING)]
            await asyncio.to_thread(begun.acquire)
            with pytest.raises(RefusedError, match="too many") as refusal:
                await learning.do(work)
            assert refusal.value.data["reason"] == "busy"
            go_on.set()
            done = await asyncio.gather(*waiting)
            return [*done, await learning.do(work)]  # there is room again

    assert asyncio.run(ask()) == [True] * (MOST_WAITING + 1)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"moves": ["\ud800"]}, 422),
        ({"level": "\ud800"}, 422),
        ({"colour": "\ud800"}, 422),
        ({"\ud800": 1}, 422),
        ({"moves": 399 * [17]}, 422),
    ],
)
def test_what_is_no_text_is_refused_as_text(
    port: int, change: dict[str, object], status: int
) -> None:
    answered, answer = posted(port, json.dumps(CAPTURE | change).encode())
    assert answered == status
    assert json.loads(answer)
    assert len(answer) < 2_000


def test_learners_delay_nobody_who_plays(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def endless(*_: object) -> dict[str, object]:
        begun.release()
        go_on.wait(60)
        return {}

    monkeypatch.setattr(capture_go, "played_view", endless)
    content, statuses = json.dumps(CAPTURE).encode(), Counter[int]()
    learners = [
        threading.Thread(target=lambda: statuses.update([posted(port, content)[0]]))
        for _ in range(MOST_WAITING + 6)
    ]
    try:
        for each in learners:
            each.start()
        assert begun.acquire(timeout=20)
        with Client(port, session=32 * "b") as newcomer:  # whose game is looked for in a thread
            newcomer.settle()
    finally:
        go_on.set()
        for each in learners:
            each.join()
    assert sum(statuses.values()) == len(learners)
    assert statuses[200] >= MOST_WAITING
