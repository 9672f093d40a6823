"""GTP as text: lines in, commands with typed arguments, replies out.

A thread of its own reads lines, so that the next command can interrupt the one under way.
"""

from __future__ import annotations

import inspect
import math
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeVar

from tengen.frontends.protocol_stdio import Log
from tengen.game.color import Color, parse_color
from tengen.user_messages import printable, say

# GoGui sends this comment to end a long command early.
INTERRUPT = "# interrupt"
LONGEST_LINE = 1 << 20  # bytes; of a longer line only the first ones are kept
CUT = 200
# So much is read ahead; the rest waits with the client.
LINES_AHEAD, BYTES_AHEAD = 10_000, 8 << 20

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COMMAND = re.compile(r"([0-9]*)\s*(\S*)\s*(.*)", re.DOTALL)
_VERTEX = re.compile(r"[A-HJ-Z][0-9]{1,3}|PASS|RESIGN")
_SWITCHES = dict.fromkeys(("true", "1", "on", "yes"), True)
_SWITCHES |= dict.fromkeys(("false", "0", "off", "no"), False)

Handler = TypeVar("Handler", bound=Callable[..., "str | None"])


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
        """Write; does nothing once the client is gone.

        The client may be a person at a terminal: names from files are made printable.
        """
        text = printable(text, keep="\n\t")
        self._log.add("<", text)
        with self._lock:
            try:
                self._stream.write(text.encode())
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True


class InputLine(NamedTuple):
    """A line as it came, or the beginning of one that is too long."""

    text: str
    is_whole: bool = True


class Inbox:
    """The lines of a stream, some of them read ahead. Lines that are too long are cut."""

    def __init__(self, stream: BinaryIO, log: Log | None = None) -> None:
        """Start to read a stream to its end, and to close it there."""
        self._stream = stream
        self._log = log or Log(None)
        self._lines: deque[InputLine] = deque()
        self._bytes = 0  # of these lines
        self._interrupts = 0  # among these lines
        self._changed = threading.Condition()
        self._ended = False
        self._stop_at_input: list[Callable[[], None]] = []
        self._stop_at_interrupt: list[Callable[[], None]] = []
        threading.Thread(target=self._read, name="gtp-input", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._stream:
            while data := self._stream.readline(LONGEST_LINE + 1):
                is_whole = len(data) <= LONGEST_LINE
                rest = b"" if is_whole else data
                while rest and not rest.endswith(b"\n"):
                    rest = self._stream.readline(LONGEST_LINE)
                text = (data if is_whole else data[:CUT]).decode(errors="replace").rstrip("\r\n")
                self._log.add(">", text)
                self._notify(InputLine(text, is_whole))
                self._wait_for_room()
        self._notify(None)

    def _notify(self, line: InputLine | None) -> None:
        """Add a line, or None for the end of input, and stop what it ends."""
        with self._changed:
            stops = list(self._stop_at_input)
            if line is None:
                self._ended = True
            else:
                self._lines.append(line)
                self._bytes += len(line.text)
                if _interrupts(line.text):
                    self._interrupts += 1
                    stops += self._stop_at_interrupt
            self._changed.notify_all()
        for stop in stops:
            stop()

    def _wait_for_room(self) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._lines) < LINES_AHEAD and self._bytes < BYTES_AHEAD
            )

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for another line or the end of input; False after so many seconds without."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._lines) or self._ended, seconds)

    def next_line(self) -> InputLine | None:
        """Wait for the next line; None at the end of input."""
        self.wait()
        with self._changed:
            if not self._lines:
                return None
            line = self._lines.popleft()
            self._bytes -= len(line.text)
            self._interrupts -= _interrupts(line.text)
            self._changed.notify_all()
            return line

    @contextmanager
    def calling(self, stop: Callable[[], None], *, at_any_input: bool) -> Iterator[None]:
        """Call `stop` at the next input, or only at an interrupt; at once if it is there."""
        stops = self._stop_at_input if at_any_input else self._stop_at_interrupt
        with self._changed:
            stops.append(stop)
            if at_any_input:
                now = bool(self._lines) or self._ended
            else:
                now = self._interrupts > 0
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


class Vertex(str):
    """A move as GTP writes it: D4, pass or resign, in upper case. It may be off the board."""

    __slots__ = ()


