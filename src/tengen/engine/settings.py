"""The settings of an engine in a file: which network, where, and how it searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tengen.config import load_sections, write_sections
from tengen.network.files.bundled import BUNDLED
from tengen.search.params import SearchParams


@dataclass(frozen=True)
class EngineConfig:
    """Which network, where, and how long it thinks."""

    model: str = BUNDLED  # a network file; bundled: the one that comes with Tengen
    device: str = "auto"  # auto, or one of those that `tengen doctor` lists
    visits: int = 400  # for each move
    seconds: float = 0.0  # for each move; 0: only the visits count
    leaves: int = 0  # positions that the network gets at a time; 0: what suits the device


@dataclass(frozen=True)
class Config:
    """All settings, by the sections of the file."""

    engine: EngineConfig = field(default_factory=EngineConfig)
    search: SearchParams = field(default_factory=SearchParams)


def load_config(path: str | Path) -> Config:
    """The settings in a file; raises ValueError that names the section and the key."""
    return Config(**load_sections(path, {"engine": EngineConfig, "search": SearchParams}))


def write_config(config: Config) -> str:
    """These settings as a file that explains each."""
    return write_sections({"engine": config.engine, "search": config.search})
