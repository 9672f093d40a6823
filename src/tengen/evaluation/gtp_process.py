"""Another program as an opponent: a GTP engine in a process of its own."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import threading
from queue import Empty, SimpleQueue

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position

START_SECONDS, MOVE_SECONDS = 60.0, 600.0
RESIGN = "resign"


class EngineError(ValueError):
    """What another program did wrong, for people."""


class GtpOpponent:
    """A GTP engine, asked one command at a time; raises EngineError for what goes wrong."""

    def __init__(self, command: str, patience: float = MOVE_SECONDS) -> None:
        """Start the program; a reply may take `patience` seconds."""
        self.command = command
        self._patience = patience
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
            )
        except (OSError, ValueError) as error:
            raise EngineError(f"{command!r} does not start: {error}") from None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.name = self.ask("name", START_SECONDS)
        except EngineError:
            self.close()
            raise
        # Others are told the rules on their command line, each in its own way.
        self._takes_rules = self._knows("kata-set-rules")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, command: str, patience: float | None = None) -> str:
        """The reply to a command, without its `=`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except OSError:
            raise EngineError(f"{self.command!r} has ended, before {command!r}") from None
        lines: list[str] = []
        while not (lines and not lines[-1].strip()):
            try:
                line = self._lines.get(timeout=self._patience if patience is None else patience)
            except Empty:
                raise EngineError(f"{self.command!r} does not answer {command!r}") from None
            if line is None:
                raise EngineError(f"{self.command!r} has ended, after {command!r}")
            if lines or line.startswith(("=", "?")):
                lines.append(line)
        reply = "".join(lines)
        text = reply[1:].lstrip("0123456789").strip()
        if reply.startswith("?"):
            raise EngineError(f"{self.command!r} answers {command!r} with: {text}")
        return text

    def _knows(self, command: str) -> bool:
        try:
            return self.ask(f"known_command {command}") == "true"
        except EngineError:  # not all programs know this one
            return False

    def start(self, position: Position) -> None:
        """Set up board, rules and moves of a position that began empty or with a handicap."""
        size = position.size
        if size.width == size.height:
            self.ask(f"boardsize {size.width}")
        else:
            self.ask(f"rectangular_boardsize {size.width} {size.height}")
        self.ask("clear_board")
        if self._takes_rules:
            rules = json.dumps(position.rules.as_json(), separators=(",", ":"))
            self.ask(f"kata-set-rules {rules}")
        self.ask(f"komi {position.komi:g}")
        for color, point in position.moves:
            self.play(color, point, position)

    def play(self, color: Color, point: Point | None, position: Position) -> None:
        """Tell it a move."""
        self.ask(f"play {color} {position.text(point)}")

    def genmove(self, color: Color) -> str:
        """Its move as text, or `resign`."""
        return self.ask(f"genmove {color}").lower()

    def close(self) -> None:
        """End the program, kindly and then not."""
        with contextlib.suppress(EngineError, ValueError):
            self.ask("quit", 2.0)
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._reader.join(timeout=2)
