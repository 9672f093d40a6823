"""One WebSocket connection: greets a client, passes on its messages, sends those of its session."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.log_lines import say_sparingly
from tengen.frontends.web.play.client_messages import Hello, parse_message
from tengen.frontends.web.play.requests.dispatch import Dispatcher
from tengen.frontends.web.play.server_messages import Json, error_view
from tengen.frontends.web.play.session import PlaySession
from tengen.frontends.web.play.sessions import PlaySessions

TRY_LATER = 1013
HELLO_SECONDS = 20.0  # in which a client must send hello
LONGEST_WAIT = 0.5  # seconds that a message waits for a slow disk


class Outbox:
    """The queue of messages to one client: each waits until the state it describes is saved.

    Not thread-safe. A message replaces a waiting one that has the same key.
    """

    def __init__(self) -> None:
        self._messages: OrderedDict[object, tuple[str, Future[None] | None]] = OrderedDict()
        self._changed = asyncio.Event()
        self.closed = False
        self._bytes = 0  # of waiting messages, about
        self._overflown = False  # the client did not read

    def put(self, message: Json, key: str | None = None, after: Future[None] | None = None) -> None:
        """Queue a message; it is sent after the future is done."""
        if self.closed:
            return
        if key is not None and key in self._messages:
            self._bytes -= len(self._messages.pop(key)[0])
        text = json.dumps(message, separators=(",", ":"))
        many = len(self._messages) >= limits.WAITING_MESSAGES
        if many or (self._messages and self._bytes + len(text) > limits.WAITING_BYTES):
            self._overflown = True
            self.close()
            return
        self._bytes += len(text)
        self._messages[object() if key is None else key] = text, after
        self._changed.set()

    def close(self) -> None:
        """Stop sending."""
        self.closed = True
        self._changed.set()

    async def deliver(self, socket: WebSocket) -> None:
        """Send queued messages until closed, or until the client is gone."""
        with suppress(WebSocketDisconnect, RuntimeError):
            while not self.closed:
                if not self._messages:
                    self._changed.clear()
                    await self._changed.wait()
                    continue
                _, (text, after) = self._messages.popitem(last=False)
                self._bytes -= len(text)
                if after is not None and not after.done():
                    await asyncio.wait([asyncio.wrap_future(after)], timeout=LONGEST_WAIT)
                await socket.send_text(text)
        self.close()
        if self._overflown:
            await _close(socket, TRY_LATER)


async def serve_connection(
    socket: WebSocket, sessions: PlaySessions, info: Callable[[], Json]
) -> None:
    """Serve a client until it disconnects. Bad messages are answered by an error."""
    await socket.accept()
    outbox = Outbox()
    delivery = asyncio.create_task(outbox.deliver(socket))
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            session = await _greet(socket, outbox, sessions, info)
        if session is not None:
            try:
                await _listen(socket, outbox, Dispatcher(session))
            finally:
                session.detach(outbox)
    except (WebSocketDisconnect, TimeoutError):
        pass
    finally:
        outbox.close()
        with suppress(asyncio.CancelledError):
            await delivery
        await _close(socket)


async def _greet(
    socket: WebSocket, outbox: Outbox, sessions: PlaySessions, info: Callable[[], Json]
) -> PlaySession | None:
    """Wait for a client's hello; its session, or None if there are too many."""
    hello = None
    while not isinstance(hello, Hello):
        try:
            hello = parse_message(await _received(socket))
            if not isinstance(hello, Hello):
                raise RefusedError("hello_first", "the first message is hello")
        except RefusedError as refusal:
            outbox.put(error_view(refusal, hello))
    try:
        session, had_one = await sessions.welcome(hello)
    except RefusedError as refusal:
        outbox.put(error_view(refusal, hello))
        await asyncio.sleep(0.2)  # so that the message arrives before the close
        return None
    welcome = {
        "type": "welcome",
        "session": session.id,
        "player": session.kept.player,
        "room": session.kept.room(),
        "info": info(),
        "saved": had_one,
    }
    await session.attach(outbox, welcome)
    return session


async def _listen(socket: WebSocket, outbox: Outbox, dispatcher: Dispatcher) -> None:
    """Do what a client asks for, one message a turn of the event loop.

    Messages may wait in the socket's queue, from which they would be had without a turn of others.
    """
    while not outbox.closed:
        text = await _received(socket)
        began = time.thread_time()
        message = None
        try:
            message = parse_message(text)
            await dispatcher.receive(message)
        except RefusedError as refusal:
            outbox.put(error_view(refusal, message))
        except Exception as error:  # a bug must not end the game
            what = f"internal error: {type(error).__name__}: {error}"
            say_sparingly(what)
            outbox.put(error_view(RefusedError("server_error", what), message))
        took = time.thread_time() - began
        await asyncio.sleep(took if took > limits.LONG_TURN else 0)


async def _received(socket: WebSocket) -> str | bytes:
    """The next message; raises WebSocketDisconnect."""
    event = await socket.receive()
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", 1000))
    text: str | bytes | None = event.get("text")
    return text if text is not None else event.get("bytes") or b""


async def _close(socket: WebSocket, code: int = 1000) -> None:
    with suppress(RuntimeError, WebSocketDisconnect):  # it is closed already
        await socket.close(code)
