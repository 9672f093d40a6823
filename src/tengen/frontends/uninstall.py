"""`tengen uninstall-data`: remove the files that Tengen keeps for a user."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from tengen.pip_package import DISTRIBUTION
from tengen.terminal_console import TerminalConsole
from tengen.user_folders import CACHES, DATA, user_cache, user_data
from tengen.user_messages import tell


class Kept(NamedTuple):
    """A folder of Tengen's with files in it."""

    path: Path
    what: str
    size: int  # bytes


def kept_folders(*, caches_only: bool = False) -> Iterator[Kept]:
    """The existing folders that Tengen made itself, never the folder that contains them."""
    roots = [(user_cache(), CACHES)]
    roots += [] if caches_only else [(user_data(), DATA)]
    for root, folders in roots:
        for name, what in folders.items():
            if (path := root / name).is_dir():
                yield Kept(path, what, _bytes_in(path))


def remove_files(*, caches_only: bool, sure: bool) -> None:
    """Show what there is, ask unless sure, and remove it.

    Raises ValueError if there is nobody to ask.
    """
    found = list(kept_folders(caches_only=caches_only))
    if not found:
        tell("Tengen keeps no files for you.")
    else:
        table = Table("folder", "what", "size")
        for each in found:
            table.add_row(*map(Text, (str(each.path), each.what, decimal(each.size))))
        TerminalConsole().print(table)
        if not sure and not _agreed():
            tell("Nothing was removed.")
            return
        for each in found:
            shutil.rmtree(each.path)
            with suppress(OSError):  # other files may be there
                each.path.parent.rmdir()
        tell(f"Removed {len(found)} folders.")
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        tell(f"NUMBA_CACHE_DIR is set: compiled kernels may also be in {chosen}")
    if not caches_only:
        tell(
            f"Training runs and reviews stay where you put them. To remove the program, too: "
            f"pip uninstall {DISTRIBUTION}"
        )


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise ValueError("nobody is there to ask; say --yes to remove these folders")
    return input("Remove all of these? [y/N] ").strip().lower() in ("y", "yes")


def _bytes_in(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # it may just be gone
            sizes += path.stat().st_size
    return sizes
