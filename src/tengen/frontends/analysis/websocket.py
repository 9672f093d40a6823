"""The analysis protocol over a WebSocket: a line of JSON a message, many clients at a time.

Who may connect: programs on this machine, or whoever knows the token. Pages of other sites may
not, though they run in a browser on this machine.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import logging
import os
import socket
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen_at
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tengen.frontends.analysis.backlog import MOST_ANSWERS, Backlog
from tengen.frontends.analysis.client_session import LONGEST_LINE, AnalysisClient, OutputLine
from tengen.frontends.analysis.server import AnalysisService
from tengen.frontends.connection_limit import BACKLOG, most_connections
from tengen.frontends.loopback import LOOPBACK, is_loopback
from tengen.frontends.protocol_stdio import Log
from tengen.user_messages import say

PAUSE = 0.1  # seconds
PATIENCE = 100  # lines that may wait for a slow client before some are left out


def check_listening(listen: str, token: str | None) -> tuple[str, int]:
    """Host and port from HOST:PORT or PORT; raises ValueError, also where a token is missing."""
    host, _, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise ValueError(f"{listen!r} is no address: write HOST:PORT, such as {LOOPBACK}:2718")
    if token is not None and not token.strip():
        raise ValueError("the token is empty: choose one that nobody guesses")
    if token is None and not is_loopback(host):
        raise ValueError(
            f"{host} can be reached from other machines: choose a token that clients must know,"
            f" or listen at {LOOPBACK}"
        )
    return host, int(port)


async def serve_websocket(service: AnalysisService, log: Log) -> None:
    """Serve clients until interrupted, or until the network fails to load."""
    loader, token = service.loader, service.options.token
    host, port = check_listening(service.options.listen or "", token)

    def admit(connection: ServerConnection, request: Request) -> Response | None:
        refusal = why_refused(request, token)
        return connection.respond(HTTPStatus.UNAUTHORIZED, f"{refusal}\n") if refusal else None

    listening = listen_at(
        partial(_converse, service=service, log=log),
        host,
        port,
        process_request=admit,
        create_connection=counted_connections(most_connections()),
        backlog=BACKLOG,
        max_size=LONGEST_LINE,
        logger=logging.Logger("silent", logging.CRITICAL + 1),  # broken connections are normal
    )
    try:
        server = await listening
    except OSError as error:
        raise ValueError(f"cannot listen at {host} port {port}: {_reason(error)}") from None
    async with server:
        port = next(iter(server.sockets)).getsockname()[1]  # the system chooses one for 0
        say(f"listening at ws://{f'[{host}]' if ':' in host else host}:{port}")
        await asyncio.to_thread(loader.wait)
        if loader.ready:
            await server.serve_forever()


def _reason(error: OSError) -> str:
    """The system's words and what to do; asyncio puts words of its own before them."""
    if isinstance(error, socket.gaierror):  # its numbers are no errno
        return f"{error.strerror}; name another address"
    words = str(error) if error.errno is None else os.strerror(error.errno)
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{words}; name an address of this machine"
    return f"{words}; name another port, or 0 for any free one"


def counted_connections(most: int) -> type[ServerConnection]:
    """Connections of which at most so many are open; those beyond are closed at once."""
    under_way: set[ServerConnection] = set()

    class Connection(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            under_way.add(self)
            if len(under_way) > most:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            under_way.discard(self)
            super().connection_lost(exc)

    return Connection


def why_refused(request: Request, token: str | None) -> str | None:
    """Why a client may not connect, None if it may."""
    if token is not None:
        known = parse_qs(urlsplit(request.path).query).get("token", [""])[-1]
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            known = given.strip()
        if hmac.compare_digest(known.encode(), token.encode()):
            return None
        return "the token is missing or wrong: add ?token=... to the address"
    # A page of another site may lead here in two ways: straight, which its origin tells, or by a
    # name of its own for this machine, which the host tells.
    origin = request.headers.get("Origin")
    if not is_loopback(_host_in(f"//{request.headers.get('Host', '')}")):
        return "this engine serves its own machine: connect to 127.0.0.1 or localhost"
    if origin is not None and not is_loopback(_host_in(origin)):
        return "pages of other sites are not served without a token"
    return None


def _host_in(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def _converse(connection: ServerConnection, service: AnalysisService, log: Log) -> None:
    """Serve one client; ends its searches when it is gone."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()
    unread = Backlog(MOST_ANSWERS)

    def put(line: OutputLine) -> None:
        if not (line.superseded and lines.qsize() > PATIENCE):
            unread.hold(len(line.text))
            lines.put_nowait(line.text)

    def send(line: OutputLine) -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(put, line)

    session = AnalysisClient(service, send, unread)
    writer = asyncio.create_task(_write(connection, lines, unread, log))
    try:
        with suppress(ConnectionClosed):
            async for message in connection:
                data = message.encode() if isinstance(message, str) else message
                # Not splitlines, to which other characters of JSON's texts are line ends, too.
                for line in data.split(b"\n"):
                    while unread.is_full and not writer.done():
                        await asyncio.sleep(PAUSE)  # it reads nothing: neither do we
                    log.add(">", line.decode(errors="replace"))
                    await asyncio.to_thread(session.take, line)
    finally:
        session.close()
        writer.cancel()


async def _write(
    connection: ServerConnection, lines: asyncio.Queue[str], unread: Backlog, log: Log
) -> None:
    with suppress(ConnectionClosed):
        while True:
            text = await lines.get()
            log.add("<", text)
            await connection.send(text)
            unread.release(len(text))
