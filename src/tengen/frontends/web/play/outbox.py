"""The queue of messages to one client: each waits until the state it describes is saved."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from tengen.frontends.web import limits

LONGEST_WAIT = 0.5  # seconds to wait for a slow disk


class _Waiting(NamedTuple):
    text: str
    after: Future[None] | None


class Outbox:
    """Not thread-safe. A message replaces a waiting one that has the same key."""

    def __init__(self) -> None:
        self._messages: OrderedDict[object, _Waiting] = OrderedDict()
        self._changed = asyncio.Event()
        self.closed = False
        self.overflown = False  # the client did not read

    def put(
        self, message: dict[str, Any], key: str | None = None, after: Future[None] | None = None
    ) -> None:
        """Queue a message; it is sent after the future is done."""
        self.put_text(json.dumps(message, separators=(",", ":")), key, after)

    def put_text(
        self, text: str, key: str | None = None, after: Future[None] | None = None
    ) -> None:
        """Queue a message that is JSON already."""
        if self.closed:
            return
        if len(self._messages) >= limits.WAITING_MESSAGES:
            self.overflown = True
            self.close()
            return
        if key is not None:
            self._messages.pop(key, None)
        self._messages[object() if key is None else key] = _Waiting(text, after)
        self._changed.set()

    def close(self) -> None:
        """Stop sending."""
        self.closed = True
        self._changed.set()

    async def deliver(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send queued messages until closed."""
        while not self.closed:
            if not self._messages:
                self._changed.clear()
                await self._changed.wait()
                continue
            _, message = self._messages.popitem(last=False)
            if message.after is not None and not message.after.done():
                with suppress(TimeoutError):
                    waiting = asyncio.shield(asyncio.wrap_future(message.after))
                    await asyncio.wait_for(waiting, LONGEST_WAIT)
            await send(message.text)
