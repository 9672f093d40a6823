"""A client of a GTP session in this process, that sends bytes and reads lines."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import BinaryIO, cast

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp.protocol import Inbox, Outlet, serve
from tengen.frontends.gtp.run import all_commands
from tengen.frontends.gtp.session import GtpSession
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tengen.search.params import SearchParams
from tests.frontends.gtp.opponents import surveyor

PATIENCE = 60.0  # seconds to wait for a line: far beyond what any takes
SMALL = GtpOptions(seed=0, board_size=5, visits=16, komi=0.5)


@cache
def engine_by(script: Callable[[Batch], Evaluation]) -> Engine:
    """One engine for all sessions with this evaluator."""
    return Engine(FakeEvaluator(script), params=SearchParams(megabytes=8))


class Lines:
    """A stream of lines between two threads."""

    def __init__(self) -> None:
        self.written = b""
        self._read = 0
        self._changed = threading.Condition()

    def write(self, data: bytes) -> int:
        with self._changed:
            self.written += data
            self._changed.notify_all()
        return len(data)

    def flush(self) -> None:
        pass

    def next_line(self) -> str:
        """The next whole line without its end; fails if none comes."""
        with self._changed:
            if not self._changed.wait_for(lambda: b"\n" in self.written[self._read :], PATIENCE):
                raise AssertionError(f"no line came after {self.written[-300:]!r}")
            end = self.written.index(b"\n", self._read)
            line = self.written[self._read : end]
            self._read = end + 1
        return line.decode()

    def forget(self) -> None:
        """Drop what was read."""
        with self._changed:
            self.written = self.written[self._read :]
            self._read = 0

    @property
    def unread(self) -> bytes:
        return self.written[self._read :]


class Client:
    """The other end of a session."""

    def __init__(self, loader: EngineLoader, options: GtpOptions) -> None:
        reading, self._writing = os.pipe()
        self.lines = Lines()
        inbox = Inbox(os.fdopen(reading, "rb"))
        self.session = GtpSession(options, loader, inbox)
        outlet = Outlet(cast("BinaryIO", self.lines))
        commands = all_commands(self.session)
        self.thread = threading.Thread(
            target=serve, args=[inbox, outlet, commands.call], daemon=True
        )
        self.thread.start()

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        os.write(self._writing, data)

    def reply(self) -> str:
        """The next reply, its last line included, without the empty line that ends it."""
        lines = []
        while line := self.lines.next_line():
            lines.append(line)
        return "\n".join(lines)

    def ask(self, command: str) -> str:
        """The whole reply to a command."""
        self.send(f"{command}\n".encode())
        return self.reply()

    def body(self, command: str) -> str:
        """The body of the reply to a command that must succeed."""
        reply = self.ask(command)
        assert reply.startswith("="), f"{command}: {reply}"
        return reply[1:].removeprefix(" ")

    def error(self, command: str) -> str:
        """The message of the reply to a command that must fail."""
        reply = self.ask(command)
        assert reply.startswith("? "), f"{command}: {reply}"
        assert "\n" not in reply
        return reply[2:]

    def close(self) -> None:
        """End the input and wait for the session."""
        os.close(self._writing)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        self.session.rest()


NO_NETWORK = "the network cannot be used: there is none"


def _fail() -> Engine:
    raise ValueError("there is none")


@contextmanager
def session(
    script: Callable[[Batch], Evaluation] | None = surveyor, options: GtpOptions = SMALL
) -> Iterator[Client]:
    """A session whose engine evaluates by a script; by None it has no network."""
    loader = EngineLoader(_fail if script is None else lambda: engine_by(script))
    while not loader.future.done():
        time.sleep(0.001)
    client = Client(loader, options)
    try:
        yield client
    finally:
        client.close()
    assert_protocol(client.lines.written)


_REPLY = re.compile(rb"[=?][0-9]*(?: [^\n]+)?\n(?:[^\n=?][^\n]*\n)*\n")


def assert_protocol(stdout: bytes) -> None:
    """All of this is replies: a first line, further lines, and one empty line."""
    at = 0
    while at < len(stdout):
        match = _REPLY.match(stdout, at)
        assert match, f"no reply: {stdout[at : at + 200]!r}"
        at = match.end()
