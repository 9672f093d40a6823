"""Sockets that the servers listen at."""

from __future__ import annotations

import os
import socket
from typing import Any

USUAL_PORT = 8361
PORTS_TRIED = 50


def bound_socket(host: str, port: int | None) -> socket.socket:
    """A listening socket at this port; 0: any free one; None: the usual one or the next free one.

    Raises ValueError that says why there is none.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ValueError(f"cannot serve at {host}: {error.strerror}") from None
    wanted = range(USUAL_PORT, USUAL_PORT + PORTS_TRIED) if port is None else [port]
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    for number in wanted:
        try:
            place = (address[0], number, *address[2:])
            return listening_socket(place, family=family, dualstack_ipv6=both)
        except OSError as error:
            why = os.strerror(error.errno or 0)
    raise ValueError(f"cannot serve at {host} port {wanted[0]}: {why}; try --port 0")


def listening_socket(place: tuple[Any, ...], **options: Any) -> socket.socket:
    """As `socket.create_server`, which see; raises OSError.

    That one leaves the protocol unnamed, and so does each connection it accepts. Then asyncio does
    not know that it is TCP, and a second small message waits until the client has acknowledged the
    first, which takes clients 40 ms.
    """
    created = socket.create_server(place, **options)
    family, kind = created.family, created.type
    return socket.socket(family, kind, socket.IPPROTO_TCP, fileno=created.detach())
