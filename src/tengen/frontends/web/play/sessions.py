"""All sessions: found again by their ids, made anew, and dropped when nobody uses them."""

from __future__ import annotations

import asyncio
import secrets
import time

from tengen.frontends.web.http import limits
from tengen.frontends.web.play.autosave import SESSION_ID, Autosave
from tengen.frontends.web.play.engine_room import EngineRoom
from tengen.frontends.web.play.messages import NewGame
from tengen.frontends.web.play.refusal import RefusedError
from tengen.frontends.web.play.session import Session
from tengen.frontends.web.play.snapshot import restored_table, saved_table
from tengen.frontends.web.play.table import Table, new_table
from tengen.frontends.web.play.views import Json

IDLE_SECONDS = 30 * 60.0  # after which a session that nobody is connected to leaves the memory


class Sessions:
    """Belongs to the event loop."""

    def __init__(self, room: EngineRoom, autosave: Autosave, first_game: NewGame) -> None:
        self._room, self._autosave, self._first_game = room, autosave, first_game
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    async def welcome(self, id_: str | None) -> tuple[Session, bool]:
        """The session of a client, and whether it had one; raises RefusedError if there is no room.

        Two clients with one id, as a duplicated tab has it, are two sessions from then on.
        """
        self._drop_idle()
        known = await self._find(id_) if id_ is not None else None
        if isinstance(known, Session):
            return known, True
        if len(self._sessions) >= limits.SESSIONS:
            raise RefusedError(
                "too_many_sessions", "too many people are playing here; try again later"
            )
        table = known or new_table(self._first_game)
        found = known is not None and id_ is not None and id_ not in self._sessions
        return self._new(id_ if found and id_ else secrets.token_hex(16), table), known is not None

    async def _find(self, id_: str) -> Session | Table | None:
        """A session that nobody else uses, or the table of one that was saved or is in use."""
        if not SESSION_ID.fullmatch(id_):
            return None
        session = self._sessions.get(id_)
        if session is not None:
            if not session.connected:
                return session
            return await asyncio.to_thread(restored_table, saved_table(session.table))
        saved = await asyncio.to_thread(self._autosave.load, id_)
        table = None if saved is None else await asyncio.to_thread(restored_table, saved)
        return self._sessions.get(id_) or table  # another client may have been faster

    def _new(self, id_: str, table: Table) -> Session:
        session = self._sessions[id_] = Session(id_, table, self._room, self._autosave)
        return session

    async def look_up(self, id_: str) -> Session | Table | None:
        """A session in memory, or a table on the disk; None if there is neither."""
        session = self._sessions.get(id_)
        return session if session is not None else await self._find(id_)

    def network_ready(self, info: Json) -> None:
        """Tell everybody."""
        for session in list(self._sessions.values()):
            session.network_ready(info)

    def _drop_idle(self) -> None:
        """Let go of sessions nobody is connected to: those idle for long, or more if need be."""
        idle = [each for each in self._sessions.values() if not each.connected]
        idle.sort(key=lambda each: each.last_used)
        too_many = len(self._sessions) - limits.SESSIONS + 1
        long_ago = time.monotonic() - IDLE_SECONDS
        for i, session in enumerate(idle):
            if i < too_many or session.last_used < long_ago:
                session.close()
                del self._sessions[session.id]

    def close(self) -> None:
        """End all of them; their games are on the disk."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
