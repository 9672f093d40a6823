"""The folder of a run: what lies where, the lock for writing, errors and JSON lines."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rich.filesize import decimal

from tengen.atomic_files import replace_file
from tengen.closeable import Closeable
from tengen.config import Sections, changed_keys, load_sections, write_sections
from tengen.user_messages import say

if sys.platform != "win32":
    import fcntl

LOCK = "lock"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
# What a network file system answers while its server is away.
_AWAY_NAMES = (
    *("EIO", "EREMOTEIO", "ESTALE", "ETIMEDOUT", "ENETDOWN", "ENETUNREACH", "EHOSTDOWN"),
    *("EHOSTUNREACH", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "ENOTCONN"),
)
_AWAY = {getattr(errno, name) for name in _AWAY_NAMES if hasattr(errno, name)}
_BLOCK = 1 << 16  # bytes


@dataclass
class RunFolder:
    """The paths of a run's parts; creates and reads nothing."""

    path: Path

    def __post_init__(self) -> None:
        path = self.path
        self.config = path / "config.toml"  # written last: a folder that has it is a run
        self.checkpoints = path / "checkpoints"
        self.networks = path / "networks"  # those that were rated
        self.latest = path / "latest.safetensors"  # the network when the run ended or was stopped
        self.shards = path / "shards"
        self.games = path / "games"  # samples as SGF
        self.teacher_outputs = path / "opinions"  # for records and held-out rows
        self.records = path / "records"  # that were read; only of runs that learn from such
        self.tensorboard = path / "tensorboard"
        self.ratings = path / "ratings.jsonl"
        self.metrics = path / "metrics.jsonl"
        # Those that every run has.
        self.folders = self.checkpoints, self.networks, self.shards, self.games, self.tensorboard


def is_run(path: str | Path) -> bool:
    """Whether this folder holds a run."""
    return RunFolder(Path(path)).config.is_file()


def create_run(path: str | Path, config: str) -> RunFolder:
    """Create a run with this text as its config.toml; raises RunError.

    The folder may exist if it holds nothing but what an interrupted `create_run` left.
    """
    folder = RunFolder(Path(path))
    if is_run(path):
        raise RunError(f"{path}: is a run already; resume it, or name another folder")
    with writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
        known = {LOCK, folder.records.name, *(each.name for each in folder.folders)}
        found = {each.name for each in folder.path.iterdir()} - known
        if others := [name for name in sorted(found) if not name.endswith(".unfinished")]:
            what = f"holds other files ({others[0]!r} for one) and is no run"
            raise RunError(f"{path}: {what}; name an empty or a new folder")
    for each in folder.folders:
        with writing(each):
            each.mkdir(exist_ok=True)
    write_whole(folder.config, config.encode())
    return folder


def open_run(path: str | Path) -> RunFolder:
    """The run in this folder, missing subfolders created; raises RunError where there is none.

    Reading needs no lock; take `RunLock` before writing.
    """
    folder = RunFolder(Path(path))
    if not is_run(path):
        why = "has no config.toml" if folder.path.is_dir() else "is no folder"
        raise RunError(f"{path}: is no run: it {why}; check the path")
    for each in folder.folders:
        with writing(each):
            each.mkdir(exist_ok=True)
    return folder


def open_or_create_run(
    path: str | Path, wanted: Mapping[str, Any] | None, kinds: Sections, changeable: Set[str]
) -> tuple[RunFolder, dict[str, Any]]:
    """The run in this folder, created if there is none, and its settings by section.

    `wanted` are the settings of a new run, or new ones for an old run; None means defaults or those
    the run has. Raises RunError that names the settings which are not `changeable` (section.key).
    """
    if not is_run(path):
        settings = dict(wanted) if wanted else {name: kind() for name, kind in kinds.items()}
        return create_run(path, write_sections(settings, defaults_too=True)), settings
    folder = open_run(path)
    kept = load_sections(folder.config, kinds)
    if wanted is None:
        return folder, kept
    changed = changed_keys(kept, wanted)
    if fixed := [key for key in changed if key not in changeable]:
        what = f"{', '.join(fixed)} cannot change after a run has begun"
        raise RunError(f"{folder.config}: {what}; leave it, or begin a new run in another folder")
    if changed:
        write_whole(folder.config, write_sections(wanted, defaults_too=True).encode())
    return folder, dict(wanted)


