"""Settings declared once, as dataclasses: read from TOML with every mistake named, and explained.

A section of a file is a frozen dataclass whose fields all have defaults. A field is true or false,
a number, text, a tuple or list of these (or of any of several kinds), or one of them or None, which
a file writes as 0 or "".
Fields made by `option` are also options of the command line (tengen.frontends.typer_options). A
class may have RETIRED: keys that earlier versions wrote, with the defaults that they had.
"""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, field, fields, is_dataclass, replace
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from tengen.bounded_files import SETTINGS_BYTES, read_bounded

_WIDTH = 100  # of comments in files

Sections: TypeAlias = Mapping[str, type[Any]]  # dataclasses by the names of their sections
NO_ALIASES: Mapping[str, str] = MappingProxyType({})


class Option(NamedTuple):
    """How a field of a dataclass looks on the command line."""

    help: str
    flag: str | None = None  # such as --log; None: derived from the field's name
    metavar: str | None = None
    low: float | None = None
    high: float | None = None


def option(default: Any, text: str, *, in_file: bool = True, **shown: Any) -> Any:
    """A dataclass field that is an option of the command line; `...` as default: required.

    `shown` are fields of Option; without `in_file` settings files cannot set it.
    """
    metadata = {"option": Option(text, **shown), "in_file": in_file}
    if default is ...:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def drawn_option(draw: Callable[[], Any], text: str) -> Any:
    """As `option`, with a default that is drawn anew each time; not in files."""
    return field(default_factory=draw, metadata={"option": Option(text), "in_file": False})


def load_sections(
    path: str | Path, sections: Sections, aliases: Mapping[str, str] = NO_ALIASES
) -> dict[str, Any]:
    """One dataclass for each section, with defaults for what a file leaves out; see `load_keys`."""
    keys = load_keys(path, sections, aliases)
    return {name: kind(**keys.get(name, {})) for name, kind in sections.items()}


def parse_sections(text: str, source: str | Path, sections: Sections) -> dict[str, Any]:
    """As `load_sections`, from the text of a file; `source` names it in errors."""
    try:
        content = _parse_toml(text)
    except ValueError as error:
        raise ValueError(f"{source}: not TOML: {error}") from None
    keys = _typed(content, source, sections, NO_ALIASES)
    return {name: kind(**keys.get(name, {})) for name, kind in sections.items()}


