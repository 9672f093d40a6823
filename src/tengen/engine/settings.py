"""The options of an engine: which network, where it runs, and how long it thinks.

They are the section [engine] of settings files, and options of each command that uses an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from tengen.config import option
from tengen.network.backends.registry import AUTO, DEVICES, PRECISIONS
from tengen.network.files.bundled import BUNDLED

MODEL = "network file or name; bundled: the networks that come with Tengen"

PRECISION = f"numbers that networks compute with: {', '.join(PRECISIONS)}"
DEVICE = f"where networks run: {', '.join(DEVICES)}"


class NetworkPlacement(TypedDict):
    """Keyword arguments of whatever opens a network."""

    device: str
    precision: str


@dataclass(frozen=True)
class NetworkOptions:
    """Which network, where it runs, and how exactly."""

    model: str = option(BUNDLED, MODEL)
    device: str = option(AUTO, DEVICE)
    precision: str = option(AUTO, PRECISION)

    @property
    def placement(self) -> NetworkPlacement:
        """Where and how exactly the network runs."""
        return {"device": self.device, "precision": self.precision}


@dataclass(frozen=True)
class PlayerOptions(NetworkOptions):
    """A network to play with or to analyse with, and one that imitates people."""

    human_model: str | None = option(
        None, "a second network, which imitates people", metavar="FILE"
    )


@dataclass(frozen=True)
class EngineOptions(PlayerOptions):
    """A network, and the limits of a search; raises ValueError for values out of range."""

    visits: int | None = option(None, "for each move; 400 unless seconds are set", low=1)
    seconds: float | None = option(None, "for each move, as the clock allows", low=0.001)
    leaves: int | None = option(
        None, "leaves in one batch of the network; by default what suits the device", low=1
    )

    def __post_init__(self) -> None:
        for name in ("visits", "seconds", "leaves"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be over 0, not {value!r}")
