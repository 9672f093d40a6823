"""Games on the disk, so that a killed server loses nothing.

Each game is an SGF file in the folder of its player; a session is a small file that says which game
it shows. File names are made here, never by clients. All files together stay within a number of
bytes: where they would not, the player with the most loses the oldest finished game.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from tengen.atomic_files import replace_file
from tengen.closeable import Closeable
from tengen.frontends.web.play.disk_worker import DiskWorker
from tengen.frontends.web.play.game_snapshot import NO_CARD, UNREADABLE, GameCard, Snapshot, card_of
from tengen.user_messages import say

SESSION_ID = re.compile(r"[0-9a-f]{32}")  # of players, too
GAME_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
KEPT_BYTES = 256_000_000  # of all games, unless told otherwise
MOST_GAMES = 50_000  # of all players: small files take more of a disk than they have bytes
FEWER = 0.99  # of them are left when there are too many
LOOKED_AT = 200  # games of a player, the oldest, from which those that go are chosen
NEARLY_FULL = 0.9  # from which share on players are told that games will go
SMALL_NODES, SMALL_BYTES = 500, 20_000  # of a game that is written at once
_KEEP_SESSIONS_DAYS = 60
_MOST_SESSIONS = 2_000
_MOST_PLAYERS = 5_000  # of whom something is noted
_TIDY_EVERY = 500  # new files


NoteKind: TypeAlias = Literal["results", "moments"]
_NOTES = get_args(NoteKind)  # folders of them
_SMALL_NOTES = {"results"}


class GameKey(NamedTuple):
    """Whose game, and which."""

    player: str
    game: str


class KeptGame(NamedTuple):
    """A game in a player's list."""

    id: str
    changed: float  # seconds since 1970
    card: GameCard


def new_id() -> str:
    """An id of a player or of a session, which nobody can guess."""
    return secrets.token_hex(16)


