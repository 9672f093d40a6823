"""No command talks to anybody outside this machine, and none leaves files in the home folder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tengen.frontends.cli import app
from tengen.user_folders import user_cache

SHIPPED = Path("src/tengen/problems/shipped.jsonl")
GAME = "(;GM[1]FF[4]SZ[5]KM[25]RU[Chinese];B[cc];W[bb];B[cb];W[bc])"
# Calls commands in one process, as the command line would, and notes every look-up of a host name,
# every connection that leaves the machine and every program that is started. It writes at once what
# it sees: some commands end their process without Python's orderly end.
WATCHED = r"""
import json, sys
seen = []

def note(what=None):
    if what is not None:
        seen.append(what)
    with open(WHERE, "w") as file:
        file.write(json.dumps(seen))

def watch(event, details):
    if event in ("socket.connect", "socket.sendto"):
        address = details[1]
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            note(f"{event} {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        if details[0] not in ("127.0.0.1", "::1", "localhost"):
            note(f"{event} {details[0]}")
    elif event in ("subprocess.Popen", "os.system", "os.posix_spawn"):
        note(f"{event} {details[0]}")

note()
sys.addaudithook(watch)
from tengen.frontends import cli

for words in json.loads(sys.argv[1]):
    sys.argv = ["tengen", *words]
    try:
        cli.main()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
sys.stdout.flush()
"""
# Ends `tengen play` once its page has answered.
VISITED = r"""
import os, signal, threading, time, urllib.request

def visit():
    for _ in range(600):
        time.sleep(0.1)
        try:
            urllib.request.urlopen("http://127.0.0.1:PORT/").read()
            break
        except OSError:
            pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=visit, daemon=True).start()
"""
COMMANDS: Any = typer.main.get_command(app)
TINY = ["run.model=b2c32", "run.device=cpu", "run.iterations=1", "run.iteration_rows=1"]
TINY += ["selfplay.games=2", "selfplay.board_sizes=[3]", "selfplay.visits=2", "rating.every=0"]
SETTINGS = [word for setting in TINY for word in ("--set", setting)]
# One after the other, in one process.
ALONE = [
    ["doctor"],
    ["docs", "install"],
    ["config", "tengen.toml"],
    ["net", "list"],
    ["net", "info", "bundled"],
    ["net", "export", "tengen-9x9", "--katago", "small.bin.gz"],
    ["net", "import", "small.bin.gz", "small.safetensors"],
    ["net", "verify", "tengen-9x9", "--positions", "2"],
    ["net", "add", "small.safetensors", "--name", "small"],
    ["net", "remove", "small"],
    ["review", "game.sgf", "--visits", "2"],
    ["match", "bundled@1", "level:beginner", "--games", "2", "--board-size", "3"],
    ["selfplay", "tengen-9x9", "--games", "1", "--board-size", "3", "--visits", "2", "--out", "g"],
    ["train", "run", *SETTINGS],
    ["distil", "tengen-9x9", "distilled", "--into", "b2c32", *SETTINGS],
    ["problems", "check", "problems.jsonl"],
    ["benchmark", "--board-size", "3", "--seconds", "0.1", "--model", "tengen-9x9"],
]
PROTOCOLS = {
    "gtp": "boardsize 5\ngenmove b\nquit\n",
    "analysis": '{"id":"a","moves":[],"rules":"chinese","boardXSize":5,"boardYSize":5}\n',
}
# `sweep` starts `tengen train`, and does nothing else; `problems make` plays and searches, as the
# others do, for minutes; `uninstall-data` would remove the caches that all tests share.
NOT_WATCHED = {"sweep", "problems make", "uninstall-data"}


def names_of(group: Any) -> Iterator[str]:
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        yield from [f"{name} {each}" for each in inner] if inner else [name]


def test_every_command_is_watched() -> None:
    watched = {" ".join(words[:2]) for words in ALONE if words[0] in ("net", "problems")}
    watched |= {words[0] for words in ALONE} - {"net", "problems"}
    assert {*names_of(COMMANDS)} == watched | {*PROTOCOLS} | {"play"} | NOT_WATCHED


def outside_contacts(
    folder: Path,
    commands: list[list[str]],
    stdin: str = "",
    *,
    meanwhile: str = "",
    status: int = 0,
) -> list[str]:
    """What commands did that reaches beyond their process, in a home folder that stays empty."""
    home, seen = folder / "home", folder / "seen.json"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    # The cache of kernels, or they would be compiled again; and what people add and play.
    folders = {"TENGEN_CACHE_DIR": str(user_cache()), "TENGEN_DATA_DIR": str(folder / "data")}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            meanwhile + WATCHED.replace("WHERE", repr(str(seen))),
            json.dumps(commands),
        ],
        input=stdin,
        env={**kept, **folders, "HOME": str(home)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert [path.name for path in home.iterdir()] == []
    found: list[str] = json.loads(seen.read_text())
    return found


def test_the_watch_sees_who_calls_home(tmp_path: Path) -> None:
    spy = WATCHED.replace("WHERE", repr(str(tmp_path / "seen.json"))).replace(
        "from tengen.frontends import cli", "import socket"
    )
    spy = spy.replace("for words", "socket.gethostbyname('localhost')\nfor words")
    call = "\ntry: socket.getaddrinfo('example.invalid', 443)\nexcept OSError: pass\nfor words"
    spy = spy.replace("\nfor words", call)
    subprocess.run([sys.executable, "-c", spy, "[]"], check=True)
    assert json.loads((tmp_path / "seen.json").read_text()) == [
        "socket.getaddrinfo example.invalid"
    ]


def test_no_command_talks_to_anybody(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    with SHIPPED.open(encoding="utf-8") as problems:
        (tmp_path / "problems.jsonl").write_text(problems.readline(), encoding="utf-8")
    assert outside_contacts(tmp_path, ALONE) == []


@pytest.mark.parametrize("command", PROTOCOLS)
def test_no_protocol_talks_to_anybody(tmp_path: Path, command: str) -> None:
    assert outside_contacts(tmp_path, [[command, "--visits", "4"]], PROTOCOLS[command]) == []


def test_the_page_talks_to_nobody_else(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    words = ["play", "--no-browser", "--port", port]
    visit = VISITED.replace("PORT", port)
    assert outside_contacts(tmp_path, [words], meanwhile=visit) == []
