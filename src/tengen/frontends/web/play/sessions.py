"""All sessions by id: resumed, created, and dropped from memory when idle."""

from __future__ import annotations

import asyncio
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

from tengen.engine.loading import EngineLoader
from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.autosave import SESSION_ID, Autosave, restored_game, saved_game
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.game_state import GameState, new_game_state
from tengen.frontends.web.play.server_messages import Json
from tengen.frontends.web.play.session import PlaySession

IDLE_SECONDS = 30 * 60.0  # after which a session without a connection leaves the memory
REVIEWS_AT_A_TIME = 4


class PlaySessions:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(self, loader: EngineLoader, autosave: Autosave, first_game: NewGame) -> None:
        self._loader, self._autosave, self._first_game = loader, autosave, first_game
        self._reviewers = ThreadPoolExecutor(REVIEWS_AT_A_TIME, thread_name_prefix="review")
        self._answering = asyncio.Lock()
        self._sessions: dict[str, PlaySession] = {}

    async def welcome(self, id_: str | None) -> tuple[PlaySession, bool]:
        """The session of a client, and whether it existed; raises RefusedError if all are taken.

        A second client with the id of a connected one (a duplicated tab) gets a copy as its own.
        """
        self._drop_idle()
        known = await self._find(id_) if id_ is not None else None
        if isinstance(known, PlaySession):
            return known, True
        if len(self._sessions) >= limits.SESSIONS:
            raise RefusedError(
                "too_many_sessions", "too many people are playing here; try again later"
            )
        game = known or new_game_state(self._first_game)
        found = known is not None and id_ is not None and id_ not in self._sessions
        id_ = id_ if found and id_ else secrets.token_hex(16)
        session = PlaySession(
            id_, game, self._loader, self._reviewers, self._autosave, self._answering
        )
        self._sessions[id_] = session
        return session, known is not None

    async def _find(self, id_: str) -> PlaySession | GameState | None:
        """A session without a connection, or a copy of the game of one that is saved or in use."""
        if not SESSION_ID.fullmatch(id_):
            return None
        session = self._sessions.get(id_)
        if session is not None:
            if not session.connected:
                return session
            return await asyncio.to_thread(restored_game, saved_game(session.game))
        game = await asyncio.to_thread(lambda: restored_game(self._autosave.load(id_) or b""))
        return self._sessions.get(id_) or game  # another client may have been faster

    async def look_up(self, id_: str) -> PlaySession | GameState | None:
        """A session in memory, or a game on the disk; None if there is neither."""
        session = self._sessions.get(id_)
        return session if session is not None else await self._find(id_)

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
                del self._sessions[session.id]

    def close(self) -> None:
        """Close all sessions; their games are on the disk."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._reviewers.shutdown(wait=False, cancel_futures=True)
