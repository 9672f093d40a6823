"""Settings in a TOML file: read with every mistake named, written with every key explained."""

from __future__ import annotations

import difflib
import inspect
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tengen.search.params import SearchParams


@dataclass(frozen=True)
class EngineConfig:
    """Which network, where, and how long it thinks."""

    model: str = ""  # a network file; empty: to be named on the command line
    device: str = "auto"  # auto, cpu, cuda or mps
    visits: int = 400  # for each move
    seconds: float = 0.0  # for each move; 0: only the visits count
    leaves: int = 0  # positions that the network gets at a time; 0: what suits the device


@dataclass(frozen=True)
class Config:
    """All settings, by the sections of the file."""

    engine: EngineConfig = field(default_factory=EngineConfig)
    search: SearchParams = field(default_factory=SearchParams)


_SECTIONS: dict[str, type[Any]] = {"engine": EngineConfig, "search": SearchParams}


def load_config(path: str | Path) -> Config:
    """The settings in a file; raises ValueError that names the section and the key."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    sections: dict[str, Any] = {}
    for name, values in content.items():
        if name not in _SECTIONS or not isinstance(values, dict):
            raise ValueError(f"{path}: [{name}] is no section{_nearest(name, _SECTIONS)}")
        try:
            sections[name] = _section(_SECTIONS[name], values)
        except ValueError as error:
            raise ValueError(f"{path}: [{name}] {error}") from None
    return Config(**sections)


def _section(kind: type[Any], values: dict[str, Any]) -> Any:
    known = {each.name: each.default for each in fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise ValueError(f"has no key {key!r}{_nearest(key, known)}")
        wanted = type(known[key])
        if wanted is float and type(value) is int:
            values[key] = float(value)
        elif type(value) is not wanted:
            raise ValueError(f"{key} must be {_called(wanted)}, not {value!r}")
    return kind(**values)


def _called(kind: type) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return names[kind]


def _nearest(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def write_config(engine: EngineConfig) -> str:
    """A commented file: these engine settings, and all search parameters at their defaults."""
    lines = ["# Settings. A line such as #key = value is a default; remove the # to change it."]
    for name, section in (("engine", engine), ("search", SearchParams())):
        lines += ["", f"[{name}]"]
        remarks = _remarks(type(section))
        for each in fields(section):
            value = getattr(section, each.name)
            if remark := remarks.get(each.name):
                lines.append(f"# {remark}")
            default = "" if value != each.default else "#"
            lines.append(f"{default}{each.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)


def _remarks(kind: type) -> dict[str, str]:
    """What the source says about each field, beside it or above it."""
    remarks: dict[str, str] = {}
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        text = line.strip()
        if text.startswith("#"):
            above.append(text.lstrip("# "))
        elif match := re.fullmatch(r"(\w+): \w+ = [^#]+?(?:\s+# (.*))?", text):
            remarks[match[1]] = " ".join([*above, *([match[2]] if match[2] else [])])
            above = []
        else:
            above = []
    return remarks
