"""Atomic file writes: readers see a whole file or none, even if the program is killed."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_AS_IT_IS = getattr(os, "O_BINARY", 0)  # Windows would write other ends of lines


def replace_file(
    path: Path,
    content: bytes,
    temporary_name: str | None = None,
    *,
    mode: int = 0o666,
    durable: bool = True,
) -> None:
    """Write a file atomically; raises OSError, which names the file.

    Writes to `temporary_name` first, then renames it. The default name is random, for files that
    users name; with a fixed name the next write replaces a leftover of a killed program. Unless
    `durable`, a power failure may lose it.
    """
    if temporary_name is None:
        _check_target(path)
    name = temporary_name or f".{path.name}.{secrets.token_hex(4)}.unfinished"
    unfinished = path.with_name(name)
    try:
        # In as few system calls as can be: after each the thread waits for the GIL.
        file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _AS_IT_IS, mode)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(file, left) :]
            if durable:
                os.fsync(file)
        finally:
            os.close(file)
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # the error of a full disk has no file name
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text atomically, in UTF-8; raises OSError."""
    replace_file(path, text.encode(), durable=False)


def _check_target(path: Path) -> None:
    """Raise OSError if something else than a file is there: a device would be replaced."""
    with suppress(FileNotFoundError):
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise OSError(errno.EEXIST, "there is something that is no file", str(path))


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that new files survive a power failure."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def why_not_writable(folder: Path) -> str | None:
    """Why no files can be made in a folder, which need not exist yet; None if they can."""
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not existing.is_dir():
        return f"{existing}: is no folder"
    return None if os.access(existing, os.W_OK) else f"{existing}: cannot be written to"
