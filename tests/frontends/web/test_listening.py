from __future__ import annotations

import asyncio
import socket
from contextlib import closing

import pytest

from tengen.frontends.web.http.listening import bound_socket


async def _sends_at_once(listening: socket.socket) -> bool:
    """Does a server at this socket send each message of a connection at once?"""
    found: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def meet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        found.set_result(bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    host, port = listening.getsockname()[:2]
    async with await asyncio.start_server(meet, sock=listening):
        _, writer = await asyncio.open_connection(host, port)
        at_once = await found
        writer.close()
        await writer.wait_closed()
    return at_once


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_small_messages_do_not_wait_for_the_client_to_acknowledge_others(host: str) -> None:
    with closing(bound_socket(host, 0)) as listening:
        assert asyncio.run(_sends_at_once(listening))


def test_a_port_that_is_taken_is_named() -> None:
    with closing(bound_socket("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(
            ValueError, match=rf"cannot serve at 127\.0\.0\.1 port {port}: .*in use"
        ):
            bound_socket("127.0.0.1", port)
