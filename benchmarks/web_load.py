"""Many people at the browser's server at a time: level games on 9x9 over real WebSockets.

The server is a process of its own; the players here choose their moves at random, pass after a
while, accept the count and begin anew. Fairness is the answers of the session that got fewest
against those of the one that got most; the baseline of the pace is one player alone.

Options: sessions, seconds and the network file, by their places.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
SESSIONS, SECONDS = 50, 60.0
OWN_MOVES = 30  # before a player passes
COLUMNS = "ABCDEFGHJKLMNOPQRST"


@dataclass
class Player:
    """One session, and what became of it."""

    level: str
    random: random.Random
    answers: list[float] = field(default_factory=list)  # seconds until the opponent moved
    echoes: list[float] = field(default_factory=list)  # seconds until one's own move was shown
    games: int = 0
    errors: list[str] = field(default_factory=list)
    moves: int = 0
    asked: float = 0.0
    tables: int = 0  # games that were laid out; the first is the server's own

    async def play(self, address: str, until: float) -> None:
        """Play games until a time of the monotonic clock."""
        async with connect(address, max_size=None) as socket:
            await self._say(socket, type="hello")
            await self._begin(socket)
            while (left := until - time.monotonic()) > 0:
                try:
                    message = json.loads(await asyncio.wait_for(socket.recv(), left))
                except TimeoutError:
                    return
                except ConnectionClosed as error:
                    self.errors.append(f"the connection was closed: {error}")
                    return
                await self._react(socket, message)

    async def _begin(self, socket: ClientConnection) -> None:
        self.moves, self.asked = 0, 0.0
        terms = {"size": 9, "colour": "black", "level": self.level, "rules": "chinese"}
        await self._say(socket, type="new_game", **terms)

    async def _react(self, socket: ClientConnection, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "error":
            if message["code"] == "illegal_move":
                await self._move(socket, None)
            else:
                self.errors.append(message["code"])
        elif kind == "game":
            self.tables += 1
        elif kind == "position" and self.tables > 1:
            now = time.monotonic()
            if message["phase"] == "over":
                self.games += 1
                await self._begin(socket)
            elif message["phase"] == "counting" and not message["thinking"]:
                await self._say(socket, type="accept_count")
            elif message["phase"] == "playing" and message["thinking"] and self.asked:
                self.echoes.append(now - self.asked)
            elif message["phase"] == "playing" and message["can"]["play"]:
                if self.asked:
                    self.answers.append(now - self.asked)
                await self._move(socket, message["stones"])

    async def _move(self, socket: ClientConnection, stones: str | None) -> None:
        """A move at random, or a pass."""
        move = "pass"
        if stones is not None and self.moves < OWN_MOVES:
            empty = [i for i, stone in enumerate(stones) if stone == "."]
            place = self.random.choice(empty)
            move = f"{COLUMNS[place % 9]}{9 - place // 9}"
        self.moves += 1
        self.asked = time.monotonic()
        await self._say(socket, type="play", move=move)

    async def _say(self, socket: ClientConnection, **message: object) -> None:
        await socket.send(json.dumps(message))


async def play_many(address: str, levels: list[str], seconds: float) -> list[Player]:
    """A player for each level named, all at a time; no two play the same moves, ever."""
    players = [Player(level, random.Random()) for level in levels]
    until = time.monotonic() + seconds
    await asyncio.gather(*(player.play(address, until) for player in players))
    return players


@contextmanager
def server(network: Path) -> Iterator[tuple[str, int]]:
    """A server; its host and port, and its process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tengen", "play", "--model", str(network)]
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TENGEN_DATA_DIR": folder},
        )
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if match := re.search(r"http://(127\.0\.0\.1:\d+)/", line):
                    yield match[1], process.pid
                    return
            raise RuntimeError("the server does not begin")
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()


def megabytes(process: int) -> float:
    """What a process has in memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    network = Path(sys.argv[3]) if len(sys.argv) > 3 else NETWORK
    if not network.exists():
        print("the network is not at hand: nothing measured")
        return
    from tengen.frontends.web.levels import LEVELS

    level = LEVELS[len(LEVELS) // 2].id
    with server(network) as (host, process):
        address = f"ws://{host}/ws"
        asyncio.run(play_many(address, [level], 5.0))  # the network is loaded and warm
        alone = asyncio.run(play_many(address, [level], 10.0))[0]
        before = megabytes(process)
        first = asyncio.run(play_many(address, sessions * [level], seconds / 2))
        halfway = megabytes(process)
        second = asyncio.run(play_many(address, sessions * [level], seconds / 2))
        after = megabytes(process)
    players = first + second
    errors = [error for player in players for error in player.errors]
    counts = [sorted(len(player.answers) for player in half) for half in (first, second)]
    answers = [each for player in players for each in player.answers]
    echoes = [each for player in players for each in player.echoes]
    rate, rate_alone = len(answers) / seconds, len(alone.answers) / 10.0
    print(
        f"{sessions} sessions at level {level} for {seconds:g} s: {len(errors)} errors,"
        f" {sum(player.games for player in players)} games, {rate:.1f} answers/s;"
        f" ratio {rate / max(rate_alone, 1e-9):.2f} against one player alone"
    )
    print(
        f"fairness {', '.join(f'{each[0]}/{each[-1]}' for each in counts)} answers;"
        f" an answer takes {quantile(answers, 0.5):.2f} s, 95% {quantile(answers, 0.95):.2f} s,"
        f" at most {max(answers, default=0):.2f} s;"
        f" an echo {quantile(echoes, 0.5):.3f} s, 95% {quantile(echoes, 0.95):.3f} s"
    )
    print(f"memory {before:.0f} MB before, {halfway:.0f} MB halfway, {after:.0f} MB after")
    print(f"load of the machine: {os.getloadavg()}, {os.cpu_count()} cores")
    if errors:
        raise SystemExit(f"errors: {sorted(set(errors))}")


if __name__ == "__main__":
    main()
