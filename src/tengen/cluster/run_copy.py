"""A run's folder behind a URL: a copy on this machine, in which the learner works.

The files behind the URL are the source of truth. The copy is updated from them when a learner
starts; changes are written back with each checkpoint, the checkpoint last. A learner killed in
between leaves the URL at the checkpoint before, with some files that nothing refers to.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from tengen.runs.folder import RunFolder, writing
from tengen.runs.store import Store
from tengen.user_folders import user_cache

_FILES = ("config.toml", "metrics.jsonl", "ratings.jsonl", "latest.safetensors")
# In the order in which they are written: what others refer to comes first.
_FOLDERS = ("shards", "networks", "games", "tensorboard", "checkpoints")


def copy_of(store: Store) -> RunFolder:
    """Where this machine keeps its copy; TENGEN_RUNS_DIR names another disk for it."""
    name = hashlib.sha256(store.location.encode()).hexdigest()[:16]
    base = os.environ.get("TENGEN_RUNS_DIR")
    return RunFolder((Path(base) if base else user_cache() / "runs") / name)


class RunCopy:
    """Synchronises a copy with the files behind a URL."""

    def __init__(self, store: Store, folder: RunFolder) -> None:
        self._store, self._folder = store, folder
        self.location = store.location
        self._known: dict[str, tuple[int, int]] = {}  # size and time of files that are in step

    def pull(self) -> None:
        """Make the copy like the store; raises OSError."""
        wanted = set(self._remote())
        for name in set(_local(self._folder)) - wanted:
            (self._folder.path / name).unlink(missing_ok=True)
        for name in sorted(wanted):
            path = self._folder.path / name
            content = self._store.read(name)
            with writing(path, len(content)):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._known[name] = _stamp(path)

    def push(self, check_ours: Callable[[], None] = lambda: None) -> None:
        """Write what has changed to the store, checkpoints last, and remove what is gone.

        `check_ours` is called before each file, and may raise RunError to prevent it.
        """
        here = set()
        for name in list(_local(self._folder)):
            path = self._folder.path / name
            with suppress(FileNotFoundError):  # removed meanwhile
                stamp = _stamp(path)
                if self._known.get(name) != stamp:
                    check_ours()
                    self._store.write(name, path.read_bytes())
                    self._known[name] = stamp
                here.add(name)
        for name in [name for name in self._known if name not in here]:
            check_ours()
            self._store.remove(name)
            del self._known[name]

    def push_file(self, path: Path) -> None:
        """Write one file now, for others that need it before the next checkpoint."""
        name = path.relative_to(self._folder.path).as_posix()
        self._store.write(name, path.read_bytes())
        self._known[name] = _stamp(path)

    def _remote(self) -> Iterator[str]:
        there = set(self._store.names(""))
        yield from (name for name in _FILES if name in there)
        for folder in _FOLDERS:
            yield from (f"{folder}/{name}" for name in self._store.names(folder))


def _local(folder: RunFolder) -> Iterator[str]:
    """The files of the copy, in the order in which they are written."""
    yield from (name for name in _FILES if (folder.path / name).is_file())
    for part in _FOLDERS:
        files = sorted((folder.path / part).glob("*")) if (folder.path / part).is_dir() else []
        whole = (file for file in files if file.is_file() and not file.name.startswith("."))
        yield from (f"{part}/{file.name}" for file in whole if file.suffix != ".tmp")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
