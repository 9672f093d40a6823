"""The options of an engine: which network, where it runs, and how long it thinks.

They are the section [engine] of settings files, and options of each command that uses an engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen.config import option
from tengen.network.backends.registry import AUTO, NAMES
from tengen.network.files.bundled import BUNDLED

MODEL = "a network file; bundled: the one that comes with Tengen"

DEVICE = f"where networks run: {', '.join(NAMES)}"


@dataclass(frozen=True)
class NetworkOptions:
    """Which network, and where it runs."""

    model: str = option(BUNDLED, MODEL)
    device: str = option(AUTO, DEVICE)


@dataclass(frozen=True)
class EngineOptions(NetworkOptions):
    """A network, and the limits of a search; raises ValueError for values out of range."""

    visits: int = option(0, "for each move; 0: no limit, or 400 without --seconds", low=0)
    seconds: float = option(0.0, "for each move; 0: no limit", low=0)
    leaves: int = option(0, "leaves in one batch of the network; 0: what suits the device", low=0)

    def __post_init__(self) -> None:
        for name in ("visits", "seconds", "leaves"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
