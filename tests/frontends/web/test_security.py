"""Who may come in, what a page may do, and what nonsense does not break."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from starlette.requests import HTTPConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tengen.frontends.web import limits
from tengen.frontends.web.http.security import AccessPolicy, access_policy
from tests.frontends.web.server import Client, serving

TOKEN = "open-sesame"


def visitor(query: str = "", **headers: str) -> HTTPConnection:
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return HTTPConnection({"type": "http", "headers": pairs, "query_string": query.encode()})


def get(address: str, **headers: str) -> tuple[int, Message, bytes]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


@pytest.mark.parametrize(
    ("host", "origin", "let_in"),
    [
        ("127.0.0.1:8361", None, True),
        ("localhost:8361", "http://localhost:8361", True),
        ("127.0.0.1:8361", "http://localhost:8361", True),
        ("[::1]:8361", "http://[::1]:8361", True),
        ("127.0.0.1:8361", "http://127.0.0.1:9999", False),
        ("127.0.0.1:8361", "https://evil.example", False),
        ("127.0.0.1:8361", "null", False),
        ("evil.example:8361", "http://evil.example:8361", False),
        ("127.0.0.1.evil.example", None, False),
        ("[::1", None, False),
        ("", None, False),
    ],
)
def test_without_a_token_only_this_machine_and_its_own_pages_come_in(
    host: str, origin: str | None, let_in: bool
) -> None:
    headers = {"host": host} | ({} if origin is None else {"origin": origin})
    assert (AccessPolicy().why_refused(visitor(**headers)) is None) == let_in


@pytest.mark.parametrize(
    ("query", "cookie", "origin", "let_in"),
    [
        (f"token={TOKEN}", "", None, True),
        ("", f"tengen_token={TOKEN}", "http://go.example", True),
        ("", "", None, False),
        ("token=wrong", "", None, False),
        ("token=%ff%00ü", "", None, False),
        (f"token={TOKEN}", "", "http://evil.example", False),
    ],
)
def test_elsewhere_one_must_know_the_token_and_be_a_page_of_the_server(
    query: str, cookie: str, origin: str | None, let_in: bool
) -> None:
    headers = {"host": "go.example", "cookie": cookie}
    headers |= {} if origin is None else {"origin": origin}
    access = AccessPolicy(TOKEN)
    assert (access.why_refused(visitor(query, **headers)) is None) == let_in


def test_a_token_is_made_up_where_it_is_needed() -> None:
    assert access_policy("127.0.0.1", None).token is None
    assert access_policy("127.0.0.1", "mine").token == "mine"
    made_up = access_policy("0.0.0.0", None).token
    assert made_up
    assert len(made_up) >= 20
    assert made_up != access_policy("0.0.0.0", None).token
    with pytest.raises(ValueError, match="empty"):
        access_policy("0.0.0.0", " ")


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("games"), access=AccessPolicy(TOKEN)) as port:
        yield port


def test_the_token_opens_the_page_and_becomes_a_cookie(locked: int) -> None:
    base = f"http://127.0.0.1:{locked}"
    for path in ("/", "/api/info", "/static/icon.svg"):
        status, headers, content = get(base + path)
        assert status == 403
        assert b"token" in content
        assert "Set-Cookie" not in headers
    status, headers, _ = get(f"{base}/api/info?token={TOKEN}")
    assert status == 200
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert get(f"{base}/api/info", Cookie=cookie.split(";")[0])[0] == 200


def test_a_websocket_needs_the_token_and_the_right_origin(locked: int, port: int) -> None:
    stranger = Origin("http://evil.example")
    for address, origin in (
        (f"ws://127.0.0.1:{locked}/ws", None),
        (f"ws://127.0.0.1:{locked}/ws?token=wrong", None),
        (f"ws://127.0.0.1:{locked}/ws?token={TOKEN}", stranger),
        (f"ws://127.0.0.1:{port}/ws", stranger),
    ):
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin=origin, legacy=True)
    with connect(f"ws://127.0.0.1:{locked}/ws?token={TOKEN}") as socket:
        socket.send('{"type":"hello"}')
        assert json.loads(socket.recv(5))["type"] == "welcome"
    ours = Origin(f"http://localhost:{port}")
    with connect(f"ws://127.0.0.1:{port}/ws", origin=ours) as socket:
        socket.send('{"type":"hello"}')
        assert json.loads(socket.recv(5))["type"] == "welcome"


def test_every_answer_tells_browsers_what_they_must_not_do(port: int) -> None:
    for path in ("/", "/api/info", "/nothing", "/static/../../serve.py"):
        _, headers, _ = get(f"http://127.0.0.1:{port}{path}")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../serve.py",
        "/static/%2e%2e/serve.py",
        "/static/..%2fserve.py",
        "/static//etc/passwd",
        "/api/sessions/../../etc/passwd/game.sgf",
        "/api/sessions/..%2f..%2fsecret/game.sgf",
        f"/api/sessions/{32 * '0'}/game.sgf",
        f"/api/sessions/{31 * '0'}%00/game.sgf",
        f"/api/sessions/{32 * 'A'}/review.html",
    ],
)
def test_no_path_of_a_client_reaches_the_file_system(port: int, path: str) -> None:
    status, _, content = get(f"http://127.0.0.1:{port}{path}")
    assert status in (404, 422)
    assert b"uvicorn" not in content
    assert b"root:" not in content


@pytest.mark.parametrize("session", ["../../etc/passwd", "A" * 32, "0" * 31, "0" * 32, ""])
def test_a_session_id_of_ones_own_making_is_not_taken(port: int, session: str) -> None:
    with Client(port, session) as client:
        assert client.session != session
        assert not client.welcome["saved"]


def test_what_people_write_into_games_is_text_and_is_downloaded_only(
    client: Client, port: int
) -> None:
    script = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    client.say("open", sgf=f"(;SZ[9]PB[{script}]C[{script}];B[ee]LB[ee:<b>])")
    game = client.hear("game")
    assert game["players"]["black"] == script
    assert game["nodes"][0]["comment"] == script
    client.say("review", visits=2)
    client.hear("review")
    for name in ("game.sgf", "review.sgf", "review.html"):
        status, headers, content = get(
            f"http://127.0.0.1:{port}/api/sessions/{client.session}/{name}"
        )
        assert status == 200
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["Content-Security-Policy"] == "sandbox"
        if name == "review.html":
            assert b"<script>alert(2)" not in content
            assert b"<img src=x" not in content
        else:
            assert not headers["Content-Type"].startswith("text/html")


NONSENSE = [
    ("", "bad_json"),
    ("{", "bad_json"),
    ("[" * 100_000, "bad_json"),
    ('"hello"', "bad_message"),
    ("null", "bad_message"),
    ("{}", "unknown_type"),
    ('{"type":"launch"}', "unknown_type"),
    ('{"type":["play"]}', "unknown_type"),
    ('{"type":"play"}', "bad_message"),
    ('{"type":"play","move":4}', "bad_message"),
    ('{"type":"play","move":"D4","extra":1}', "bad_message"),
    ('{"type":"go","node":-1}', "bad_message"),
    ('{"type":"go","node":1e400}', "bad_message"),
    ('{"type":"go","node":true}', "bad_message"),
    ('{"type":"review","visits":100000000}', "bad_message"),
    ('{"type":"comment","node":0,"text":"\\ud800"}', "bad_json"),
    ('{"type":"ping","request":"x"}', "bad_message"),
    ('{"type":"hello"}', "not_now"),
]


@pytest.mark.parametrize(("text", "code"), NONSENSE)
def test_nonsense_is_answered_and_the_game_goes_on(client: Client, text: str, code: str) -> None:
    client.socket.send(text)
    error = client.hear("error")
    assert (error["code"], error["request"]) == (code, None)
    client.socket.send(text.encode())
    assert client.hear("error")["code"] == code
    client.settle()


def test_errors_carry_the_number_of_the_request(client: Client) -> None:
    assert client.refused("play", move=4) == "bad_message"
    assert client.refused("launch") == "unknown_type"
    assert client.refused("play", move="Z99") == "illegal_move"


def test_before_hello_there_is_nothing_to_say(port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/ws") as socket:
        socket.send('{"type":"play","move":"D4","request":3}')
        error = json.loads(socket.recv(5))
        assert (error["code"], error["request"]) == ("hello_first", 3)
        socket.send('{"type":"hello"}')
        assert json.loads(socket.recv(5))["type"] == "welcome"


def test_a_message_that_is_far_too_large_ends_its_connection_alone(
    client: Client, port: int
) -> None:
    with Client(port) as other:
        other.socket.send("x" * (limits.MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed):
            other.hear("pong")
    client.settle()


def test_there_is_no_room_for_endless_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SESSIONS", 2)
    with serving(tmp_path) as port:
        with Client(port) as first, Client(port):
            with connect(f"ws://127.0.0.1:{port}/ws") as socket:
                socket.send('{"type":"hello"}')
                assert json.loads(socket.recv(5))["code"] == "too_many_sessions"
            first.new_game(colour="both")
            first.play("D4")
        with Client(port), Client(port):
            pass  # nobody is connected to the older ones, which make room
        with Client(port, first.session) as again:
            assert again.position["stones"].count("X") == 1
