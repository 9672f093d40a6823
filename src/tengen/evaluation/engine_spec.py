"""Engines as the command line names them: a network and its limits, a level, or a program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tengen.engine.levels import Level, level_named
from tengen.network.files.bundled import BUNDLED
from tengen.search.request import Limits

GTP = "gtp:"
LEVEL = "level:"


@dataclass(frozen=True)
class EngineSpec:
    """A network with limits, a level of the bundled network, or the command of a GTP engine."""

    text: str
    model: str = ""
    limits: Limits = field(default_factory=Limits)
    command: str = ""
    level: Level | None = None

    @property
    def name(self) -> str:
        """The name in tables and game records."""
        if self.command:
            return self.command
        if self.level:
            return f"{LEVEL}{self.level.id}"
        return f"{Path(self.model).name}@{self.text.rpartition('@')[2]}"


def parse_engine(text: str) -> EngineSpec:
    """Parse MODEL@VISITS, MODEL@SECONDSs, level:NAME or gtp:COMMAND; raises ValueError."""
    if text.startswith(LEVEL):
        return EngineSpec(text, BUNDLED, level=level_named(text[len(LEVEL) :]))
    if text.startswith(GTP) and text[len(GTP) :].strip():
        return EngineSpec(text, command=text[len(GTP) :].strip())
    match = re.fullmatch(r"(?P<model>.+)@(?:(?P<visits>\d+)|(?P<seconds>\d*\.?\d+)s)", text)
    if not match:
        raise ValueError(
            f"{text!r} is no engine: write MODEL@VISITS such as bundled@64, MODEL@SECONDSs such "
            "as net.bin.gz@0.5s, level:NAME such as level:beginner, or gtp:COMMAND"
        )
    if match["visits"]:
        return EngineSpec(text, match["model"], Limits(visits=int(match["visits"])))
    return EngineSpec(text, match["model"], Limits(seconds=float(match["seconds"])))
