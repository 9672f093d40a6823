"""One client costs the others little: its time, bytes and silence are its own affair."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from tengen.frontends import connection_limit
from tengen.frontends.web import limits, log_lines
from tengen.frontends.web.play.connection import Outbox
from tengen.frontends.web.play.game_tree import GameTree
from tests.frontends.web.server import Client, serving
from tests.frontends.web.server_process import ServerProcess

MESSAGES = 1_900


def megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def test_small_messages_after_a_large_comment_stall_nobody(tmp_path: Path) -> None:
    comments = "".join(f";B[]C[{'x' * 19_000}];W[]" for _ in range(48))  # nearly a megabyte
    with (
        ServerProcess(tmp_path) as server,
        Client(server.port) as flood,
        Client(server.port) as other,
    ):
        flood.say("open", sgf=f"(;SZ[9]{comments})")
        flood.hear("game")
        flood.settle()
        other.settle()
        before = megabytes(server.process.pid)
        for i in range(MESSAGES):
            flood.say("comment", node=1, text=f"{i}")
        waits = []
        until = time.monotonic() + 3
        while time.monotonic() < until:
            began = time.monotonic()
            other.settle()
            waits.append(time.monotonic() - began)
            time.sleep(0.02)
        assert max(waits) < 1.0
        assert sorted(waits)[len(waits) // 2] < 0.1
        for _ in range(MESSAGES):
            last = flood.hear("node")
        assert last["comment"] == str(MESSAGES - 1)
        assert megabytes(server.process.pid) - before < 150
        flood.settle()
        session = flood.session
        server.kill()  # what was shown is on the disk
    with ServerProcess(tmp_path) as server, Client(server.port, session) as back:
        assert back.game["nodes"][1]["comment"] == str(MESSAGES - 1)


def test_who_downloads_much_keeps_nobody_waiting(
    port: int, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def slow(_: GameTree) -> bytes:
        time.sleep(0.05)  # what a large game takes of the event loop's time
        made.append(1)
        return b"(;)"

    monkeypatch.setattr(GameTree, "sgf", slow)
    address = f"http://127.0.0.1:{port}/api/sessions/{client.session}/game.sgf"

    def download() -> None:
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.read() == b"(;)"

    others = [threading.Thread(target=download) for _ in range(20)]
    for each in others:
        each.start()
    waits = []
    while len(made) < len(others):
        began = time.monotonic()
        client.settle()
        waits.append(time.monotonic() - began)
    for each in others:
        each.join()
    assert max(waits) < 0.5  # one after another they take a second


def test_the_text_of_a_game_is_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GAME_BYTES", 30_000)
    client.new_game(colour="both")
    client.say("comment", node=0, text=20_000 * "x")
    client.hear("node")
    client.play("C3")
    assert client.refused("comment", node=1, text=20_000 * "x") == "game_full"
    client.say("comment", node=0, text="")
    client.hear("node")
    client.say("comment", node=1, text=20_000 * "x")
    assert len(client.hear("node")["comment"]) == 20_000


def test_what_waits_for_a_client_that_does_not_read_is_bounded_in_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "WAITING_BYTES", 200_000)

    async def main() -> None:
        outbox = Outbox()
        outbox.put({"text": 500_000 * "x"})  # one message is sent, however large
        states = [outbox.closed]
        outbox.put({"text": "x"})
        states.append(outbox.closed)
        outbox = Outbox()
        for _ in range(100):
            outbox.put({"text": 150_000 * "x"}, "analysis")  # each replaces the one before
        assert [*states, outbox.closed] == [False, True, False]

    asyncio.run(main())


def silent(port: int, request: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(10)
    connection.sendall(request)
    return connection


def closed(connection: socket.socket) -> bool:
    """Does the server close the connection within the limit?"""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    finally:
        connection.close()
    return True


def test_connections_that_stay_silent_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(limits, "PING_SECONDS", 0.5)
    handshake = (
        "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    hello = json.dumps({"type": "hello"}).encode()
    frame = bytes([0x81, 0x80 | len(hello), 0, 0, 0, 0]) + hello
    with serving(tmp_path) as port, Client(port) as client:
        nothing = silent(port, b"")
        half = silent(port, b"GET / HTTP/1.1\r\nHost: ")
        socket_ = silent(port, handshake.encode() + frame)
        assert closed(nothing)
        assert closed(half)
        assert closed(socket_)
        client.settle()


def drip(connection: socket.socket) -> None:
    """Send a byte now and then, as long as the server takes it."""
    with suppress(OSError):
        for _ in range(100):
            connection.sendall(b"a")
            time.sleep(0.1)


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.5)
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"
    with serving(tmp_path) as port:
        connection = silent(port, head)
        sender = threading.Thread(target=drip, args=[connection])
        sender.start()
        assert closed(connection)
        sender.join()


def test_connections_beyond_the_limit_are_closed_and_disturb_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limit, "MOST", 3)
    with serving(tmp_path) as port, Client(port) as client:
        client.new_game()
        held = [silent(port, b"GET / HTTP/1.1\r\n") for _ in range(2)]
        assert all(closed(silent(port, b"")) for _ in range(50))
        assert client.play("E5")["stones"].count("X") == 1
        for connection in held:
            connection.close()
        assert any(let_in(port) for _ in range(500))  # once the server has seen the ends


def let_in(port: int) -> bool:
    """Is another client welcome?"""
    with suppress(ConnectionError, WebSocketException), Client(port):
        return True
    time.sleep(0.02)
    return False


def test_lines_about_errors_are_few(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_begun", -1e9)
    for _ in range(1_000):
        log_lines.say_sparingly("oh")
    assert capsys.readouterr().err.count("oh") == log_lines.MOST_LINES
    monkeypatch.setattr(log_lines, "_begun", -1e9)
    log_lines.say_sparingly("oh")
    assert "990 more lines" in capsys.readouterr().err
