"""A run is a folder: what lies where, how it begins, and who may write in it."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from tengen.closeable import Closeable
from tengen.runs.errors import RunError, write_whole, writing
from tengen.user_messages import say

if sys.platform != "win32":
    import fcntl

LOCK = "lock"


@dataclass(frozen=True)
class RunFolder:
    """Where the parts of a run lie. It makes and reads nothing itself."""

    path: Path

    @property
    def config(self) -> Path:
        """Written last when a run is made: a folder that has it is a run."""
        return self.path / "config.toml"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def networks(self) -> Path:
        """The networks that played, one for each rating."""
        return self.path / "networks"

    @property
    def latest(self) -> Path:
        """The network as it was when the run ended or was stopped."""
        return self.path / "latest.safetensors"

    @property
    def shards(self) -> Path:
        return self.path / "shards"

    @property
    def games(self) -> Path:
        """Sample games as SGF."""
        return self.path / "games"

    @property
    def tensorboard(self) -> Path:
        return self.path / "tensorboard"

    @property
    def ratings(self) -> Path:
        return self.path / "ratings.jsonl"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def folders(self) -> tuple[Path, ...]:
        return self.checkpoints, self.networks, self.shards, self.games, self.tensorboard


def is_run(path: str | Path) -> bool:
    """Whether a run was made in this folder."""
    return RunFolder(Path(path)).config.is_file()


def create_run(path: str | Path, config: str) -> RunFolder:
    """Make a run with this text as its config.toml; raises RunError.

    The folder may be there already, if nothing lies in it but the beginnings of a run.
    """
    folder = RunFolder(Path(path))
    if is_run(path):
        raise RunError(f"{path}: is a run already; go on with it, or name another folder")
    with writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
        known = {LOCK, *(each.name for each in folder.folders)}
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
    """The run in this folder; raises RunError where there is none. Parts that are gone come back.

    Reading needs no lock; whoever writes takes it first.
    """
    folder = RunFolder(Path(path))
    if not is_run(path):
        why = "has no config.toml" if folder.path.is_dir() else "is no folder"
        raise RunError(f"{path}: is no run: it {why}; check the path")
    for each in folder.folders:
        if not each.is_dir():
            with writing(each):
                each.mkdir()
    return folder


class RunLock(Closeable):
    """The right to write in a folder, until it is closed or the process ends, however it ends."""

    def __init__(self, path: str | Path) -> None:
        """Take it; raises RunError that names the process that has it."""
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
            say(f"{path}: cannot be locked ({error.strerror}); see that only one process uses it")
            return
        with writing(path / LOCK):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def close(self) -> None:
        """Give it back; the file stays, for removing it would let two processes in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
