"""ES modules as one classic script: pages opened from a file cannot load modules.

Each module becomes a function that returns its exports. Only what our modules use is understood:
named imports from relative paths, and `export` before a function, class or const. Anything else is
refused, so that a script is never silently wrong.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as (\w+))?")
_REFUSED = re.compile(r"^\s*(?:import|export)\b.*$|\bimport\s*[(.].*$|^await\b.*$", re.MULTILINE)
_ENDS_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


class BundleError(ValueError):
    """A module that cannot be bundled."""


class _Module(NamedTuple):
    """A module that is part of the script already."""

    name: str  # of the constant that holds its exports
    exports: list[str]


def bundled_script(entry: Path) -> str:
    """The module and all it imports, each once and before those that import it.

    Raises BundleError for syntax that is not understood and for circular imports.
    """
    return f'"use strict";\n{"".join(_bundled(entry.resolve(), {}, ()))}'


def _bundled(path: Path, known: dict[Path, _Module], importers: tuple[Path, ...]) -> list[str]:
    """The functions of a module and of those it imports that are not known yet."""
    if path in importers:
        raise BundleError(f"{path.name} imports itself by way of {importers[-1].name}")
    text = path.read_text("utf-8")
    parts = []
    for statement in _IMPORT.finditer(text):
        imported = (path.parent / statement[2]).resolve()
        if imported not in known:
            parts += _bundled(imported, known, (*importers, path))
    body = _IMPORT.sub(lambda statement: _as_constants(statement, path, known), text)
    body = _EXPORT.sub(r"\1 \2", body)
    if refused := _REFUSED.search(body) or _ENDS_SCRIPT.search(body):
        raise BundleError(f"{path.name}: cannot bundle {refused[0].strip()!r}")
    exports = [statement[2] for statement in _EXPORT.finditer(text)]
    name = f"module{len(known)}"
    known[path] = _Module(name, exports)
    returned = ", ".join(exports)
    return [*parts, f"const {name} = (() => {{\n{body}\nreturn {{ {returned} }};\n}})();\n"]


def _as_constants(statement: re.Match[str], path: Path, known: dict[Path, _Module]) -> str:
    """An import statement as destructuring of what the imported module returned."""
    module = known[(path.parent / statement[2]).resolve()]
    wanted = []
    for item in filter(None, (item.strip() for item in statement[1].split(","))):
        name = _NAME.fullmatch(item)
        if name is None or name[1] not in module.exports:
            raise BundleError(f"{path.name}: cannot import {item!r} from {statement[2]}")
        wanted.append(f"{name[1]}: {name[2]}" if name[2] else name[1])
    return f"const {{ {', '.join(wanted)} }} = {module.name};"
