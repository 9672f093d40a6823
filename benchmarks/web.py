"""Latency of the web server: the echo of a move, and live analysis on 19x19.

The server runs in a separate process. Echoes are measured while it is idle and while it analyses
for the same session; the baseline is the round trip of an empty message. Live analysis should make
5 reports a second or more while messages arrive as fast as they are answered.

    python benchmarks/web.py [NETWORK]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.frontends.web.server_process import ServerProcess
from websockets.sync.client import ClientConnection, connect

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
SECONDS = 8.0
GOAL_ECHO, GOAL_REPORTS = 0.05, 5.0


class Client:
    """A connection that counts analysis reports while it waits for other messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.reports = 0
        self.visits = 0
        self.say("hello")

    def say(self, kind: str, **content: object) -> None:
        self._socket.send(json.dumps({"type": kind, **content}))

    def hear(self, kind: str) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self._socket.recv(60))
            if message["type"] == "analysis":
                self.reports += 1
                self.visits = message["visits"]
            if message["type"] == kind:
                return message
            if message["type"] == "error":
                raise RuntimeError(message)

    def seconds(self, kind: str, answer: str, **content: object) -> float:
        began = time.perf_counter()
        self.say(kind, **content)
        self.hear(answer)
        return time.perf_counter() - began


def moves() -> list[str]:
    """Moves all over the board that capture nothing."""
    return [f"{column}{row}" for row in range(1, 20, 2) for column in "ABCDEFGHJKLMNOPQRST"]


def echoes(client: Client, seconds: float) -> list[float]:
    """The seconds until each move is shown; starts over when the board is full."""
    taken: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        client.say("go", node=0)
        client.hear("position")
        for move in moves():
            if time.monotonic() >= until:
                break
            taken.append(client.seconds("play", "position", move=move))
    return taken


def told(name: str, values: list[float]) -> str:
    half, most, nearly_all = 1000 * np.quantile(values, [0.5, 0.95, 0.99])
    return f"{name} {half:.1f} ms, 95% {most:.1f} ms, 99% {nearly_all:.1f} ms"


def main() -> None:
    network = Path(sys.argv[1]) if len(sys.argv) > 1 else NETWORK
    if not network.exists():
        print(f"nothing measured: no network at {network}")
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        ServerProcess(Path(folder), 0, network) as server,
        connect(f"ws://127.0.0.1:{server.port}/ws", max_size=None) as socket,
    ):
        client = Client(socket)
        if not client.hear("welcome")["info"]["ready"]:
            client.hear("info")
        client.say("open", sgf="(;SZ[19]KM[7.5]RU[chinese])")
        client.hear("game")
        client.hear("position")
        empty = [client.seconds("ping", "pong") for _ in range(200)]
        resting = echoes(client, SECONDS)
        client.say("analyse", on=True)
        client.hear("analysis")
        client.reports, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            client.hear("analysis")
        alone = client.reports / (time.perf_counter() - began)
        visits = client.visits
        client.reports, began = 0, time.perf_counter()
        pings = []
        while time.perf_counter() - began < SECONDS:
            pings.append(client.seconds("ping", "pong"))
        flooded = client.reports / (time.perf_counter() - began)
        busy = echoes(client, SECONDS)
    ratio = np.quantile(busy, 0.5) / np.quantile(empty, 0.5)
    print(
        f"{told('echo of a move on 19x19, at rest:', resting)};"
        f" {told('during analysis:', busy)} (goal {1000 * GOAL_ECHO:.0f} ms);"
        f" ratio {ratio:.1f} against {told('an empty message at rest:', empty)}"
    )
    print(
        f"analysis of 19x19: {alone:.1f} reports/s (goal {GOAL_REPORTS:g}), {visits} visits in"
        f" {SECONDS:g} s; with {len(pings) / SECONDS:.0f} messages/s coming in {flooded:.1f}"
        f" reports/s, {told('answered in', pings)}"
    )
    print(f"load average: {os.getloadavg()}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
