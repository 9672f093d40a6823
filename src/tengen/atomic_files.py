"""Atomic file writes: readers see a whole file or none, even if the program is killed."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
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
    with (
        unfinished_file(path, temporary_name) as unfinished,
        # Unbuffered, in few system calls: each may wait for the GIL.
        open(unfinished, "wb", 0, opener=partial(os.open, mode=mode)) as file,
    ):
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
        if durable:
            os.fsync(file.fileno())


def replace_text(path: Path, text: str) -> None:
    """Write a text atomically, in UTF-8; raises OSError."""
    replace_file(path, text.encode(), durable=False)


@contextmanager
def unfinished_file(path: Path, temporary_name: str | None = None) -> Iterator[Path]:
    """A path to write to, whose file takes the place of another one at the end of the block.

    If that fails it is removed. Raises OSError, which names the file; see `replace_file`.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EEXIST, "there is something that is no file", str(path))
    unfinished = path.with_name(temporary_name or f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # a full disk is told of without a name
        raise


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that new files survive a power failure."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
