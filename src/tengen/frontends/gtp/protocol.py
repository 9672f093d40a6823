"""GTP as text: lines in, replies out. Knows no Go.

Lines are read by a thread of their own, so that a command under way hears of the next one.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple, Protocol

from tengen.frontends.log import Log
from tengen.user_messages import say

# GoGui sends this comment to end a long command early.
INTERRUPT = "# interrupt"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COMMAND = re.compile(r"([0-9]*)\s*(\S*)\s*(.*)", re.DOTALL)


class GtpError(ValueError):
    """A command that cannot be obeyed; its message is the reply."""


class GtpRequest(NamedTuple):
    """One command."""

    id: str  # digits as they came, "" if there were none
    name: str
    arguments: tuple[str, ...]


def parse_line(line: str) -> GtpRequest | None:
    """The command in a line, None if it holds none."""
    text = _CONTROL.sub("", line.replace("\t", " ")).partition("#")[0].strip()
    if not text:
        return None
    match = _COMMAND.fullmatch(text)
    assert match is not None  # it matches any text
    return GtpRequest(match[1], match[2], tuple(match[3].split()))


def reply_text(request_id: str, body: str = "", *, ok: bool = True) -> str:
    """A whole reply. Blank lines would end it early and are left out."""
    if ok:
        body = "\n".join(line.rstrip() for line in body.splitlines() if line.strip())
    else:
        body = " ".join(body.split())
    head = f"{'=' if ok else '?'}{request_id}"
    return f"{head} {body}\n\n" if body else f"{head}\n\n"


def note(line: str) -> None:
    """Write to stderr, without ` -> `: Lizzie reads stderr, too, and takes that for a move."""
    for part in line.splitlines():
        say(part.replace(" -> ", " to "))


class Outlet:
    """The stream of replies, flushed at once; thread-safe."""

    def __init__(self, stream: BinaryIO, log: Log | None = None) -> None:
        self._stream = stream
        self._log = log or Log(None)
        self._lock = threading.Lock()
        self.closed = False

    def send(self, text: str) -> None:
        """Write; does nothing once the client is gone."""
        self._log.add("<", text)
        with self._lock:
            try:
                self._stream.write(text.encode())
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True


class Inbox:
    """The lines of a stream, read ahead."""

    def __init__(self, stream: BinaryIO, log: Log | None = None) -> None:
        """Start to read a stream to its end, and to close it there."""
        self._stream = stream
        self._log = log or Log(None)
        self._lines: deque[str] = deque()
        self._changed = threading.Condition()
        self._ended = False
        self._stop_at_input: list[Callable[[], None]] = []
        self._stop_at_interrupt: list[Callable[[], None]] = []
        threading.Thread(target=self._read, name="gtp-input", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._stream:
            while data := self._stream.readline():
                self._add(data.decode(errors="replace").rstrip("\r\n"))
        with self._changed:
            self._ended = True
            stops = list(self._stop_at_input)
            self._changed.notify_all()
        for stop in stops:
            stop()

    def _add(self, line: str) -> None:
        self._log.add(">", line)
        with self._changed:
            self._lines.append(line)
            stops = list(self._stop_at_input)
            if _interrupts(line):
                stops += self._stop_at_interrupt
            self._changed.notify_all()
        for stop in stops:
            stop()

    @property
    def waiting(self) -> bool:
        """Is there another line, or the end of input?"""
        with self._changed:
            return bool(self._lines) or self._ended

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for another line or the end of input; False after so many seconds without."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._lines) or self._ended, seconds)

    def next_line(self) -> str | None:
        """Wait for the next line; None at the end of input."""
        self.wait()
        with self._changed:
            return self._lines.popleft() if self._lines else None

    @contextmanager
    def calling(self, stop: Callable[[], None], *, at_any_input: bool) -> Iterator[None]:
        """Call `stop` at the next input, or only at an interrupt; at once if it is there."""
        stops = self._stop_at_input if at_any_input else self._stop_at_interrupt
        with self._changed:
            stops.append(stop)
            if at_any_input:
                now = bool(self._lines) or self._ended
            else:
                now = any(_interrupts(line) for line in self._lines)
        if now:
            stop()
        try:
            yield
        finally:
            with self._changed:
                stops.remove(stop)


def _interrupts(line: str) -> bool:
    return line.strip().lower() == INTERRUPT


class Reply:
    """The answer to one command: all at once, or begun and added to line by line."""

    def __init__(self, request_id: str, outlet: Outlet) -> None:
        self._id, self._outlet = request_id, outlet
        self.begun = False

    def begin(self) -> None:
        """Send the head of a successful reply; lines follow."""
        self.begun = True
        self._outlet.send(f"={self._id}\n")

    def line(self, text: str) -> None:
        """Add a line to an answer that was begun."""
        self._outlet.send(f"{text}\n")

    def finish(self, body: str | None) -> None:
        """Send the whole reply, or the end of one that was begun."""
        if self.begun:
            self._outlet.send(f"{body}\n\n" if body else "\n")
        else:
            self._outlet.send(reply_text(self._id, body or ""))

    def fail(self, message: str) -> None:
        """Send an error; to stderr if the reply was begun as a successful one."""
        if self.begun:
            note(message)
            self._outlet.send("\n")
        else:
            self._outlet.send(reply_text(self._id, message, ok=False))


class Commands(Protocol):
    """The commands of a session."""

    def call(self, request: GtpRequest, reply: Reply) -> str | None:
        """Run a command; returns the body of the reply or its last line. Raises ValueError."""


def serve(inbox: Inbox, outlet: Outlet, commands: Commands, log: Log | None = None) -> None:
    """Answer until `quit`, the end of input, or the client is gone."""
    while not outlet.closed and (line := inbox.next_line()) is not None:
        request = parse_line(line)
        if request is None:
            continue
        reply = Reply(request.id, outlet)
        try:
            reply.finish(commands.call(request, reply))
        except ValueError as error:
            reply.fail(str(error) or "failed")
        except Exception as error:  # a bug in one command must not end the session
            _log_traceback(log)
            reply.fail(f"internal error: {type(error).__name__}: {error}")
        if request.name == "quit":
            return


def _log_traceback(log: Log | None) -> None:
    import traceback

    if log is not None:
        log.add("!", traceback.format_exc())