def new_game_id() -> str:
    """An id of a game; later games have later ids."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"


class _File(NamedTuple):
    size: int
    changed: float


class GameStore(Closeable):
    """Writes the latest state of each game. Thread-safe; close it."""

    def __init__(self, folder: Path, most_bytes: int = KEPT_BYTES) -> None:
        self.folder = folder
        self._sessions, self._games = folder / "sessions", folder / "games"
        self._notes: dict[NoteKind, Path] = {kind: folder / kind for kind in _NOTES}
        for each in (self._sessions, self._games, *self._notes.values()):
            each.mkdir(parents=True, exist_ok=True)
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._unwritten: dict[Path, Callable[[], bytes]] = {}  # the latest state by file
        self._shows: dict[str, GameKey] = {}  # the game of each session, as far as known
        self._files: dict[Path, _File] = {}  # of all games
        self._bytes = 0
        self._cards: dict[Path, tuple[float, GameCard]] = {}  # with the time of the file's change
        self._complained = False
        self._small_files = 0  # written since the last tidying
        self._tidy()
        for file, found in _by_age(self._games, "**/*.sgf"):
            self._count(file, found)
        self._disk = DiskWorker("game_store")

    # Games of sessions

    def save(self, session: str, key: GameKey, game: Snapshot) -> Future[None]:
        """Write the game of a session soon; done when this or a newer state is written, or failed.

        A small game is written at once, if it can be.
        """
        path = self._path(key)
        with self._lock:
            self._unwritten[path] = game.as_sgf
            pointed = self._shows.get(session) == key
            self._shows[session] = key
        work = partial(self._write_latest, path, None if pointed else session, key)
        small = game.nodes <= SMALL_NODES and self._size(path) <= SMALL_BYTES
        if small and self.share_used <= NEARLY_FULL:
            return self._disk.submit_small(work, path)
        return self._disk.submit(work, path)

    def load(self, session: str) -> tuple[GameKey, bytes] | None:
        """The game that a session showed last; None if there is none or it cannot be read."""
        if not SESSION_ID.fullmatch(session):
            return None
        with self._lock:
            key = self._shows.get(session)
        try:
            if key is None:
                told = json.loads((self._sessions / f"{session}.json").read_bytes())
                key = GameKey(str(told["player"]), str(told["game"]))
            saved = self.load_game(key)
            return None if saved is None else (key, saved)
        except (OSError, *UNREADABLE):
            return self._load_older(session)

    def _load_older(self, session: str) -> tuple[GameKey, bytes] | None:
        """A session as earlier versions wrote it, before players had games of their own."""
        try:
            saved = (self._sessions / f"{session}.sgf").read_bytes()
        except OSError:
            return None
        return GameKey(new_id(), new_game_id()), saved

    def release(self, session: str) -> None:
        """Note that a session has left the memory: its game may be deleted to make room."""
        with self._lock:
            self._shows.pop(session, None)

    def forget_session(self, session: str) -> None:
        """Note that another session now shows the game of this one."""
        self.release(session)
        self._disk.submit(partial(self._remove, self._sessions / f"{session}.json"))

    # Games of players

    def load_game(self, key: GameKey) -> bytes | None:
        """A kept game; None if there is none or it cannot be read."""
        if not (SESSION_ID.fullmatch(key.player) and GAME_ID.fullmatch(key.game)):
            return None
        path = self._path(key)
        with self._lock:
            unwritten = self._unwritten.get(path)
        if unwritten is not None:
            return unwritten()
        try:
            return path.read_bytes()
        except OSError:
            return None

    def games(self, player: str) -> Future[list[KeptGame]]:
        """A player's games, the latest first, once all that was saved before is written."""
        return self._disk.submit(partial(self._list, player))

    def write(self, key: GameKey, content: bytes) -> Future[None]:
        """Replace a kept game that no session shows."""
        path = self._path(key)
        return self._disk.submit(partial(self._write_game, path, content), path)

    def delete(self, key: GameKey) -> Future[None]:
        """Delete a kept game."""
        path = self._path(key)
        with self._lock:
            self._unwritten.pop(path, None)
        return self._disk.submit_small(partial(self._drop, path), path)

    @property
    def share_used(self) -> float:
        """The share of the room for games that is used."""
        return self._bytes / max(1, self.most_bytes)

    # What is noted of players

    def notes(self, player: str, kind: NoteKind) -> Future[bytes]:
        """The notes of one kind about a player; empty if there are none."""
        return self._disk.submit(partial(self._read_notes, player, kind))

    def _read_notes(self, player: str, kind: NoteKind) -> bytes:
        try:
            return (self._notes[kind] / f"{player}.json").read_bytes()
        except OSError:
            return b""

    def change_notes(
        self, player: str, kind: NoteKind, change: Callable[[bytes], bytes | None]
    ) -> Future[bytes]:
        """Soon replace notes by what `change` returns, unless None; the notes after that."""
        path = self._notes[kind] / f"{player}.json"

        def work() -> bytes:
            before = self._read_notes(player, kind)
            content = change(before)
            if content is None:
                return before
            self._write_small(path, content)
            return content

        begin = self._disk.submit_small if kind in _SMALL_NOTES else self._disk.submit
        return begin(work, path)

    def close(self) -> None:
        """Write what is queued, and end the thread."""
        self._disk.close()

    # In the thread, or by whoever may write at once

    def _path(self, key: GameKey) -> Path:
        return self._games / key.player / f"{key.game}.sgf"

    def _write_latest(self, path: Path, session: str | None, key: GameKey) -> None:
        """Write a game, unless that was done while this call was queued."""
        with self._lock:
            write = self._unwritten.get(path)
        if write is not None:
            self._write_game(path, write())
            with self._lock:
                if self._unwritten.get(path) is write:
                    del self._unwritten[path]
        if session is not None:
            content = json.dumps(key._asdict()).encode()
            self._write_small(self._sessions / f"{session}.json", content)

    def _write_game(self, path: Path, content: bytes) -> None:
        if self._write(path, content):
            self._count(path, _File(len(content), time.time()))
            if self._bytes > self.most_bytes or len(self._files) > MOST_GAMES:
                self._make_room(path)

    def _write(self, path: Path, content: bytes) -> bool:
        name = f".{path.name}.{os.getpid()}"
        try:
            try:
                replace_file(path, content, name, mode=0o600, durable=False)
            except FileNotFoundError:  # a player's first game
                path.parent.mkdir(exist_ok=True)
                replace_file(path, content, name, mode=0o600, durable=False)
        except OSError as error:
            if not self._complained:
                self._complained = True
                say(f"games cannot be saved: {error.filename}: {error.strerror}")
            return False
        return True

    def _count(self, path: Path, file: _File) -> None:
        self._bytes += file.size - self._size(path)
        self._files[path] = file

    def _size(self, path: Path) -> int:
        file = self._files.get(path)
        return 0 if file is None else file.size

    def _drop(self, path: Path) -> None:
        self._remove(path)
        self._bytes -= self._files.pop(path, _File(0, 0)).size
        self._cards.pop(path, None)
        with suppress(OSError):  # the player has other games
            path.parent.rmdir()

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()

    def _make_room(self, written: Path) -> None:
        """Delete games of whoever has the most bytes: finished ones first, the oldest of them."""
        most = MOST_GAMES if len(self._files) <= MOST_GAMES else int(FEWER * MOST_GAMES)
        while (self._bytes > self.most_bytes or len(self._files) > most) and len(self._files) > 1:
            used: dict[Path, int] = {}
            for path, file in self._files.items():
                used[path.parent] = used.get(path.parent, 0) + file.size
            largest = max(used, key=used.__getitem__)
            shown = {self._path(key) for key in list(self._shows.values())} | {written}
            theirs = [path for path in self._files if path.parent == largest and path not in shown]
            if not theirs:
                theirs = [path for path in self._files if path not in shown]
            if not theirs:
                return
            oldest = nsmallest(LOOKED_AT, theirs, key=lambda path: self._files[path].changed)
            for path in nsmallest(max(1, len(self._files) - most), oldest, key=self._worth):
                self._drop(path)

    def _worth(self, path: Path) -> tuple[bool, bool, float]:
        """A key for deletion: first games without a move, then finished ones, the oldest first."""
        card = self._card(path)
        return card.keep, card.under_way, self._files[path].changed

    def _card(self, path: Path) -> GameCard:
        changed = self._files[path].changed if path in self._files else 0.0
        if path not in self._cards or self._cards[path][0] != changed:
            try:
                self._cards[path] = changed, card_of(path.read_bytes())
            except OSError:
                return NO_CARD
        return self._cards[path][1]

    def _list(self, player: str) -> list[KeptGame]:
        folder = self._games / player
        paths = [path for path in self._files if path.parent == folder]
        listed = [
            KeptGame(path.stem, self._files[path].changed, self._card(path)) for path in paths
        ]
        kept = [each for each in listed if each.card.keep]
        return sorted(kept, key=lambda each: -each.changed)

    def _write_small(self, path: Path, content: bytes) -> None:
        self._write(path, content)
        self._small_files += 1
        if self._small_files >= _TIDY_EVERY:
            self._tidy()

    def _tidy(self) -> None:
        """Remove files of sessions not used for long, whose games stay, and the oldest notes."""
        self._small_files = 0
        oldest = time.time() - _KEEP_SESSIONS_DAYS * 24 * 3600
        sessions = _by_age(self._sessions, "*.json")
        for i, (path, file) in enumerate(sessions):
            if file.changed < oldest or i < len(sessions) - _MOST_SESSIONS:
                self._remove(path)
        for folder in self._notes.values():
            notes = _by_age(folder, "*.json")
            for path, _ in notes[: max(0, len(notes) - _MOST_PLAYERS)]:
                self._remove(path)


def _by_age(folder: Path, pattern: str) -> list[tuple[Path, _File]]:
    """Files with their size and the time of their last change, the oldest first."""
    found = []
    for path in folder.glob(pattern):
        with suppress(OSError):
            status = path.stat()
            found.append((path, _File(status.st_size, status.st_mtime)))
    return sorted(found, key=lambda each: each[1].changed)
