"""Commands about the engine itself: name, version, commands. None waits for the network."""

from __future__ import annotations

import time

import tengen
from tengen.frontends.gtp.dispatch import CommandTable, command
from tengen.frontends.gtp.session import GtpSession

# The version of KataGo whose commands these are. Lizzie asks for x.N with N of 15 or more.
SPOKEN_VERSION = "1.17"


class IdentityCommands:
    """The engine itself."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session
        self.table: CommandTable | None = None  # of all commands, these included

    @command()
    def protocol_version(self) -> str:
        return "2"

    @command()
    def name(self) -> str:
        return self._session.options.name

    @command()
    def version(self) -> str:
        return f"{SPOKEN_VERSION} (Tengen {tengen.__version__})"

    @command()
    def known_command(self, name: str) -> str:
        return "true" if name in self._names() else "false"

    @command()
    def list_commands(self) -> str:
        return "\n".join(self._names())

    @command()
    def quit(self) -> None:
        self._session.rest()

    @command("cputime", "gomill-cpu_time")
    def cpu_time(self) -> str:
        return f"{time.process_time():.3f}"

    @command("gogui-interrupt")
    def gogui_interrupt(self) -> None:
        """GoGui asks whether `# interrupt` is understood, by this name."""

    @command()
    def stop(self) -> None:
        self._session.rest()

    def _names(self) -> list[str]:
        return self.table.names if self.table is not None else []
