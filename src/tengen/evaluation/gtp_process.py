"""Another program as an opponent: a GTP engine in a subprocess."""

from __future__ import annotations

import contextlib
import json
import os
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
    """A failure of the other program; the message is for the user."""


class GtpOpponent:
    """A GTP engine in a subprocess; sends one command at a time. Raises EngineError."""

    def __init__(self, command: str, patience: float = MOVE_SECONDS) -> None:
        """Start the program; replies may take up to `patience` seconds."""
        self.command = command
        self._patience = patience
        self._asked: Position | None = None  # the position of the last move
        try:
            self._process = subprocess.Popen(
                command if os.name == "nt" else shlex.split(command),  # backslashes are paths there
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                start_new_session=True,  # or Ctrl-C would end it, too, and lose its game
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            remedy = "name a program by its full path, with its arguments"
            raise EngineError(f"{command!r} does not start: {why}; {remedy}") from None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.name = self.ask("name", START_SECONDS)
        except EngineError:
            self.close()
            raise
        # Other programs need options on their own command line to set the rules.
        self._takes_rules = self._knows("kata-set-rules")

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, command: str, patience: float | None = None) -> str:
        """Send a command and return the reply without its `=`."""
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
            raise EngineError(f"{self.command!r} replied to {command!r} with an error: {text}")
        return text

    def _knows(self, command: str) -> bool:
        try:
            return self.ask(f"known_command {command}") == "true"
        except EngineError:  # some programs do not implement known_command
            return False

    def start(self, position: Position) -> None:
        """Set up the board, the rules and the moves of a game that started on an empty board."""
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
        """Send a move."""
        self.ask(f"play {color} {position.text(point)}")

    def move(self, position: Position) -> str | None:
        """Ask for a move: text, None for a pass, or RESIGN.

        The program is told the opponent's last move, or the game so far if it is another one.
        """
        before = position.previous
        if self._asked is not None and before is not None and before.previous is self._asked:
            assert position.last_move is not None
            self.play(*position.last_move, position)
        else:
            self.start(position)
        self._asked = position
        text = self.ask(f"genmove {position.to_play}").lower()
        return None if text == "pass" else text

    def close(self) -> None:
        """Ask the program to quit, then kill it."""
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
