"""Atomic file writes: readers see a whole file or none, even if the program is killed."""

from __future__ import annotations

import errno
import os
import secrets
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
    """Write a file atomically; raises OSError.

    What is there and is no file, such as a device, is refused: it would be gone for good.
    Writes to `temporary_name` first, then renames it. The default name is random; with a fixed
    name the next write replaces a leftover of a killed program. Unless `durable`, a power failure
    may lose it.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "there is something that is no file", str(path))
    unfinished = path.with_name(temporary_name or f".{path.name}.{secrets.token_hex(4)}.unfinished")
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
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that new files survive a power failure."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
