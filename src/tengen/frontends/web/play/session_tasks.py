"""A session's asyncio tasks by name, such as the program's move or a review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from tengen.frontends.web.play.refusal import RefusedError
from tengen.user_messages import say

Found = TypeVar("Found")


class SessionTasks:
    """At most one task of each name. Not thread-safe: belongs to the event loop."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def running(self, name: str) -> bool:
        """Is the task of this name under way?"""
        return name in self._tasks

    def start(
        self,
        name: str,
        work: Coroutine[Any, Any, Found],
        then: Callable[[Found], None],
        failed: Callable[[str], None],
    ) -> None:
        """Run a coroutine in the place of the task of this name.

        `then` gets its result; `failed` gets a message if the coroutine or `then` raises. Neither
        is called for a task that was cancelled.
        """
        self.cancel(name)
        task = self._tasks[name] = asyncio.create_task(work)
        task.add_done_callback(partial(self._finish, name, then, failed))

    def _finish(
        self,
        name: str,
        then: Callable[[Found], None],
        failed: Callable[[str], None],
        task: asyncio.Task[Found],
    ) -> None:
        if self._tasks.get(name) is not task:
            return  # it was cancelled
        del self._tasks[name]
        try:
            then(task.result())
        except asyncio.CancelledError:
            pass  # the engine was closed
        except RefusedError as refusal:
            failed(str(refusal))
        except Exception as error:  # a bug must not end a game
            what = f"the search failed: {type(error).__name__}: {error}"
            say(what)
            failed(what)

    def cancel(self, *names: str) -> None:
        """Cancel the tasks of these names; searches that they await end soon."""
        for name in names:
            if name in self._tasks:
                self._tasks.pop(name).cancel()

    def cancel_all(self) -> None:
        """Cancel all tasks."""
        self.cancel(*list(self._tasks))
