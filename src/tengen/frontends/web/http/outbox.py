"""Messages on their way to one client: in order, after what they tell of is on the disk."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from tengen.frontends.web.http import limits

LONGEST_WAIT = 0.5  # seconds for a disk that does not answer


class _Waiting(NamedTuple):
    text: str
    after: Future[None] | None


class Outbox:
    """Belongs to the event loop. A message with a key takes the place of one that still waits."""

    def __init__(self) -> None:
        self._messages: OrderedDict[object, _Waiting] = OrderedDict()
        self._changed = asyncio.Event()
        self.closed = False
        self.overflown = False

    def put(
        self, message: dict[str, Any], key: str | None = None, after: Future[None] | None = None
    ) -> None:
        """Send a message, once what it waits for is done."""
        self.put_text(json.dumps(message, separators=(",", ":")), key, after)

    def put_text(
        self, text: str, key: str | None = None, after: Future[None] | None = None
    ) -> None:
        """The same for a message that is JSON already."""
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
        """Send nothing more."""
        self.closed = True
        self._changed.set()

    async def deliver(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send what comes until closed."""
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
