"""What `tengen analysis` can be told when it starts."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.network.files.bundled import BUNDLED


@dataclass(frozen=True)
class AnalysisOptions:
    """Options of the analysis engine; raises ValueError for what cannot be."""

    model: str = BUNDLED  # a network file, or its name
    device: str = "auto"
    visits: int = 500  # of a position, where a query does not say
    searches: int | None = None  # positions at a time; None: as many as suit the device
    megabytes: float = 2048.0  # for all search trees together
    cache_megabytes: float = 256.0  # for evaluations that queries share; 0: none are kept
    perspective: str = "BLACK"  # whose winrates and points: BLACK, WHITE or SIDETOMOVE
    quit_without_waiting: bool = False  # at the end of input, drop what is not answered yet
    listen: str | None = None  # HOST:PORT or PORT: serve a WebSocket, not stdin and stdout
    token: str | None = None  # what WebSocket clients must know; needed beyond this machine
    log: str | None = None  # a file for all queries and answers

    def __post_init__(self) -> None:
        if self.visits < 1:
            raise ValueError(f"visits must be at least 1, not {self.visits}")
        if self.searches is not None and not 1 <= self.searches <= 1024:
            raise ValueError(f"searches at a time run from 1 to 1024, not {self.searches}")
        if not self.megabytes > 0 or not self.cache_megabytes >= 0:
            raise ValueError("megabytes must be over 0, those of the cache 0 or more")
        if self.perspective not in ("BLACK", "WHITE", "SIDETOMOVE"):
            raise ValueError(f"{self.perspective!r} is none of BLACK, WHITE, SIDETOMOVE")
