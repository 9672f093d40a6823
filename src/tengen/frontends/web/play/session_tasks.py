"""A session's asyncio tasks: what the program does in its game."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.log_lines import say_sparingly


class SessionTasks:
    """A session's asyncio tasks: at most one of each name, such as the program's move."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def running(self, name: str) -> bool:
        """Is the task of this name under way?"""
        return name in self._tasks

    def start(
        self, name: str, work: Callable[[], Awaitable[Any]], failed: Callable[[str], None]
    ) -> None:
        """Run `work`, replacing the task of this name; `failed` gets a message if it raises.

        A task that was cancelled runs no further and reports nothing.
        """
        self.cancel(name)
        self._tasks[name] = asyncio.create_task(self._run(name, work, failed))

    async def _run(
        self, name: str, work: Callable[[], Awaitable[Any]], failed: Callable[[str], None]
    ) -> None:
        try:
            await work()
        except RefusedError as refusal:
            failed(str(refusal))
        except Exception as error:  # a bug must not end a game
            what = f"the search failed: {type(error).__name__}: {error}"
            say_sparingly(what)
            failed(what)
        finally:
            if self._tasks.get(name) is asyncio.current_task():
                del self._tasks[name]

    def cancel(self, *names: str) -> None:
        """Cancel the tasks of these names; searches that they await end soon."""
        for name in names:
            if name in self._tasks:
                self._tasks.pop(name).cancel()

    def cancel_all(self, but: Collection[str] = ()) -> None:
        """Cancel all tasks, but for some."""
        self.cancel(*[name for name in self._tasks if name not in but])