def load_keys(
    path: str | Path, sections: Sections, aliases: Mapping[str, str] = NO_ALIASES
) -> dict[str, dict[str, Any]]:
    """The keys that a file sets, by section; raises ValueError that names the section and the key.

    `aliases` are other names of keys.
    """
    try:
        content = read_toml(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    return _typed(content, path, sections, aliases)


def read_toml(path: str | Path) -> dict[str, Any]:
    """The content of a TOML file; raises OSError, and ValueError that names the file."""
    content = read_bounded(path, SETTINGS_BYTES)
    try:
        return _parse_toml(content.decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deep") from None


def _typed(
    content: Mapping[str, Any], path: str | Path, sections: Sections, aliases: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    found = {}
    for name, values in content.items():
        if name not in sections or not isinstance(values, dict):
            raise ValueError(f"{path}: [{name}] is no section{_nearest(name, sections)}")
        try:
            values = {aliases.get(key, key): value for key, value in values.items()}
            found[name] = _typed_keys(sections[name], values, sections)
            sections[name](**found[name])  # raises ValueError for values out of range
        except ValueError as error:
            raise ValueError(f"{path}: [{name}] {error}") from None
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
            typed = _typed_keys(sections[section], {key: _parsed(text)}, sections)
            found.setdefault(section, {}).update(typed)
        except ValueError as error:
            raise ValueError(f"{setting}: [{section}] {error}") from None
    return found


def _parsed(text: str) -> Any:
    """A value of TOML, in which quotes may be left out."""
    try:
        return _parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if match := re.fullmatch(r"\s*\[([^\[\]\"']*)\]\s*", text):
            return [_parsed(item) for item in match[1].split(",")]
        return text.strip()


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

    Defaults are commented out, unless they are to stay as they are when the defaults change.
    """
    lines = ["# Settings. A line such as #key = value is a default; remove the # to change it."]
    if defaults_too:
        lines = ["# Settings, all of them."]
    kinds = {name: type(section) for name, section in values.items()}
    for name, section in values.items():
        lines += ["", f"[{name}]"]
        defaults = type(section)()
        comments = _comments(type(section))
        hints = get_type_hints(type(section))
        for each in _fields_in_file(type(section), kinds):
            value = getattr(section, each.name)
            info: Option | None = each.metadata.get("option")
            for remark in [info.help] if info else comments.get(each.name, ()):
                lines += textwrap.wrap(remark, _WIDTH, initial_indent="# ", subsequent_indent="# ")
            sign = "#" if value == getattr(defaults, each.name) and not defaults_too else ""
            written = _none_in_file(each, hints[each.name]) if value is None else value
            if written is None:  # show what may be written
                lines.append(f"# {each.name} = ({_called(_not_none(hints[each.name]))})")
            else:
                lines.append(f"{sign}{each.name} = {_toml(written)}")
    return "\n".join(lines) + "\n"


def _fields_in_file(kind: type[Any], sections: Sections) -> list[Field[Any]]:
    """The fields that a section may set; one inherited with an earlier section belongs there."""
    earlier = takewhile(lambda each: each is not kind, sections.values())
    shared = {id(each) for section in earlier for each in fields(section)}
    return [
        each
        for each in fields(kind)
        if id(each) not in shared and each.metadata.get("in_file", True)
    ]


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


def _typed_keys(kind: type[Any], values: dict[str, Any], sections: Sections) -> dict[str, Any]:
    """TOML's values as the types of the fields; raises ValueError that names the key."""
    hints = get_type_hints(kind)
    by_name = {each.name: each for each in _fields_in_file(kind, sections)}
    known = {name: _not_none(hints[name]) for name in by_name}
    taken: dict[str, Any] = {}
    retired: Mapping[str, Any] = getattr(kind, "RETIRED", {})
    for key, value in values.items():
        if key in retired and value == retired[key]:
            continue  # an earlier version wrote it, and it had its default
        if key not in known:
            raise ValueError(f"has no key {key!r}{_nearest(key, known)}")
        try:
            taken[key] = _as(known[key], value)
        except TypeError:
            raise ValueError(f"{key} must be {_called(known[key])}, not {value!r}") from None
        if taken[key] == _none_in_file(by_name[key], hints[key]):
            taken[key] = None
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
    if container is UnionType:
        for kind in get_args(wanted):
            with suppress(TypeError):
                return _as(kind, value)
        raise TypeError
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise TypeError
    return value


def _none_in_file(each: Field[Any], hint: Any) -> Any:
    """The value for None in a file, since TOML has none: 0 if it is below the least, "" for text.

    None if there is no such value.
    """
    kind, info = _not_none(hint), each.metadata.get("option")
    has_stand_in = kind is not hint and (kind is str or (info is not None and info.low))
    return kind() if has_stand_in else None


def _not_none(wanted: Any) -> Any:
    """X of X | None."""
    kinds = get_args(wanted)
    return next(kind for kind in kinds if kind is not NoneType) if NoneType in kinds else wanted


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
        return f"a list of {' or '.join(many[kind] for kind in get_args(kinds[0]) or kinds[:1])}"
    return f"a list [{', '.join(names[kind] for kind in kinds)}]"


def _nearest(word: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _toml(value: object) -> str:
    import json

    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):  # JSON's escapes are TOML's, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return repr(value)


_FIELD = re.compile(r"(\w+): [\w\[\], .|]+ = (?:\"[^\"]*\"|[^#\"])+?(?:\s+# (.*))?")


def _comments(kind: type) -> dict[str, list[str]]:
    """The comments beside or above each field in the source, else its base class's."""
    comments = _comments(kind.__base__) if is_dataclass(kind.__base__) else {}
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        text = line.strip()
        if text.startswith("#"):
            above.append(text.lstrip("# "))
        elif match := _FIELD.fullmatch(text):
            if found := [comment for comment in (" ".join(above), match[2]) if comment]:
                comments[match[1]] = found
            above = []
        else:
            above = []
    return comments
