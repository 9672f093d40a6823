"""The documentation and the recipes, which come with the package.

In a clone they are in `docs`; in an installed package beside this file.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def documents() -> Path:
    """The folder of the documentation; raises FileNotFoundError if it is missing."""
    for folder in (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs"):
        if (folder / "recipes").is_dir():
            return folder
    raise FileNotFoundError(2, "the documentation is missing; install Tengen again", str(_PACKAGE))


def recipes() -> dict[str, Path]:
    """The recipes: settings of training runs, by name."""
    return {path.stem: path for path in sorted((documents() / "recipes").glob("*.toml"))}


def find_recipe(name_or_path: str) -> str:
    """The file of a recipe's name, unless it is a path; raises ValueError for an unknown name."""
    path = Path(name_or_path)
    if path.exists() or path.suffix or path.name != name_or_path:
        return name_or_path
    known = recipes()
    if name_or_path not in known:
        there = ", ".join(known)
        raise ValueError(f"{path}: there is no such file, nor such a recipe; there are {there}")
    return str(known[name_or_path])
