"""Settings in a TOML file: read with every mistake named, written with every key explained.

A section is a frozen dataclass whose fields all have defaults; who owns it defines it. A field is
true or false, a number, text, or a tuple or list of these.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

_WIDTH = 100  # of comments in files

Sections: TypeAlias = Mapping[str, type[Any]]  # dataclasses by the names of their sections


def load_sections(path: str | Path, sections: Sections) -> dict[str, Any]:
    """The settings in a file, defaults for what it leaves out; see `parse_sections`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    return parse_sections(text, str(path), sections)


def parse_sections(text: str, source: str, sections: Sections) -> dict[str, Any]:
    """One dataclass for each section; raises ValueError that names the section and the key."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source}: not TOML: {error}") from None
    found = {name: kind() for name, kind in sections.items()}
    for name, values in content.items():
        if name not in sections or not isinstance(values, dict):
            raise ValueError(f"{source}: [{name}] is no section{_nearest(name, sections)}")
        try:
            found[name] = sections[name](**_typed(sections[name], values))
        except ValueError as error:
            raise ValueError(f"{source}: [{name}] {error}") from None
    return found


def parse_settings(settings: Iterable[str], sections: Sections) -> dict[str, dict[str, Any]]:
    """Values by section and key, from texts such as `training.rate=0.001`.

    Values are TOML, quotes may be left out. Raises ValueError that names the setting.
    """
    found: dict[str, dict[str, Any]] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        section, dot, key = name.strip().partition(".")
        if not equals or not dot:
            raise ValueError(f"{setting}: write section.key=value, such as training.rate=0.001")
        if section not in sections:
            raise ValueError(f"{setting}: [{section}] is no section{_nearest(section, sections)}")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        try:
            found.setdefault(section, {}).update(_typed(sections[section], {key: value}))
        except ValueError as error:
            raise ValueError(f"{setting}: [{section}] {error}") from None
    return found


def with_changes(
    values: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """These dataclasses by section, with values changed by section and key.

    A section is checked after all its changes, so that they may depend on each other. Raises
    ValueError that names what was changed.
    """
    changed = dict(values)
    for section, keys in changes.items():
        try:
            changed[section] = replace(changed[section], **keys)
        except ValueError as error:
            names = ", ".join(f"{section}.{key}" for key in keys)
            raise ValueError(f"{names}: {error}") from None
    return changed


def write_sections(values: Mapping[str, Any], *, defaults_too: bool = False) -> str:
    """A commented file of these dataclasses by section.

    What is a default is commented out, unless it is to stay as it is when the defaults change.
    """
    lines = ["# Settings. A line such as #key = value is a default; remove the # to change it."]
    if defaults_too:
        lines = ["# Settings, all of them."]
    for name, section in values.items():
        lines += ["", f"[{name}]"]
        defaults = type(section)()
        remarks = _remarks(type(section))
        for each in fields(section):
            value = getattr(section, each.name)
            for remark in remarks.get(each.name, ()):
                lines += textwrap.wrap(remark, _WIDTH, initial_indent="# ", subsequent_indent="# ")
            sign = "#" if value == getattr(defaults, each.name) and not defaults_too else ""
            lines.append(f"{sign}{each.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`section.key` of each difference; a section that only one side has counts as defaults."""
    changed = []
    for name in [*new, *(name for name in old if name not in new)]:
        kind = type(new[name] if name in new else old[name])
        before, after = old.get(name, kind()), new.get(name, kind())
        changed += [
            f"{name}.{each.name}"
            for each in fields(kind)
            if getattr(before, each.name) != getattr(after, each.name)
        ]
    return changed


def _typed(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """TOML's values as the types of the fields; raises ValueError that names the key."""
    hints = get_type_hints(kind)
    known = {each.name: hints[each.name] for each in fields(kind)}
    taken = {}
    for key, value in values.items():
        if key not in known:
            raise ValueError(f"has no key {key!r}{_nearest(key, known)}")
        try:
            taken[key] = _as(known[key], value)
        except TypeError:
            raise ValueError(f"{key} must be {_called(known[key])}, not {value!r}") from None
    return taken


def _as(wanted: Any, value: Any) -> Any:
    """A value of TOML as this type; raises TypeError where it is none."""
    container = get_origin(wanted)
    if container in (tuple, list):
        kinds = _items(wanted)
        if not isinstance(value, list):
            raise TypeError
        if kinds[-1] is ...:
            kinds = [kinds[0]] * len(value)
        if len(kinds) != len(value):
            raise TypeError
        return container(_as(kind, item) for kind, item in zip(kinds, value, strict=True))
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise TypeError
    return value


def _items(wanted: Any) -> list[Any]:
    """The types in a tuple or list; `...` at the end stands for any number of the first."""
    kinds = list(get_args(wanted))
    return [*kinds, ...] if get_origin(wanted) is list else kinds


def _called(wanted: Any) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    if wanted in names:
        return names[wanted]
    kinds = _items(wanted)
    if kinds[-1] is ...:
        many = {bool: "true or false", int: "whole numbers", float: "numbers", str: "texts"}
        return f"a list of {many[kinds[0]]}"
    return f"a list [{', '.join(names[kind] for kind in kinds)}]"


def _nearest(word: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):  # JSON's escapes are TOML's, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return repr(value)


_FIELD = re.compile(r"(\w+): [\w\[\], .]+ = (?:\"[^\"]*\"|[^#\"])+?(?:\s+# (.*))?")


def _remarks(kind: type) -> dict[str, list[str]]:
    """The comments beside or above each field in the source, else its base class's."""
    remarks = _remarks(kind.__base__) if is_dataclass(kind.__base__) else {}
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        text = line.strip()
        if text.startswith("#"):
            above.append(text.lstrip("# "))
        elif match := _FIELD.fullmatch(text):
            if found := [remark for remark in (" ".join(above), match[2]) if remark]:
                remarks[match[1]] = found
            above = []
        else:
            above = []
    return remarks
