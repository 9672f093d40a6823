"""Problems out of a player's own kept games, made in the background, one player after another."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tengen.atomic_files import replace_file
from tengen.closeable import Closeable
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.learn.boards_as_json import Json
from tengen.frontends.web.limits import not_now
from tengen.frontends.web.log_lines import say_sparingly
from tengen.frontends.web.play.game_store import SESSION_ID, GameKey, GameStore
from tengen.game.sgf.records import read_sgf
from tengen.problems.level_games import watched
from tengen.problems.making import Maker
from tengen.problems.problem import Problem
from tengen.problems.problem_files import problem_line, read_problems

VISITS = 60  # of each search
GAMES_AT_A_TIME = 20  # that one request reads, the latest
MOST_WAITING = 20  # players
MOST_KEPT = 500  # problems of a player
MOST_PLAYERS, MOST_BYTES = 2_000, 64_000_000  # and of all their files
LEAST_MOVES = 10  # of a game that is read


class _Job(NamedTuple):
    player: str
    games: Sequence[str]  # not read yet, the latest first


class OwnProblems(Closeable):
    """Thread-safe; close it."""

    def __init__(self, folder: Path, game_store: GameStore, loader: EngineLoader) -> None:
        self._folder, self._game_store, self._loader = folder, game_store, loader
        self._lock = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._working: _Job | None = None
        self._done = 0  # games of the job under way
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def problems(self, player: str) -> list[Problem]:
        """A player's problems, the latest first; none if their file cannot be read."""
        with suppress(OSError, ValueError):
            return read_problems(self._file(player))[::-1]
        return []

    def view(self, player: str, games: Sequence[str]) -> Json:
        """How far it is: games that can be read, and those of a job under way."""
        read = self._read_games(player)
        with self._lock:
            mine = self._working if self._working and self._working.player == player else None
            waits = any(job.player == player for job in self._waiting)
            return {
                "unread": sum(game not in read for game in games),
                "working": mine is not None or waits,
                "done": self._done if mine else 0,
                "of": len(mine.games) if mine else 0,
            }

    def start(self, player: str, games: Sequence[str]) -> None:
        """Read the games that were not read yet; raises RefusedError."""
        read = self._read_games(player)
        fresh = [game for game in games if game not in read][:GAMES_AT_A_TIME]
        with self._lock:
            jobs = [*self._waiting, *([self._working] if self._working else [])]
            if any(job.player == player for job in jobs) or not fresh:
                return
            if len(self._waiting) >= MOST_WAITING:
                raise not_now("too many players are waiting; try again later", "busy")
            self._waiting.append(_Job(player, fresh))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="problems", daemon=True)
                self._thread.start()
            self._lock.notify()

    def close(self) -> None:
        """Stop after the position under way."""
        self._stop.set()
        with self._lock:
            self._waiting.clear()
            self._lock.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._waiting and not self._stop.is_set():
                    self._lock.wait()
                if self._stop.is_set():
                    return
                self._working, self._done = self._waiting.popleft(), 0
            try:
                self._make(self._working)
            except Exception as error:  # what one player's games hold must not end the thread
                say_sparingly(f"problems of a player's games: {type(error).__name__}: {error}")
            with self._lock:
                self._working = None

    def _make(self, job: _Job) -> None:
        maker = Maker(self._loader.engine, visits=VISITS)
        for game in job.games:
            try:
                found = self._problems_in(maker, GameKey(job.player, game))
            except Exception as error:  # it is not tried again, or no other game were read
                say_sparingly(f"problems of a game: {type(error).__name__}: {error}")
                found = []
            if self._stop.is_set():
                return  # the game is read when the server is there again
            self._keep(job.player, game, found)
            with self._lock:
                self._done += 1

    def _problems_in(self, maker: Maker, key: GameKey) -> list[Problem]:
        saved = self._game_store.load_game(key)
        if saved is None:
            return []
        try:
            positions = list(read_sgf(saved)[0].positions())
        except ValueError:
            return []
        if len(positions) < LEAST_MOVES:
            return []
        game = watched(maker.engine, key.game[:8], positions)  # named after the day
        return list(maker.problems_in(game, self._stop.is_set))

    # Files

    def _file(self, player: str) -> Path:
        return self._folder / f"{player}.jsonl"

    def _games_file(self, player: str) -> Path:
        return self._folder / f"{player}.json"

    def _read_games(self, player: str) -> set[str]:
        """The games that were read."""
        if not SESSION_ID.fullmatch(player):
            return set()
        with suppress(OSError, ValueError, TypeError):
            return {str(each) for each in json.loads(self._games_file(player).read_bytes())}
        return set()

    def _keep(self, player: str, game: str, found: Sequence[Problem]) -> None:
        """Add problems to a player's file, the oldest ones go; then note that the game was read."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._drop_players()
        if found:
            known = {each.id: each for each in [*reversed(self.problems(player)), *found]}
            lines = [problem_line(each) + "\n" for each in list(known.values())[-MOST_KEPT:]]
            replace_file(self._file(player), "".join(lines).encode())
        games = sorted(self._read_games(player) | {game})
        replace_file(self._games_file(player), json.dumps(games).encode())

    def _drop_players(self) -> None:
        """Remove the files of those who were away longest, if there are too many or too much."""
        files = [each for each in self._folder.iterdir() if _NAME.fullmatch(each.name)]
        states = {each: each.stat() for each in files}
        size = sum(state.st_size for state in states.values())
        if len(files) > 2 * MOST_PLAYERS or size > MOST_BYTES:
            oldest = sorted(files, key=lambda file: states[file].st_mtime)
            for each in oldest[: 1 + len(files) // 10]:
                each.unlink(missing_ok=True)


_NAME = re.compile(r"[0-9a-f]{32}\.jsonl?")
