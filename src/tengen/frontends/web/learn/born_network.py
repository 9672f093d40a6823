"""A network that learns 5x5 from nothing in a process of its own: watched, stopped, played.

Its whole state is in the run's folder, as with any run, so reloading the page or restarting the
server loses nothing. At most one is trained at a time.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tengen.closeable import Closeable
from tengen.engine.engine import Engine
from tengen.frontends.web.learn.boards_as_json import Json, board_view, position_after
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.runs.run_state import RunState, network_files
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.network.files.tengen_format import read_provenance
from tengen.pip_package import install_command
from tengen.runs.folder import RunError, RunFolder, RunLock, is_run
from tengen.search.request import Limits, SearchRequest

RECIPE, SIDE, RULES, KOMI = "5x5", 5, "tromp-taylor", 10.5
TRAIN = (sys.executable, "-m", "tengen", "train")
MINUTES = (1, 5, 20)  # whose networks are played against
EARLY = 0.97  # share of the minutes from which a network counts as theirs
VISITS = 16  # of a move against them
MOST_MOVES = 120
OPEN = 3  # networks that are kept open
NICENESS = 15
STOP_SECONDS = 20.0
LOG_BYTES = 2_000
# As tengen.jit says it: the first training on a computer compiles for minutes before it plays.
_COMPILING = re.compile(r"compiling kernels: (\d+) of (\d+), some (\d+) s left")


class BornNetwork(NamedTuple):
    """A network of the run that is kept."""

    minutes: float
    path: Path


class Births(Closeable):
    """The run in a folder. Thread-safe."""

    def __init__(self, folder: Path, *, allowed: bool, command: Sequence[str] = TRAIN) -> None:
        """`allowed`: may people at the page train? `command` does, given the run's folder."""
        self._folder, self._allowed, self._command = folder, allowed, command
        self._run = RunFolder(folder / "run")
        self._state = RunState(self._run)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._engines: OrderedDict[Path, Engine] = OrderedDict()
        self._minutes: dict[Path, float] = {}

    # Training

    def view(self) -> Json:
        """The state of training: what may be done, the curve so far, who can be played against."""
        with self._lock:
            self._state.refresh()
            content = self._state.state() if is_run(self._run.path) else None
            networks = self._networks()
            running = self._is_running()
            last = {} if content is None else content["last"]
            share = None if content is None else content["share"]
            ended = share is not None and share >= 1 and not running
            return {
                "may_train": self._why_not() is None,
                "why_not": self._why_not(),
                "install": install_command("train"),
                "state": "running" if running else "ended" if ended else self._resting(),
                "minutes": last.get("minutes", 0.0),
                "of": MINUTES[-1],
                "preparing": self._preparing() if running else None,
                "trouble": "" if running else self._trouble(),
                "run": content,
                "players": [
                    {"minute": minute, "ready": self._network_of(minute, networks) is not None}
                    for minute in MINUTES
                ],
            }

    def _resting(self) -> str:
        return "stopped" if is_run(self._run.path) else "none"

    def _why_not(self) -> str | None:
        """Why nobody can train here: the owner does not want it, or torch is missing."""
        if not self._allowed:
            return "owner"
        return None if importlib.util.find_spec("torch") is not None else "torch"

    def _trouble(self) -> str:
        """The last line of a training that ended with an error."""
        if self._process is None or self._process.poll() in (None, 0):
            return ""
        return self._last_said()[:300]

    def _preparing(self) -> Json | None:
        """How much of the kernels is compiled, and the minutes left; None if that is not known."""
        said = _COMPILING.search(self._last_said())
        if said is None:
            return None
        done, of, seconds = map(int, said.groups())
        return {"share": round(done / of, 3), "minutes": round(seconds / 60, 2)}

    def _last_said(self) -> str:
        """The last line that a training said."""
        with suppress(OSError):
            lines = self._log.read_bytes()[-LOG_BYTES:].decode(errors="replace").splitlines()
            return lines[-1] if lines else ""
        return ""

    @property
    def _log(self) -> Path:
        return self._folder / "log.txt"

    def _is_running(self) -> bool:
        """Is it being trained, by this server or by another process?"""
        if self._process is not None and self._process.poll() is None:
            return True
        if not is_run(self._run.path):
            return False
        try:
            RunLock(self._run.path).close()
        except RunError:
            return True
        return False

    def start(self) -> None:
        """Begin, or go on; raises RefusedError."""
        with self._lock:
            why = self._why_not()
            if why is not None:
                raise not_now("training is not possible on this server", f"born_{why}")
            if self._is_running():
                raise not_now("it is being trained already", "born_running")
            command = [*self._command, str(self._run.path)]
            if not is_run(self._run.path):
                command += ["--config", RECIPE]
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C of the server is told it by `close` alone
                )
            _give_way(self._process.pid)

    def stop(self) -> None:
        """End training; what was learned is saved. Raises RefusedError if others train."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                if self._is_running():
                    raise not_now("another server trains it", "born_elsewhere")
                return
            process = self._process
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def remove(self) -> None:
        """Remove the run and its networks; raises RefusedError while it is trained."""
        with self._lock:
            if self._is_running():
                raise not_now("stop the training first", "born_running")
            while self._engines:
                self._engines.popitem()[1].close()
            self._minutes.clear()
            shutil.rmtree(self._run.path, ignore_errors=True)
            self._process = None
            self._state = RunState(self._run)

    def close(self) -> None:
        """End training, and close networks."""
        with suppress(RefusedError):
            self.stop()
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].close()

    # Playing

    def _networks(self) -> list[BornNetwork]:
        """The networks that are kept, with the minutes after which they were."""
        found = []
        for path in network_files(self._run).values():
            if path not in self._minutes:
                with suppress(OSError, ValueError):
                    self._minutes[path] = float(read_provenance(path)["minutes"])
            if path in self._minutes:
                found.append(BornNetwork(self._minutes[path], path))
        return found

    def _network_of(self, minute: int, networks: Sequence[BornNetwork]) -> Path | None:
        """The first network after so many minutes."""
        later = (each for each in networks if each.minutes >= EARLY * minute)
        first = min(later, default=None)
        return None if first is None else first.path

    @contextmanager
    def _opened(self, minute: int) -> Iterator[Engine]:
        """The engine of a minute's network, held until it is done with; raises RefusedError."""
        with self._lock:
            path = self._network_of(minute, self._networks())
            if path is None:
                raise not_now("that network does not exist yet", "born_not_yet")
            engine = self._engines.pop(path, None) or Engine(
                str(path), cache_megabytes=1.0, tree_megabytes=64.0, first_game=_empty()
            )
            self._engines[path] = engine
            while len(self._engines) > OPEN:
                self._engines.popitem(last=False)[1].close()
            yield engine

    def played_view(self, minute: int, color: Color, moves: Sequence[str]) -> Json:
        """A game against a minute's network after the moves so far; raises RefusedError.

        The network's answer to the last one is added. The board is counted as it stands.
        """
        if minute not in MINUTES or len(moves) > MOST_MOVES:
            raise RefusedError("bad_terms", "there is no such game")
        position = position_after(_empty(), moves)
        before, replied = position, None
        winrate = None
        if position.to_play is not color and not position.is_over:
            with self._opened(minute) as engine:
                request = SearchRequest(position, Limits(visits=VISITS))
                result = engine.submit(request).result()
            winrate = round(result.black_winrate, 3)
            position = position.play(_sensible(position, result.move))
            assert position.last_move is not None
            replied = position.text(position.last_move)
        outcome = position.outcome()
        if outcome is None and len(moves) >= MOST_MOVES:
            outcome = position.score().outcome(Reason.MOVE_LIMIT)
        return {
            **board_view(position),
            "before": board_view(before),
            "reply": replied,
            "moves": [*moves, *([replied] if replied else [])],
            "over": outcome is not None,
            "winner": None if outcome is None or not outcome.winner else str(outcome.winner),
            "result": None if outcome is None else str(outcome),
            "winrate": winrate,
        }


def _empty() -> Position:
    return Position(SIDE, RULES, KOMI)


def _sensible(position: Position, move: Point | None) -> Point | None:
    """The move, unless it fills an own eye: then a pass, or the game would never end."""
    if move is not None and position.own_eyes()[move.y, move.x]:
        return None
    return move


def _give_way(process: int) -> None:
    """Let a process give way to all others; the threads that it starts inherit that."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process, NICENESS)
