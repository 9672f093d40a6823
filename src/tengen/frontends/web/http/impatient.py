"""HTTP that does not wait for ever for a request: half-open connections are closed."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tengen.frontends.web import limits


class ImpatientProtocol(H11Protocol):
    """Closes connections on which no whole request arrives within some seconds.

    Where a request was answered, uvicorn itself closes what stays silent.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_later()

    def _look_later(self) -> None:
        self.loop.call_later(limits.REQUEST_SECONDS, self._look)

    def _look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it is gone, or a WebSocket, which is asked for signs of life
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            self.transport.close()
        else:
            self._look_later()
