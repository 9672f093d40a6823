"""A server that is killed again and again shows every move that it had told of, and none twice."""

from __future__ import annotations

import os
import random
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.faults.faulty_process import started
from tests.frontends.web.server import Client

KILLS = int(os.environ.get("TENGEN_KILLS", "100"))
FAULTS: tuple[dict[str, Any], ...] = ({}, {}, {"clock": True}, {"disk": 10})
LIMIT = 120.0  # seconds
PAUSE = 0.03  # seconds between moves: many kills hit the same game


def port_of(process: subprocess.Popen[str]) -> int:
    """Wait until the server says where it is; what it says later is read and left."""
    assert process.stderr is not None
    for line in process.stderr:
        assert "Traceback" not in line
        if match := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
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
            while time.monotonic() < end and len(shown) < 60:
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
    session: str | None = None
    sent: str | None = None
    shown: list[str] = []
    for kill in range(KILLS):
        faults = FAULTS[kill % len(FAULTS)]
        process = started(faults, "tests.frontends.web.server_process", str(tmp_path), "0")
        killer = threading.Timer(choice.uniform(0.2, 2.0), process.kill)
        try:
            port = port_of(process)
            with Client(port, session) as client:
                if session is None or len(shown) > 50:
                    client.new_game(colour="both", level=None)
                    shown = []
                else:
                    assert moves_of(client) in (shown, [*shown, sent]), "a loss, or a double"
                    shown = moves_of(client)
                session = client.session
                killer.start()
                before = shown
                shown, sent = Player(client, choice).play(shown, seconds=LIMIT)
                if "disk" in faults:
                    # Nothing could be saved; the game went on, and what was saved before is there.
                    shown, sent = before, None
        finally:
            killer.cancel()
            process.kill()
            process.wait()
        print(f"kill {kill}, {faults or 'no other fault'}: {len(shown)} moves")
