"""The protocol over a WebSocket: who may come in, what is said, and what a departure frees."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import InvalidMessage, InvalidStatus
from websockets.http11 import Request
from websockets.sync.client import ClientConnection, connect

from tengen.frontends.analysis.websocket import check_listening, counted_connections, why_refused
from tengen.frontends.loopback import is_loopback
from tests.frontends.analysis.conversation import query
from tests.frontends.analysis.engine import LIMIT, Engine

TOKEN = "open sesame & friends"


@contextmanager
def server(**options: Any) -> Iterator[str]:
    """The address of an engine that listens."""
    with Engine(listen="127.0.0.1:0", **options) as engine:
        yield address_of(engine)


def address_of(engine: Engine) -> str:
    """Where an engine listens, as soon as it does."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        told = b"".join(engine.errors).decode()
        if match := re.search(r"listening at (ws://127\.0\.0\.1:\d+)", told):
            return match[1]
        time.sleep(0.02)
    raise AssertionError(f"it does not listen: {engine.errors}")


def is_busy(engine: Engine) -> bool:
    """Does it compute anything for half a second?"""
    stat = Path(f"/proc/{engine.process.pid}/stat")
    before = stat.read_text().split()[13:15]
    time.sleep(0.5)
    return stat.read_text().split()[13:15] != before


def ask(client: ClientConnection, asked: dict[str, Any]) -> dict[str, Any]:
    client.send(json.dumps(asked))
    return answer(client)


def answer(client: ClientConnection) -> dict[str, Any]:
    found = json.loads(client.recv(timeout=LIMIT))
    assert isinstance(found, dict)
    return found


def test_a_conversation() -> None:
    with server() as address, connect(address) as client, connect(address) as other:
        assert ask(client, query(id="a"))["id"] == "a"
        assert ask(other, query(id="b"))["rootInfo"]["visits"] == 8
        assert ask(client, {"id": "v", "action": "query_version"})["version"]
        assert ask(client, {"id": "m", "action": "query_models"})["models"]
        assert ask(client, query(rules="calvinball"))["field"] == "rules"
        client.send("nonsense")
        assert "error" in answer(client)
        client.send(json.dumps(query(id="c")).encode() + b"\n" + json.dumps(query(id="d")).encode())
        assert {answer(client)["id"], answer(client)["id"]} == {"c", "d"}
        client.send(json.dumps(query(id="one\u2028line\x85"), ensure_ascii=False))
        assert answer(client)["id"] == "one\u2028line\x85"
        client.send('{"id":"deep","x":' + "[" * 976 + "]" * 976 + "}")
        assert "error" in answer(client)
        assert ask(client, query(id="e"))["id"] == "e"


def test_clients_do_not_end_each_other_s_queries() -> None:
    with server() as address, connect(address) as client, connect(address) as other:
        client.send(json.dumps(query(maxVisits=10**9, reportDuringSearchEvery=0.02)))
        assert answer(client)["isDuringSearch"]
        assert ask(other, {"id": "t", "action": "terminate_all"})["id"] == "t"
        assert answer(client)["isDuringSearch"]
        client.send(json.dumps({"id": "t", "action": "terminate", "terminateId": "q"}))
        while answer(client).get("isDuringSearch") is not False:
            pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux counts computing time")
def test_a_client_that_disconnects_frees_its_work() -> None:
    with Engine(listen="127.0.0.1:0", searches=1) as engine:
        address = address_of(engine)
        with connect(address) as other:
            with connect(address) as client:
                client.send(json.dumps(query(maxVisits=10**9, reportDuringSearchEvery=0.02)))
                client.send(json.dumps(query(id="waits", maxVisits=10**9)))
                assert answer(client)["isDuringSearch"]
                assert ask(other, query(id="meanwhile"))["id"] == "meanwhile"
                assert is_busy(engine)
            end = time.monotonic() + LIMIT
            while is_busy(engine):
                assert time.monotonic() < end


def test_a_token_is_asked_for_where_there_is_one() -> None:
    with server(token=TOKEN) as address:
        for wrong in (address, f"{address}/?token=guess", f"{address}/?token="):
            with pytest.raises(InvalidStatus) as refused:
                connect(wrong)
            assert refused.value.response.status_code == 401
        with connect(f"{address}/?token=open%20sesame%20%26%20friends") as client:
            assert ask(client, query())["id"] == "q"
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        with connect(address, additional_headers=bearer) as client:
            assert ask(client, query())["id"] == "q"


def test_pages_of_strangers_are_refused() -> None:
    with server() as address:
        with pytest.raises(InvalidStatus):
            connect(address, additional_headers={"Origin": "https://evil.example"})
        own = address.replace("ws://", "http://")
        with connect(address, additional_headers={"Origin": own}) as client:
            assert ask(client, query())["id"] == "q"


@pytest.mark.parametrize(
    ("host", "origin", "welcome"),
    [
        ("127.0.0.1:2718", None, True),
        ("localhost:2718", "http://localhost:8000", True),
        ("[::1]:2718", "http://[::1]:2718", True),
        ("evil.example:2718", None, False),  # a name of theirs for this machine
        ("evil.example:2718", "http://evil.example:2718", False),
        ("127.0.0.1:2718", "https://evil.example", False),
        ("127.0.0.1:2718", "null", False),
        ("", None, False),
        ("[::1", None, False),
        ("127.0.0.1:2718", "http://[", False),
    ],
)
def test_who_is_welcome_without_a_token(host: str, origin: str | None, welcome: bool) -> None:
    headers = Headers({"Host": host} | ({} if origin is None else {"Origin": origin}))
    assert (why_refused(Request("/", headers), None) is None) is welcome


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("2718", ("127.0.0.1", 2718)),
        (":2718", ("127.0.0.1", 2718)),
        ("localhost:0", ("localhost", 0)),
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("[::1]:2718", ("::1", 2718)),
    ],
)
def test_addresses_of_this_machine_need_no_token(listen: str, address: tuple[str, int]) -> None:
    assert check_listening(listen, None) == address


@pytest.mark.parametrize("listen", ["0.0.0.0:2718", "[::]:2718", "192.168.1.5:80", "myhost:80"])
def test_elsewhere_a_token_is_required(listen: str) -> None:
    with pytest.raises(ValueError, match="token"):
        check_listening(listen, None)
    with pytest.raises(ValueError, match="token"):
        check_listening(listen, "  ")
    assert check_listening(listen, "secret")[1]


@pytest.mark.parametrize("listen", ["", "here", "127.0.0.1:", "127.0.0.1:http", ":70000", ":-1"])
def test_addresses_that_are_none(listen: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        check_listening(listen, None)


def test_without_a_token_the_engine_does_not_start_elsewhere() -> None:
    with Engine(listen="0.0.0.0:0", model="some-network") as engine:
        assert engine.process.wait(LIMIT) != 0


def test_connections_beyond_the_limit_are_closed_and_those_there_stay() -> None:
    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async def main() -> None:
        async with serve(echo, "127.0.0.1", 0, create_connection=counted_connections(2)) as server:
            address = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            async with connect_async(address) as first:
                async with connect_async(address):
                    for _ in range(5):
                        with pytest.raises((InvalidMessage, ConnectionError)):
                            await connect_async(address)
                await first.send("still there")
                assert await first.recv() == "still there"
                async with connect_async(address):
                    pass

    asyncio.run(asyncio.wait_for(main(), LIMIT))


def test_loopback() -> None:
    assert is_loopback("127.8.9.1")
    assert not any(is_loopback(host) for host in (None, "", "example.org", "10.0.0.1", "::"))
