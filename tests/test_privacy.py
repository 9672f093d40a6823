"""No command talks to anybody outside this machine, and none leaves files in the home folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.user_folders import user_cache

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


def outside_contacts(folder: Path, commands: list[list[str]], stdin: str = "") -> list[str]:
    """What commands did that reaches beyond their process, in a home folder that stays empty."""
    home, seen = folder / "home", folder / "seen.json"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    caches = {"TENGEN_CACHE_DIR": str(user_cache())}  # or kernels would be compiled again
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.replace("WHERE", repr(str(seen))), json.dumps(commands)],
        input=stdin,
        env={**kept, **caches, "HOME": str(home)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
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
    tiny = ["run.model=b2c32", "run.device=cpu", "run.iterations=1", "run.iteration_rows=1"]
    tiny += ["selfplay.games=2", "selfplay.board_sizes=[3]", "selfplay.visits=2", "rating.every=0"]
    commands = [
        ["doctor"],
        ["net", "info", "bundled"],
        ["review", "game.sgf", "--visits", "2"],
        ["match", "bundled@1", "level:beginner", "--games", "2", "--board-size", "3"],
        ["train", "run", *(word for setting in tiny for word in ("--set", setting))],
    ]
    assert outside_contacts(tmp_path, commands) == []


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("gtp", "boardsize 5\ngenmove b\nquit\n"),
        ("analysis", '{"id":"a","moves":[],"rules":"chinese","boardXSize":5,"boardYSize":5}\n'),
    ],
)
def test_no_protocol_talks_to_anybody(tmp_path: Path, command: str, lines: str) -> None:
    assert outside_contacts(tmp_path, [[command, "--visits", "4"]], lines) == []
