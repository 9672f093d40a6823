"""Sessions' games on the disk, so that a killed server loses nothing.

Each session has an SGF file named after its id; replaced games are archived in another folder. File
names are made here, never by clients.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from tengen.atomic_files import replace_file
from tengen.closeable import Closeable
from tengen.engine.levels import level_named
from tengen.frontends.web.play.game_clock import GameClock
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_tree import GameTree, TreeNode
from tengen.game.sgf.records import SgfGame, SgfNode, read_sgf, save_sgf
from tengen.user_messages import say

SESSION_ID = re.compile(r"[0-9a-f]{32}")
_KEEP_SESSIONS_DAYS = 60
_MOST_SESSIONS, _MOST_GAMES = 2_000, 10_000  # on the disk; the oldest are removed first
PROPERTY = "TENGEN"  # of the root of a saved game; other programs ignore it
FORMAT = 1  # of what it holds


class Autosave(Closeable):
    """Writes the latest state of each session in a thread of its own. Thread-safe; close it."""

    def __init__(self, folder: Path) -> None:
        self._sessions, self._games = folder / "sessions", folder / "games"
        for each in (self._sessions, self._games):
            each.mkdir(parents=True, exist_ok=True)
        self._tidy()
        self._lock = threading.Lock()
        self._unwritten: dict[str, bytes] = {}  # the latest state by session
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="autosave")
        self._complained = False

    def save(self, session: str, saved: bytes) -> Future[None]:
        """Write a session soon; done when this or a newer state is written, or failed."""
        with self._lock:
            self._unwritten[session] = saved
        return self._writer.submit(self._write_latest, session)

    def load(self, session: str) -> bytes | None:
        """A saved session; None if there is none or it cannot be read."""
        if not SESSION_ID.fullmatch(session):
            return None
        with self._lock:
            if session in self._unwritten:
                return self._unwritten[session]
        try:
            return (self._sessions / f"{session}.sgf").read_bytes()
        except OSError:
            return None

    def archive(self, sgf: bytes) -> None:
        """Keep a game that is replaced by another."""
        name = f"{time.strftime('%Y-%m-%d %H%M%S')} {os.urandom(3).hex()}.sgf"
        self._writer.submit(self._write, self._games / name, sgf)

    def close(self) -> None:
        """Write what is queued, and end the thread."""
        self._writer.shutdown()

    def _write_latest(self, session: str) -> None:
        """Write a session, unless that was done while this call was queued."""
        saved = self._unwritten.get(session)
        if saved is not None:
            self._write(self._sessions / f"{session}.sgf", saved)
            with self._lock:
                if self._unwritten[session] is saved:
                    del self._unwritten[session]

    def _write(self, path: Path, content: bytes) -> None:
        try:
            name = f".{path.name}.{os.getpid()}"
            replace_file(path, content, name, mode=0o600, durable=False)
        except OSError as error:
            if not self._complained:
                self._complained = True
                say(f"games cannot be saved: {error.filename}: {error.strerror}")

    def _tidy(self) -> None:
        """Archive sessions not used for long; delete the oldest archived games."""
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


def saved_game(game: GameState) -> bytes:
    """A game as SGF, with its state in a property of the root."""
    position = game.position
    state = {
        "form": FORMAT,
        "mode": game.mode,
        "you": game.you,
        "level": game.level,
        "at": _path(game.at),
        "end": _path(game.end),
        "counting": game.counting,
        "dead_unknown": game.dead_unknown,
        "dead": sorted(position.text(point) for point in game.dead),
        "result": game.result,
        "clock": None if game.clock is None else game.clock.saved(),
    }
    record = game.tree.game.root
    root = SgfNode(dict(record.properties), record.children)
    root.set_text(PROPERTY, json.dumps(state))
    return save_sgf(SgfGame(root))


def restored_game(saved: bytes) -> GameState | None:
    """A saved game; None if the file cannot be understood."""
    try:
        record = read_sgf(saved)[0]
        state = json.loads(record.root.text(PROPERTY))
        del record.root.properties[PROPERTY]
        return _restored(GameTree(record), state)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None


def _restored(tree: GameTree, state: dict[str, Any]) -> GameState | None:
    if state["form"] != FORMAT:
        return None
    you, level, clock = state["you"], state["level"], state["clock"]
    if you not in (None, "black", "white", "both"):
        return None
    if level is not None:
        level_named(level)
    game = GameState(tree, you, level, None if clock is None else GameClock.restored(clock))
    game.mode = "play" if you and state["mode"] == "play" else "analyse"
    if you:
        game.end = _at(tree, state["end"])
    game.at = game.end if game.mode == "play" else _at(tree, state["at"])
    position = tree.position(game.end)
    game.result = None if state["result"] is None else str(state["result"])
    game.counting = game.result is None and bool(you) and position.is_over
    if position.is_over:
        chains = [position.chain(str(point)) for point in state["dead"]]
        game.dead_unknown = game.counting and bool(state["dead_unknown"])
        game.dead = frozenset(point for chain in chains for point in chain)
    tree.position(game.at)
    return game


def _path(node: TreeNode) -> list[int]:
    """The index of the child at each node from the root."""
    return [before.children.index(after) for before, after in pairwise(node.line())]


def _at(tree: GameTree, path: list[int]) -> TreeNode:
    """The node at the end of a path, or as far as it can be followed."""
    node = tree.root
    for index in path:
        if not 0 <= index < len(node.children):
            break
        node = node.children[index]
    return node
