"""Gives each message of a client to the method of its type."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from tengen.frontends.web.limits import not_now
from tengen.frontends.web.play.client_messages import ClientMessage, Hello, NewGame, messages_of
from tengen.frontends.web.play.requests.analysing import AnalysisRequests
from tengen.frontends.web.play.requests.kept_games import KeptGameRequests
from tengen.frontends.web.play.requests.moments import MomentRequests
from tengen.frontends.web.play.requests.playing import PlayingRequests
from tengen.frontends.web.play.requests.records import RecordRequests
from tengen.frontends.web.play.session import PlaySession

BESIDES_PLAYING = RecordRequests, KeptGameRequests, AnalysisRequests, MomentRequests


class Dispatcher:
    """What the client of a session may ask for."""

    def __init__(self, session: PlaySession) -> None:
        self._session, self._playing = session, PlayingRequests(session)
        self._methods: dict[str, Callable[..., Awaitable[None]]] = messages_of(self._playing)
        for group in BESIDES_PLAYING:
            self._methods |= messages_of(group(session))

    async def receive(self, received: ClientMessage) -> None:
        """Do what a message asks for; raises RefusedError."""
        self._session.last_used = time.monotonic()
        if isinstance(received, NewGame):
            await self._playing.begin(received)
        elif isinstance(received, Hello):
            raise not_now("hello is only the first message of a connection")
        else:
            fields = received.model_dump(exclude={"type", "request"})
            await self._methods[received.type](**fields)
