"""Errors of runs, and writing files so that what went wrong is explained."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.atomic_files import replace_file

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


class RunError(ValueError):
    """A run cannot begin or continue; the message says why and what to do."""


@contextmanager
def writing(path: Path, needed: int = 0) -> Iterator[None]:
    """Turn an OSError while writing to this path into a RunError; `needed` bytes, if known."""
    try:
        yield
    except OSError as error:
        raise _explained(path, needed, error) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically; raises RunError."""
    with writing(path, len(content)):
        replace_file(path, content)


def _explained(path: Path, needed: int, error: OSError) -> RunError:
    if error.errno in _FULL:
        needs = f", {_size(needed)} needed" if needed else ""
        what = f"the disk is full ({_free(path)} free{needs})"
        return RunError(f"{path}: {what}; make room, then start the run again")
    if error.errno in _FORBIDDEN:
        what = f"may not be written ({error.strerror})"
        return RunError(f"{path}: {what}; change its permissions, or name another folder")
    return RunError(f"{path}: cannot be written: {error.strerror or error}; name another folder")


def _free(path: Path) -> str:
    for folder in path.parents:
        try:
            return _size(shutil.disk_usage(folder).free)
        except OSError:
            continue
    return "unknown"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
