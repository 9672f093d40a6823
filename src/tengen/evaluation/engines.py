"""Engines as people name them: a network and its limits, or another program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tengen.search.params import Limits

GTP = "gtp:"


@dataclass(frozen=True)
class EngineSpec:
    """An engine as the command line names it: a network and its limits, or a GTP command."""

    text: str
    model: str = ""
    limits: Limits = field(default_factory=Limits)
    command: str = ""

    @property
    def name(self) -> str:
        """For tables and records."""
        if self.command:
            return self.command
        return f"{Path(self.model).name}@{self.text.rpartition('@')[2]}"


def parse_engine(text: str) -> EngineSpec:
    """Read MODEL@VISITS, MODEL@SECONDSs or gtp:COMMAND; raises ValueError."""
    if text.startswith(GTP) and text[len(GTP) :].strip():
        return EngineSpec(text, command=text[len(GTP) :].strip())
    match = re.fullmatch(r"(?P<model>.+)@(?:(?P<visits>\d+)|(?P<seconds>\d*\.?\d+)s)", text)
    if not match:
        raise ValueError(
            f"{text!r} is no engine: write MODEL@VISITS such as net.bin.gz@64, MODEL@SECONDSs such "
            "as net.bin.gz@0.5s, or gtp:COMMAND"
        )
    if match["visits"]:
        return EngineSpec(text, match["model"], Limits(visits=int(match["visits"])))
    return EngineSpec(text, match["model"], Limits(seconds=float(match["seconds"])))
