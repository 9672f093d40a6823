"""The folders where Tengen keeps files of a user, and the variables that name other ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "TENGEN_CACHE_DIR"
DATA_VARIABLE = "TENGEN_DATA_DIR"
# What Tengen puts into each of them: these alone may be removed, since a variable may name a folder
# that holds other things, too.
CACHES = {
    "kernels": "compiled kernels",
    "networks": "converted networks",
    "precisions": "which precision plays best, by network",
    "ranges": "calibrations of int8",
    "runs": "copies of training runs that are kept elsewhere",
}
DATA = {
    "born": "networks that learned in the page",
    "games": "games of the page",
    "moments": "moments of games that come back on the page",
    "networks": "networks that you added",
    "problems": "results of problems and lessons on the page",
    "results": "results of games on the page",
    "sessions": "which game each browser shows",
}


def user_cache() -> Path:
    """The folder for what can be made again: compiled kernels, converted networks."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return _folder(os.environ.get("LOCALAPPDATA", "~\\AppData\\Local")) / "tengen"
    if sys.platform == "darwin":
        return _folder("~/Library/Caches/tengen")
    return _folder(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "tengen"


def user_data() -> Path:
    """The folder for what cannot: games of the page, networks that were added."""
    if chosen := os.environ.get(DATA_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return _folder(os.environ.get("APPDATA", "~\\AppData\\Roaming")) / "tengen"
    if sys.platform == "darwin":
        return _folder("~/Library/Application Support/tengen")
    return _folder(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "tengen"


def _folder(path: str) -> Path:
    """A folder that may lie in the user's home; users without one get none that can be made."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(os.devnull)
