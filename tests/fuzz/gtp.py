"""GTP: every command of any session is answered, in order, and none by an internal error."""

from __future__ import annotations

import io
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp.protocol import GtpRequest, Inbox, Outlet, Reply, parse_line, serve
from tengen.frontends.gtp.run import all_commands
from tengen.frontends.gtp.session import GtpSession
from tests.frontends.gtp.client import assert_protocol, engine_by
from tests.frontends.gtp.opponents import surveyor
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes

OPTIONS = GtpOptions(seed=0, board_size=5, visits=3, komi=0.5)
LINES = 25  # of a session at most
_ARGUMENTS = [
    *("b", "w", "black", "white", "C3", "A1", "E5", "pass", "resign", "T19", "5", "9", "19", "3"),
    *("0", "1", "-1", "7.5", "1e9", "nan", "true", "false", "japanese", "chinese", "alive", "dead"),
    *(
        "all",
        "B",
        "interval",
        "1",
        "ownership",
        "maxmoves",
        "allow",
        "avoid",
        "rootInfo",
        "pvVisits",
    ),
    *('{"ko":"SIMPLE"}', "maxVisits", "maxTime", "rules", "x.sgf", "-", "canadian", "byoyomi", "#"),
]


class GtpFuzzer(Fuzzer):
    name = "gtp"

    def __init__(self) -> None:
        self._loader = EngineLoader(lambda: engine_by(surveyor))
        self._loader.wait()
        self._folder = tempfile.TemporaryDirectory()
        self._back = Path.cwd()
        os.chdir(self._folder.name)  # sessions write files
        session = self._session(Inbox(io.BytesIO()))
        self._names = [name for name in all_commands(session).names if name != "quit"]

    def _session(self, inbox: Inbox) -> GtpSession:
        return GtpSession(OPTIONS, self._loader, inbox)

    def make(self, rng: Random) -> bytes:
        """A session of commands with arguments that may suit them, some of them damaged."""
        lines = []
        for number in range(rng.randrange(1, LINES)):
            name = rng.choice(self._names)
            arguments = rng.choices(_ARGUMENTS, k=rng.choice((0, 1, 1, 2, 2, 3, 6)))
            if rng.random() < 0.3:
                name, arguments = (
                    "play",
                    [rng.choice("bw"), f"{rng.choice('ABCDE')}{rng.randint(1, 5)}"],
                )
            line = " ".join([*([str(number)] * (rng.random() < 0.5)), name, *arguments]).encode()
            lines.append(changed_bytes(rng, line, 2) if rng.random() < 0.2 else line)
        return b"\n".join(lines)

    def feed(self, data: bytes) -> int:
        # Nothing outside the folder is read or written.
        data = data.replace(b"/", b"_").replace(b"..", b"__")
        inbox, out = Inbox(io.BytesIO(data)), io.BytesIO()
        session = self._session(inbox)
        table = all_commands(session)
        asked: list[str] = []

        def call(request: GtpRequest, reply: Reply) -> str | None:
            asked.append(request.id)
            # Parameters may ask for hours; what is tried here is whether they are understood.
            session.settings = replace(
                session.settings, visits=3, playouts=None, seconds=0.5, ponder=False
            )
            return table.call(request, reply)

        serve(inbox, Outlet(out), call)
        session.rest()
        written = out.getvalue()
        assert_protocol(written)
        replies = re.findall(rb"^[=?]([0-9]*)", written, re.MULTILINE)
        assert [reply.decode() for reply in replies] == asked
        assert b"internal error" not in written, written
        return sum(
            parse_line(line) is not None for line in data.decode(errors="replace").split("\n")
        )

    def close(self) -> None:
        os.chdir(self._back)
        self._folder.cleanup()
