"""Players who choose moves at random: many at a time, over real WebSockets."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

OPENING = 120.0  # seconds that a busy machine may take to open a connection
OWN_MOVES = 6  # before a player passes; after as many passes it gives up
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
    shown: int = 0  # games so far; the first is the server's own

    async def play(self, address: str, until: float) -> None:
        """Play games until a time of the monotonic clock."""
        async with connect(address, max_size=None, open_timeout=OPENING) as socket:
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
            self.shown += 1
        elif kind == "position" and self.shown > 1:
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
        """A move at random, or a pass, or the end of an opponent's patience."""
        if self.moves >= 2 * OWN_MOVES:
            await self._say(socket, type="resign")
            return
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
