"""HTTP with time limits for requests, and a limit on connections.

Half-open connections are closed, and so are those beyond the limit of the process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tengen.frontends.connection_limit import BACKLOG, most_connections
from tengen.frontends.web import limits

GRACE_SECONDS = 2  # for open requests when the server stops


def server_config(app: Callable[..., object]) -> uvicorn.Config:
    """The configuration of uvicorn: no logs, messages of limited size, no silent connections."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level=logging.CRITICAL,
        access_log=False,
        lifespan="on",
        http=impatient_protocol(most_connections()),
        backlog=BACKLOG,
        ws="websockets-sansio",
        ws_ping_interval=limits.PING_SECONDS,
        ws_ping_timeout=limits.PING_SECONDS,
        ws_max_size=limits.MESSAGE_BYTES,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def impatient_protocol(most: int) -> type[H11Protocol]:
    """A protocol that has at most so many connections, WebSockets included, and waits for none."""

    class ImpatientProtocol(H11Protocol):
        """Closes connections on which no whole request arrives within some seconds.

        Where a request was answered, uvicorn itself closes what stays silent.
        """

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.abort()
            else:
                self._look_later()

        def _look_later(self) -> None:
            self.loop.call_later(limits.REQUEST_SECONDS, self._look)

        def _look(self) -> None:
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return  # it is gone, or a WebSocket, which is asked for signs of life
            # Bodies are a few kB (see `bounded_bodies`): one that goes on and on is not waited for.
            half = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
            if half and self.timeout_keep_alive_task is None:
                self.transport.close()
            else:
                self._look_later()

    return ImpatientProtocol
