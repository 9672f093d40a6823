"""Atomic file writes: readers see a whole file or none, even if the program is killed."""

from __future__ import annotations

import errno
import os
import secrets
from functools import partial
from pathlib import Path


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
        # Unbuffered, in few system calls: each may wait for the GIL.
        with open(unfinished, "wb", 0, opener=partial(os.open, mode=mode)) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
            if durable:
                os.fsync(file.fileno())
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
