"""The options of `tengen analysis`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tengen.config import option
from tengen.engine.settings import NetworkOptions
from tengen.frontends.options import CONFIG, LOG


@dataclass(frozen=True)
class AnalysisOptions(NetworkOptions):
    """Options of the analysis engine; raises ValueError for values out of range."""

    visits: int = option(500, "for each position, where a query does not say", low=1)
    searches: int | None = option(
        None, "positions of a client to search at a time; else what suits the device", low=1
    )
    megabytes: float = 2048.0  # for all search trees together
    cache_megabytes: float = 256.0  # for evaluations that queries share; 0: none are kept
    perspective: str = option("BLACK", "whose win rates: BLACK, WHITE or SIDETOMOVE")
    listen: str | None = option(None, "serve a WebSocket in place of stdin", metavar="HOST:PORT")
    token: str | None = option(None, "secret of WebSocket clients; needed beyond loopback")
    quit_without_waiting: bool = option(
        False, "drop open queries at the end of input", flag="--quit-without-waiting"
    )
    config: str | None = option(None, CONFIG, metavar="FILE", in_file=False)
    log: str | None = option(None, LOG, metavar="FILE")
    # Fields of SearchParams that differ from those of analysis: the section [search] of a file.
    search: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})

    def __post_init__(self) -> None:
        if self.visits < 1:
            raise ValueError(f"visits must be at least 1, not {self.visits}")
        if self.searches is not None and not 1 <= self.searches <= 1024:
            raise ValueError(f"searches at a time run from 1 to 1024, not {self.searches}")
        if not self.megabytes > 0 or not self.cache_megabytes >= 0:
            raise ValueError("megabytes must be over 0, those of the cache 0 or more")
        if self.perspective not in ("BLACK", "WHITE", "SIDETOMOVE"):
            raise ValueError(f"{self.perspective!r} is none of BLACK, WHITE, SIDETOMOVE")
