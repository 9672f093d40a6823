"""The networks that the server's owner offers: files of a folder, opened when a game needs one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tengen.closeable import Closeable
from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.limits import RefusedError
from tengen.network.files.loading import ENDINGS

MOST_OPEN = 3  # besides the server's own
MOST_LISTED = 200


@dataclass
class _Open:
    loader: EngineLoader
    users: set[str] = field(default_factory=set)  # ids of sessions
    last_used: float = 0.0


class OfferedNetworks(Closeable):
    """Engines by the name of the network's file. Not thread-safe: belongs to the event loop."""

    def __init__(
        self,
        own: EngineLoader,
        folder: Path | None = None,
        make: Callable[[Path], Engine] | None = None,
    ) -> None:
        """`make` opens a file; the loader of the server's own network is closed by its owner."""
        self._own, self._folder, self._make = own, folder, make
        self._open: dict[str, _Open] = {}

    def names(self) -> list[str]:
        """The files to choose from."""
        if self._folder is None or self._make is None:
            return []
        try:
            names = [file.name for file in self._folder.iterdir()]
        except OSError:
            return []
        # A file whose name begins with a dot is still being written.
        files = [name for name in names if name.endswith(ENDINGS) and not name.startswith(".")]
        return sorted(files, key=str.lower)[:MOST_LISTED]

    def use(self, name: str | None, session: str) -> EngineLoader:
        """The engine for a session's game, which gives back the one it used; raises RefusedError.

        Files come and go while the server runs: one that is gone is refused.
        """
        self.give_back(session)
        if name is None:
            return self._own
        if name not in self._open:
            if name not in self.names() or self._folder is None or self._make is None:
                raise RefusedError("no_network", f"there is no network {name[:100]!r} here")
            self._close_one()
            path, make = self._folder / name, self._make
            self._open[name] = _Open(EngineLoader(lambda: make(path), low_priority=True))
        opened = self._open[name]
        opened.users.add(session)
        return opened.loader

    def give_back(self, session: str) -> None:
        """Note that a session needs its network no longer."""
        for opened in self._open.values():
            if session in opened.users:
                opened.users.remove(session)
                opened.last_used = time.monotonic()

    def _close_one(self) -> None:
        """Make room for another one; raises RefusedError if all are in use or loading."""
        if len(self._open) < MOST_OPEN:
            return
        unused = [
            name
            for name, each in self._open.items()
            if not each.users and each.loader.future.done()
        ]
        if not unused:
            raise RefusedError("networks_in_use", "too many networks are in use; try again later")
        oldest = min(unused, key=lambda name: self._open[name].last_used)
        closing = self._open.pop(oldest).loader.close
        threading.Thread(target=closing, name="closing a network").start()

    def close(self) -> None:
        """Close all engines but the server's own."""
        for opened in self._open.values():
            opened.loader.close()
        self._open.clear()