@contextmanager
def removed_if_refused(path: str | Path) -> Iterator[None]:
    """Undo the creation of a run in this folder if the block raises ValueError before it began.

    Removes nothing that was there before, and no folder that holds files.
    """
    folder = RunFolder(Path(path))
    lock = folder.path / LOCK
    parts = (folder.config, lock, folder.records, *folder.folders, folder.path)
    there = {part for part in parts if part.exists()}
    try:
        yield
    except ValueError:
        begun = any(any(each.glob("*")) for each in folder.folders)
        for part in parts:
            if part not in there and not begun:
                with suppress(OSError):  # folders that are not empty stay
                    part.unlink() if part in (folder.config, lock) else part.rmdir()
        raise


class RunLock(Closeable):
    """The exclusive right to write in a folder, until closed or until the process ends."""

    def __init__(self, path: str | Path) -> None:
        """Take the lock; raises RunError that names the process which holds it."""
        path = Path(path)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        with writing(path / LOCK):
            self._file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(path)
        except BaseException:
            self.close()
            raise

    def _take(self, path: Path) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._file, 200, 0).decode(errors="replace").strip() or "a process"
            what = f"is in use by {owner}"
            raise RunError(f"{path}: {what}; stop that first, or name another folder") from None
        except OSError as error:  # some network file systems have no locks
            say(f"{path}: cannot be locked ({error.strerror}); let only one process use it")
            return
        with writing(path / LOCK):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def close(self) -> None:
        """Release the lock; the file stays, since removing it would let two processes in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


# Errors that say what to do


class RunError(ValueError):
    """A run cannot begin or continue; the message says why and what to do."""


class FullDiskError(RunError):
    """There is no room for what a run writes."""

    exit_status = 1  # nothing that was said is wrong


class UnreachableError(RunError):
    """The folder of a run is out of reach, perhaps only for a while."""


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
        needs = f", {decimal(needed)} needed" if needed else ""
        what = f"the disk is full ({_free(path)} free{needs})"
        return FullDiskError(f"{path}: {what}; make room, then start the run again")
    if error.errno in _FORBIDDEN:
        what = f"may not be written ({error.strerror})"
        return RunError(f"{path}: {what}; change its permissions, or name another folder")
    if is_away(error):
        return UnreachableError(f"{path}: is out of reach ({error.strerror}); start the run again")
    return RunError(f"{path}: cannot be written: {error.strerror or error}; name another folder")


def is_away(error: OSError) -> bool:
    """Whether this is what a network file system answers while its server is away."""
    return error.errno in _AWAY


def _free(path: Path) -> str:
    existing = next(folder for folder in path.absolute().parents if folder.exists())
    return decimal(shutil.disk_usage(existing).free)


# Files of JSON objects, one a line, appended; an incomplete last line is ignored


def append_line(path: Path, values: Mapping[str, Any]) -> None:
    """Append an object; NumPy's numbers become plain, NaN and infinity null. Raises RunError."""
    text = json.dumps(values, default=lambda value: value.tolist())
    plain = json.loads(text, parse_constant=lambda _: None)
    line = json.dumps(plain, ensure_ascii=False).encode() + b"\n"
    with writing(path, len(line)), path.open("a+b") as file:
        _cut_torn_line(file)
        file.write(line)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All complete lines; none if there is no file. Damaged lines are skipped, with a message."""
    if not path.exists():
        return []
    found = []
    *lines, _torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            if not isinstance(values, dict):
                raise ValueError("no object")
            found.append(values)
        except ValueError:
            say(f"{path}: line {number} is damaged and was skipped")
    return found


def forget_after(path: Path, key: str, last: float) -> None:
    """Drop the lines whose `key` is above `last`, such as those after the checkpoint in use."""
    forget_lines(path, lambda values: values.get(key) is not None and values[key] > last)


def forget_lines(path: Path, is_obsolete: Callable[[dict[str, Any]], bool]) -> None:
    """Drop the lines that are obsolete; raises RunError."""
    lines = read_lines(path)
    kept = [values for values in lines if not is_obsolete(values)]
    if len(kept) < len(lines):
        text = "".join(json.dumps(values, ensure_ascii=False) + "\n" for values in kept).encode()
        write_whole(path, text)


def _cut_torn_line(file: BinaryIO) -> None:
    """Cut the file after its last complete line."""
    end = file.seek(0, os.SEEK_END)
    start, newline = end, -1
    while start > 0 and newline < 0:
        start = max(0, start - _BLOCK)
        file.seek(start)
        newline = file.read(_BLOCK).rfind(b"\n")
    if (whole := start + newline + 1) < end:
        file.truncate(whole)
    file.seek(0, os.SEEK_END)
