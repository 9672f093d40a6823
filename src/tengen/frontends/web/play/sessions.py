"""All sessions by id: resumed, created, and dropped from memory when idle."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.client_messages import Hello, NewGame
from tengen.frontends.web.play.game_snapshot import restored_game, saved_game
from tengen.frontends.web.play.game_state import GameState, new_game_state
from tengen.frontends.web.play.game_store import SESSION_ID, GameKey, GameStore, new_id
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.frontends.web.play.server_messages import Json
from tengen.frontends.web.play.session import PlaySession

IDLE_SECONDS = 30 * 60.0  # after which a session without a connection leaves the memory
REVIEWS_AT_A_TIME = 4


class SavedGame(NamedTuple):
    """A game on the disk, and whose it is."""

    game: GameState
    player: str


class PlaySessions:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(
        self, networks: OfferedNetworks, game_store: GameStore, first_game: NewGame
    ) -> None:
        self._networks, self._game_store, self._first_game = networks, game_store, first_game
        self._reviewers = ThreadPoolExecutor(REVIEWS_AT_A_TIME, thread_name_prefix="review")
        self._answering = asyncio.Lock()
        self._sessions: dict[str, PlaySession] = {}

    async def welcome(self, hello: Hello) -> tuple[PlaySession, bool]:
        """The session of a client, and whether it existed; raises RefusedError if all are taken.

        A second client with the id of a connected one (a duplicated tab) gets a copy as its own.
        """
        self._drop_idle()
        id_ = hello.session
        known = await self._find(id_) if id_ is not None else None
        if isinstance(known, PlaySession):
            return known, True
        if len(self._sessions) >= limits.SESSIONS:
            raise RefusedError(
                "too_many_sessions", "too many people are playing here; try again later"
            )
        player = hello.player
        if known is not None:
            player = known.player
        elif player is None or not SESSION_ID.fullmatch(player):
            player = new_id()
        game = new_game_state(self._first_game) if known is None else known.game
        found = known is not None and id_ is not None and id_ not in self._sessions
        if not found or self._showing(GameKey(player, game.id)) is not None:
            game.id = ""  # a copy is a game of its own
        id_ = id_ if found and id_ else new_id()
        session = PlaySession(
            id_,
            game,
            player,
            self._networks,
            self._reviewers,
            self._game_store,
            self._take_over,
            self._answering,
        )
        self._sessions[id_] = session
        return session, known is not None

    async def _find(self, id_: str) -> PlaySession | SavedGame | None:
        """A session without a connection, or a copy of the game of one that is saved or in use."""
        if not SESSION_ID.fullmatch(id_):
            return None
        session = self._sessions.get(id_)
        if session is not None:
            if not session.connected:
                return session
            copy = await asyncio.to_thread(restored_game, saved_game(session.game))
            return None if copy is None else SavedGame(copy, session.kept.player)
        found = await asyncio.to_thread(self._load, id_)
        return self._sessions.get(id_) or found  # another client may have been faster

    def _load(self, id_: str) -> SavedGame | None:
        loaded = self._game_store.load(id_)
        game = None if loaded is None else restored_game(loaded[1])
        if loaded is None or game is None:
            return None
        game.id = loaded[0].game
        return SavedGame(game, loaded[0].player)

    async def look_up(self, id_: str) -> PlaySession | SavedGame | None:
        """A session in memory, or a game on the disk; None if there is neither."""
        session = self._sessions.get(id_)
        return session if session is not None else await self._find(id_)

    def _showing(self, key: GameKey) -> PlaySession | None:
        """The session in memory that shows a game."""
        for session in self._sessions.values():
            if session.kept.player == key.player and session.game.id == key.game:
                return session
        return None

    def _take_over(self, key: GameKey, taker: PlaySession) -> None:
        """End another session that shows a game; raises RefusedError if somebody looks at it."""
        other = self._showing(key)
        if other is None or other is taker:
            return
        if other.connected:
            raise not_now("this game is open in another tab", "in_use")
        other.close()
        self._game_store.forget_session(other.id)
        del self._sessions[other.id]

    def network_ready(self, info: Json) -> None:
        """Tell all sessions that the network is loaded."""
        for session in list(self._sessions.values()):
            session.network_ready(info)

    def _drop_idle(self) -> None:
        """Drop sessions without a connection: those idle for long, and more if all are taken."""
        idle = [each for each in self._sessions.values() if not each.connected]
        idle.sort(key=lambda each: each.last_used)
        too_many = len(self._sessions) - limits.SESSIONS + 1
        long_ago = time.monotonic() - IDLE_SECONDS
        for i, session in enumerate(idle):
            if i < too_many or session.last_used < long_ago:
                session.close()
                self._game_store.release(session.id)
                del self._sessions[session.id]

    def close(self) -> None:
        """Close all sessions; their games are on the disk."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._reviewers.shutdown(wait=False, cancel_futures=True)
        self._networks.close()
