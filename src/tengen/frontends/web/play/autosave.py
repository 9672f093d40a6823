"""Games on the disk as they are played: what a killed server leaves behind, the next one takes up.

A session has a game record named after it. Games that made room for others are kept, too. All names
are made here, none by a client.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from tengen.closeable import Closeable
from tengen.user_messages import say

SESSION_ID = re.compile(r"[0-9a-f]{32}")
_KEEP_SESSIONS_DAYS = 60
_MOST_SESSIONS, _MOST_GAMES = 2_000, 10_000  # on the disk; the oldest go first


def user_data() -> Path:
    """Where this user's programs keep what cannot be made again."""
    if chosen := os.environ.get("TENGEN_DATA_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "~\\AppData\\Roaming")).expanduser() / "tengen"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/tengen").expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tengen"


class Autosave(Closeable):
    """Writes sessions in a thread of its own, the latest state of each.

    All methods may be called from any thread. Close it in the end.
    """

    def __init__(self, folder: Path) -> None:
        self._sessions, self._games = folder / "sessions", folder / "games"
        for each in (self._sessions, self._games):
            each.mkdir(parents=True, exist_ok=True)
        self._tidy()
        self._changed = threading.Condition()
        self._waiting: dict[str, tuple[bytes, Future[None]]] = {}
        self._put_away: deque[bytes] = deque()
        self._writing: dict[str, bytes] = {}
        self._closed = False
        self._complained = False
        self._thread = threading.Thread(target=self._work, name="autosave", daemon=True)
        self._thread.start()

    def save(self, session: str, saved: bytes) -> Future[None]:
        """Write a session soon; done when it, or something newer of it, was written or failed."""
        with self._changed:
            _, done = self._waiting.get(session, (saved, Future[None]()))
            self._waiting[session] = saved, done
            self._changed.notify()
        return done

    def load(self, session: str) -> bytes | None:
        """A session that was saved, None if there is none that can be read."""
        if not SESSION_ID.fullmatch(session):
            return None
        with self._changed:
            if session in self._waiting:
                return self._waiting[session][0]
            if session in self._writing:
                return self._writing[session]
        try:
            return (self._sessions / f"{session}.sgf").read_bytes()
        except OSError:
            return None

    def put_away(self, sgf: bytes) -> None:
        """Keep a game that makes room for another."""
        with self._changed:
            self._put_away.append(sgf)
            self._changed.notify()

    def close(self) -> None:
        """Write what is waiting, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._waiting or self._put_away or self._closed):
                    self._changed.wait()
                if not (self._waiting or self._put_away):
                    return
                games, self._put_away = self._put_away, deque()
                sessions, self._waiting = self._waiting, {}
                self._writing = {session: saved for session, (saved, _) in sessions.items()}
            for sgf in games:
                name = f"{time.strftime('%Y-%m-%d %H%M%S')} {os.urandom(3).hex()}.sgf"
                self._write(self._games / name, sgf)
            for session, (saved, done) in sessions.items():
                self._write(self._sessions / f"{session}.sgf", saved)
                with self._changed:
                    del self._writing[session]
                done.set_result(None)

    def _write(self, path: Path, content: bytes) -> None:
        try:
            _write(path, content)
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            self._complained = True
            say(f"games cannot be saved: {error.filename}: {error.strerror}")

    def _tidy(self) -> None:
        """Make room: sessions not used for long become games, the oldest games go."""
        oldest = time.time() - _KEEP_SESSIONS_DAYS * 24 * 3600
        sessions = _by_age(self._sessions)
        for i, (file, changed) in enumerate(sessions):
            if changed < oldest or i < len(sessions) - _MOST_SESSIONS:
                with suppress(OSError):
                    file.replace(self._games / f"{time.strftime('%Y-%m-%d')} {file.name}")
        games = _by_age(self._games)
        for file, _ in games[: max(0, len(games) - _MOST_GAMES)]:
            with suppress(OSError):
                file.unlink()


def _by_age(folder: Path) -> list[tuple[Path, float]]:
    """Game records with the time of their last change, the oldest first."""
    found = []
    for file in folder.glob("*.sgf"):
        with suppress(OSError):
            found.append((file, file.stat().st_mtime))
    return sorted(found, key=lambda each: each[1])


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole at any time, with few calls: each may wait for busy threads."""
    beside = f"{path.parent}/.{path.name}.{os.getpid()}"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)
    Path(beside).replace(path)
