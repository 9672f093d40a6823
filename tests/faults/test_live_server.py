"""A server that is killed again and again shows every move that it had told of, and none twice."""

from __future__ import annotations

import os
import random
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from websockets.exceptions import ConnectionClosed, WebSocketException

from tengen.game.position import Position
from tengen.search.warmup import compile_kernels
from tests.faults.faulty_process import started
from tests.frontends.web.server import Client

KILLS = int(os.environ.get("TENGEN_KILLS", "100"))
FAULTS: tuple[dict[str, Any], ...] = ({}, {}, {"clock": True}, {"disk": 10})
LIMIT = 120.0  # seconds
LONG = 50  # moves of a game, after which another one is begun
PAUSE = 0.03  # seconds between moves: many kills hit the same game


@contextmanager
def serving(faults: dict[str, Any], folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server and its port; what it says after that is read and left."""
    process = started(faults, "tests.frontends.web.server_process", str(folder), "0")
    assert process.stderr is not None
    try:
        yield _port(process.stderr), process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def _port(messages: IO[str]) -> int:
    for line in messages:
        assert "Traceback" not in line
        if match := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            return int(match[1])
    raise AssertionError("it ended before it served")


def moves_of(client: Client) -> list[str]:
    """The moves of the game's main line, as the page was told."""
    nodes = client.game["nodes"]
    return [node["move"] for node in nodes if node.get("move")]


class Player:
    """Plays both colours, and remembers which moves the server has shown."""

    def __init__(self, client: Client, choice: random.Random) -> None:
        self.client, self.choice = client, choice

    def play(self, shown: list[str], seconds: float) -> tuple[list[str], str | None]:
        """Play for some seconds; the moves that were shown, and one that was only sent."""
        end, sent = time.monotonic() + seconds, None
        try:
            while time.monotonic() < end and len(shown) < LONG + 10:
                sent = self._free(shown)
                self.client.say("play", move=sent)
                while not self._is_about(heard := self.client.next(), sent):
                    pass
                if heard["type"] == "position":
                    shown = [*shown, sent]
                sent = None
                time.sleep(PAUSE)
        except (ConnectionClosed, WebSocketException, OSError, TimeoutError):
            pass
        return shown, sent

    def _is_about(self, heard: dict[str, Any], move: str) -> bool:
        """Was a move shown, or refused as the rules want it?"""
        if heard["type"] == "error":
            assert heard["code"] == "illegal_move", heard
            return True
        return bool(heard["type"] == "position" and heard["last"] == move)

    def _free(self, shown: list[str]) -> str:
        columns, rows = "ABCDEFGHJ", range(1, 10)
        points = [f"{column}{row}" for column in columns for row in rows]
        return self.choice.choice([point for point in points if point not in shown])


@pytest.mark.long
@pytest.mark.timeout(2 * 3600)
def test_a_server_survives_faults(tmp_path: Path) -> None:
    choice = random.Random(2)
    compile_kernels()  # or all kills would find the server compiling
    Position(9).play("A1")
    session: str | None = None
    sent: str | None = None
    shown: list[str] = []
    for kill in range(KILLS):
        faults = FAULTS[kill % len(FAULTS)]
        with serving(faults, tmp_path) as (port, process):
            killer = threading.Timer(choice.uniform(0.2, 2.0), process.kill)
            with Client(port, session) as client:
                if session is None or (len(shown) > LONG and "disk" not in faults):
                    client.new_game(colour="both", level=None)
                    shown = []
                else:
                    found = moves_of(client)
                    assert found in (shown, [*shown, sent]), f"a loss, or a double: {shown}, {sent}"
                    shown = found
                session, before = client.session, shown
                killer.start()
                shown, sent = Player(client, choice).play(shown, seconds=LIMIT)
                killer.join()
        if "disk" in faults:
            # Nothing could be saved, but the game went on, and what was saved before is there.
            shown, sent = before, None
        print(f"kill {kill}, {faults or 'no other fault'}: {len(shown)} moves")