def command(*names: str, **fixed: Any) -> Callable[[Handler], Handler]:
    """Register a method as the handler of a command, by its own name or by others.

    Its arguments are parsed as their annotations say. One annotated `Reply` is not an argument
    of the command: it is where lines can be added to an answer. Keyword arguments are `fixed`
    here, so that one method handles a family of commands.
    """

    def mark(function: Handler) -> Handler:
        known = function.__dict__.get("gtp_names", {})
        function.__dict__["gtp_names"] = dict.fromkeys(names or [function.__name__], fixed) | known
        return function

    return mark


class CommandTable:
    """The commands of several objects."""

    def __init__(self, *groups: object) -> None:
        self._handlers: dict[str, Callable[..., str | None]] = {
            name: partial(getattr(group, method.__name__), **fixed)
            for group in groups
            for method in vars(type(group)).values()
            for name, fixed in getattr(method, "gtp_names", {}).items()
        }

    @property
    def names(self) -> list[str]:
        """All commands, in the order of their definition."""
        return list(self._handlers)

    def call(self, request: GtpRequest, reply: Reply) -> str | None:
        """Run a command; returns the body of the reply or its last line. Raises ValueError."""
        name = request.name
        handler = self._handlers.get(name) or self._handlers.get(name.lower())
        if handler is None:
            raise GtpError("unknown command" if name else "empty command")
        return handler(*_arguments(handler, request, reply))


def _arguments(
    handler: Callable[..., str | None], request: GtpRequest, reply: Reply
) -> Iterator[Any]:
    """The arguments of a handler; raises GtpError."""
    signature = inspect.signature(handler, eval_str=True)
    parameters = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    words = [_usage(parameter) for parameter in parameters if parameter.annotation is not Reply]
    usage = " ".join(["write", request.name, *words])
    left = deque(request.arguments)
    for parameter in parameters:
        many = parameter.kind is parameter.VAR_POSITIONAL
        if parameter.annotation is Reply:
            yield reply
        elif left or many:
            try:
                for _ in range(len(left) if many else 1):
                    yield _PARSERS[parameter.annotation](left.popleft())
            except ValueError as error:
                raise GtpError(f"syntax error: {error}; {usage}") from None
        elif parameter.default is parameter.empty:
            raise GtpError(f"syntax error: {usage}")
        else:
            yield parameter.default
    if left:
        raise GtpError(f"syntax error: {usage}")


def _usage(parameter: inspect.Parameter) -> str:
    """How an argument is written, such as VERTEX or [HEIGHT]."""
    word = parameter.name.strip("_").upper()
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"[{word} ...]"
    return word if parameter.default is parameter.empty else f"[{word}]"


def parse_int(text: str) -> int:
    """A whole number; raises ValueError."""
    if not re.fullmatch(r"[-+]?[0-9]{1,12}", text):
        raise ValueError(f"not a whole number: {text[:40]!r}")
    return int(text)


def parse_float(text: str) -> float:
    """A finite number; raises ValueError."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"not a number: {text[:40]!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {text[:40]!r}")
    return value


def parse_bool(text: str) -> bool:
    """True or false, as programs write them; raises ValueError."""
    if text.lower() not in _SWITCHES:
        raise ValueError(f"neither true nor false: {text[:40]!r}")
    return _SWITCHES[text.lower()]


def parse_vertex(text: str) -> Vertex:
    """A move; raises ValueError."""
    if not _VERTEX.fullmatch(text.upper()):
        raise ValueError(f"not a vertex: {text[:40]!r} (D4 or pass)")
    return Vertex(text.upper())


_PARSERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    str | None: str,
    int: parse_int,
    int | None: parse_int,
    float: parse_float,
    bool: parse_bool,
    Color: parse_color,
    Vertex: parse_vertex,
}


def serve(
    inbox: Inbox,
    outlet: Outlet,
    call: Callable[[GtpRequest, Reply], str | None],
    log: Log | None = None,
) -> None:
    """Answer until `quit`, the end of input, or the client is gone; `call` raises ValueError."""
    while not outlet.closed and (line := inbox.next_line()) is not None:
        request = parse_line(line.text)
        if request is None:
            continue
        reply = Reply(request.id, outlet)
        try:
            if not line.is_whole:
                raise GtpError(f"a line has at most {LONGEST_LINE >> 20} MiB")
            reply.finish(call(request, reply))
        except ValueError as error:
            reply.fail(str(error) or "failed")
        except Exception as error:  # a bug in one command must not end the session
            if log is not None:
                import traceback

                log.add("!", traceback.format_exc())
            reply.fail(f"internal error: {type(error).__name__}: {error}")
        if request.name == "quit":
            return
