"""Files that others see whole or not at all, whenever the program is killed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace_file(path: Path, content: bytes, temporary_name: str | None = None) -> None:
    """Write a file that others see whole or not at all; raises OSError.

    It is written under `temporary_name` first, a random one if not given; a fixed one lets the
    next write replace what a kill left behind.
    """
    unfinished = path.with_name(temporary_name or f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """See that new names in a folder last, even if the power fails; raises OSError."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
