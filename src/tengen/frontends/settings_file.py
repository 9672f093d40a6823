"""Settings files: the options of an engine, of its search, and of commands, each in its section.

The section [search] takes KataGo's names of parameters, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tengen.config import load_keys, load_sections, write_sections
from tengen.engine.katago_params import SEARCH_FIELDS
from tengen.engine.settings import EngineOptions
from tengen.frontends.options import AnalysisOptions, GtpOptions
from tengen.search.params import SearchParams

SECTIONS: dict[str, type[Any]] = {
    "engine": EngineOptions,
    "search": SearchParams,
    "gtp": GtpOptions,
    "analysis": AnalysisOptions,
}


def load_settings(path: str | Path) -> dict[str, Any]:
    """A dataclass for each section of a file; raises ValueError that names section and key."""
    return load_sections(path, SECTIONS, SEARCH_FIELDS)


def write_settings(settings: dict[str, Any] | None = None) -> str:
    """A file that explains each setting; sections that are left out have their defaults."""
    given = settings or {}
    return write_sections({name: given.get(name, kind()) for name, kind in SECTIONS.items()})


def options_in_file(
    kind: type[Any], path: str | Path, given: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """What a file sets of a command's options; `given` ones come from the command line.

    Raises ValueError that names section and key.
    """
    keys = load_keys(path, SECTIONS, SEARCH_FIELDS)
    own = next((name for name, section in SECTIONS.items() if section is kind), "")
    known = {each.name: each for each in fields(kind)}
    inherited = {each.name for each in fields(EngineOptions) if known.get(each.name) is each}
    found = {key: value for key, value in keys.get("engine", {}).items() if key in inherited}
    found |= keys.get(own, {})
    if "search" in known:
        found["search"] = keys.get("search", {})
    if {**found, **given}.get("level"):  # which has limits of its own
        found = {key: value for key, value in found.items() if key not in ("visits", "seconds")}
    return found
