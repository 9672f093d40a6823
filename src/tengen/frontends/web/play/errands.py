"""Work that a session has the engine room do, and what is done with it on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from tengen.frontends.web.play.engine_room import Desk, EngineRoom, Job
from tengen.frontends.web.play.refusal import RefusedError
from tengen.user_messages import say

Found = TypeVar("Found")


class Errands:
    """A session's work by name: one of each kind at a time. Belongs to the event loop."""

    def __init__(self, room: EngineRoom, owner: str, loop: asyncio.AbstractEventLoop) -> None:
        self._room, self._owner, self._loop = room, owner, loop
        self._jobs: dict[str, Job[object]] = {}

    def busy(self, kind: str) -> bool:
        """Is such work under way?"""
        return kind in self._jobs

    def do(
        self,
        kind: str,
        work: Callable[[Desk], Found],
        then: Callable[[Found], None],
        failed: Callable[[str], None],
        *,
        takes_long: bool = False,
    ) -> None:
        """Have work done in the place of any of its kind; `then` hears of it, if it is not dropped.

        The network must be there.
        """
        self.drop(kind)
        job = self._room.submit(self._owner, work, takes_long=takes_long)
        self._jobs[kind] = job  # type: ignore[assignment]

        def finish() -> None:
            if self._jobs.get(kind) is not job:
                return
            del self._jobs[kind]
            try:
                then(job.future.result())
            except RefusedError as refusal:
                failed(str(refusal))
            except Exception as error:  # a mistake of ours must not end a game
                what = f"the search failed: {type(error).__name__}: {error}"
                say(what)
                failed(what)

        def tell(future: Future[Found]) -> None:
            if not future.cancelled():
                self.call_soon(finish)

        job.future.add_done_callback(tell)

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Call something on the event loop, from any thread."""
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(callback)

    def hurry(self, kind: str) -> None:
        """Have work of this kind end soon, with what it has found."""
        if kind in self._jobs:
            self._jobs[kind].hurry()

    def drop(self, kind: str) -> None:
        """Have work of this kind end, and forget it."""
        job = self._jobs.pop(kind, None)
        if job is not None:
            job.cancel()

    def drop_all(self) -> None:
        """Have all work end."""
        for kind in list(self._jobs):
            self.drop(kind)
