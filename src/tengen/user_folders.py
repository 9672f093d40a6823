"""The folders where Tengen keeps files of a user, and the variables that name other ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "TENGEN_CACHE_DIR"
DATA_VARIABLE = "TENGEN_DATA_DIR"
# What Tengen puts into each of them: these alone may be removed, since a variable may name a folder
# that holds other things, too.
CACHES = ("kernels", "networks", "ranges", "runs")
DATA = ("born", "games", "networks", "problems", "results", "sessions")


def user_cache() -> Path:
    """The folder for what can be made again: compiled kernels, converted networks."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~\\AppData\\Local")).expanduser() / "tengen"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/tengen").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tengen"


def user_data() -> Path:
    """The folder for what cannot: games of the page, networks that were added."""
    if chosen := os.environ.get(DATA_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "~\\AppData\\Roaming")).expanduser() / "tengen"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/tengen").expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "tengen"
