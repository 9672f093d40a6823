"""One WebSocket connection: greets a client, passes on its messages, sends those of its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from tengen.frontends.web.play.client_messages import BadMessageError, Hello, parse_message
from tengen.frontends.web.play.outbox import Outbox
from tengen.frontends.web.play.refusal import RefusedError
from tengen.frontends.web.play.server_messages import Json
from tengen.frontends.web.play.session import PlaySession
from tengen.frontends.web.play.sessions import PlaySessions
from tengen.user_messages import say

TRY_LATER = 1013
HELLO_SECONDS = 20.0  # in which a client must send hello


async def serve_connection(
    socket: WebSocket, sessions: PlaySessions, info: Callable[[], Json]
) -> None:
    """Serve a client until it disconnects. Bad messages are answered by an error."""
    await socket.accept()
    outbox = Outbox()
    delivery = asyncio.create_task(_deliver(outbox, socket))
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            session = await _greet(socket, outbox, sessions, info)
        if session is not None:
            try:
                await _listen(socket, outbox, session)
            finally:
                session.detach(outbox)
    except (WebSocketDisconnect, TimeoutError):
        pass
    finally:
        outbox.close()
        with suppress(asyncio.CancelledError):
            await delivery
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()


async def _deliver(outbox: Outbox, socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # the client is gone
        await outbox.deliver(socket.send_text)
    outbox.close()
    if outbox.overflown:
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.close(TRY_LATER)


async def _greet(
    socket: WebSocket, outbox: Outbox, sessions: PlaySessions, info: Callable[[], Json]
) -> PlaySession | None:
    """Wait for a client's hello; its session, or None if there are too many."""
    while True:
        try:
            message = parse_message(await _received(socket))
            if not isinstance(message, Hello):
                raise BadMessageError("hello_first", "the first message is hello", message.request)
            session, had_one = await sessions.welcome(message.session)
        except BadMessageError as refusal:
            outbox.put(_error(refusal, refusal.request))
        except RefusedError as refusal:
            outbox.put(_error(refusal, message.request))
            await asyncio.sleep(0.2)  # so that the message arrives before the close
            return None
        else:
            welcome = {
                "type": "welcome",
                "session": session.id,
                "info": info(),
                "saved": had_one,
            }
            await session.attach(outbox, welcome)
            return session


async def _listen(socket: WebSocket, outbox: Outbox, session: PlaySession) -> None:
    while not outbox.closed:
        text = await _received(socket)
        request = None
        try:
            message = parse_message(text)
            request = message.request
            await session.receive(message)
        except BadMessageError as refusal:
            outbox.put(_error(refusal, refusal.request))
        except RefusedError as refusal:
            outbox.put(_error(refusal, request))
        except Exception as error:  # a bug must not end the game
            what = f"internal error: {type(error).__name__}: {error}"
            say(what)
            outbox.put(_error(RefusedError("server_error", what), request))


async def _received(socket: WebSocket) -> str | bytes:
    """The next message; raises WebSocketDisconnect."""
    event = await socket.receive()
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", 1000))
    text: str | bytes | None = event.get("text")
    return text if text is not None else event.get("bytes") or b""


def _error(refusal: RefusedError, request: int | None) -> Json:
    return {
        "type": "error",
        "request": request,
        "code": refusal.code,
        "message": str(refusal),
        "data": refusal.data,
    }
