"""Checkpoints: all that a run needs to continue exactly, in one file, written atomically.

A file is safetensors; the facts about the run are JSON in its header. Shards of games and sample
games are written before the checkpoint that refers to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tengen.atomic_files import replace_file, sync_folder
from tengen.network.files.errors import one_line
from tengen.network.files.tengen_format import checksum
from tengen.replay.shard import shard_files, shard_number, shard_numbers, write_shard
from tengen.replay.teacher_outputs import ENDING as TEACHER_ENDING
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.folder import RunError, RunFolder, writing
from tengen.selfplay.record import Games, split_games
from tengen.selfplay.sgf_text import sgf_text
from tengen.user_messages import say

GAMES_IN_A_SHARD = 10_000
KEPT_SAMPLES = 400  # games as SGF; older ones are removed
KEPT = 3  # checkpoints; more than one, in case the disk damages the newest
FORMAT = "tengen checkpoint 1"
_NAME = re.compile(r"checkpoint-(\d+)\.safetensors")


class Checkpoint(NamedTuple):
    """What was saved."""

    number: int
    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]  # JSON

    def part(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The arrays whose names begin with a prefix, without it."""
        found = (name for name in self.arrays if name.startswith(prefix))
        return {name.removeprefix(prefix): self.arrays[name] for name in found}


class _DamagedError(Exception):
    """A file that differs from what was written."""


def save_checkpoint(
    folder: RunFolder, number: int, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> Path:
    """Save a checkpoint atomically, then remove all but the last few; raises RunError.

    The same number again replaces the file; a number below the newest is a ValueError, since such
    a checkpoint would never be loaded. The caller holds the run's lock.
    """
    saved = _numbered(folder)
    if saved and number < max(saved):
        raise ValueError(f"checkpoint {number} is older than {max(saved)}, which is there already")
    path = folder.checkpoints / f"checkpoint-{number:08}.safetensors"
    tensors = {name: _plain(name, values) for name, values in arrays.items()}
    metadata = {"format": FORMAT, "facts": json.dumps(facts)}
    metadata["sha256"] = checksum(tensors, metadata)
    content = save(tensors, metadata)
    with writing(path, len(content)):
        _remove(folder.checkpoints.glob(".checkpoint-*.unfinished"))  # of killed processes
        replace_file(path, content)
        sync_folder(folder.checkpoints)  # before older ones go
        saved[number] = path
        _remove(saved[old] for old in sorted(saved)[:-KEPT])
    return path


def load_latest(folder: RunFolder) -> Checkpoint | None:
    """The newest undamaged checkpoint, or None where none was ever saved; raises RunError.

    Damaged ones are renamed to *.damaged, with a message. If all are damaged, it raises: a run
    never starts over by itself.
    """
    # Another process may remove an old file meanwhile; then there is a newer one.
    while saved := _numbered(folder):
        number = max(saved)
        path = saved[number]
        try:
            return _load(path, number)
        except FileNotFoundError:
            continue
        except _DamagedError as error:
            aside = path.with_name(path.name + ".damaged")
            with writing(path):
                path.replace(aside)
            say(f"{path}: {error}; kept as {aside.name}; trying the one before")
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            raise RunError(f"{path}: {what}; make it readable, or move it away") from error
    if damaged := sorted(folder.checkpoints.glob("*.damaged")):
        what = f"all checkpoints are damaged (the last was {damaged[-1].name})"
        remedy = "restore one, or remove the damaged ones to start over, without any games"
        raise RunError(f"{folder.checkpoints}: {what}; {remedy}")
    return None


def _numbered(folder: RunFolder) -> dict[int, Path]:
    found = {}
    for path in folder.checkpoints.iterdir() if folder.checkpoints.is_dir() else ():
        if (match := _NAME.fullmatch(path.name)) and path.is_file():
            found[int(match[1])] = path
    return found


def _plain(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: a checkpoint holds numbers, not {values.dtype}; view it as bytes"
        )
    return np.ascontiguousarray(values).reshape(values.shape)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _load(path: Path, number: int) -> Checkpoint:
    """Raises _DamagedError, OSError, and RunError for a file of another version."""
    with path.open("rb"):  # for its OSError: safetensors hides the reason
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise _DamagedError(f"damaged: {one_line(str(error))}") from None
    stated = metadata.pop("sha256", "")
    if checksum(arrays, metadata) != stated:
        raise _DamagedError("damaged: its checksum does not match")
    if metadata["format"] != FORMAT:
        what = f"is a {metadata['format']!r}; this version reads {FORMAT!r}"
        raise RunError(f"{path}: {what}; update Tengen")
    # "fleet.seats" is what Tengen 0.1 called them.
    arrays = {name.replace("fleet.seats", "fleet.slots"): array for name, array in arrays.items()}
    return Checkpoint(number, arrays, json.loads(metadata["facts"]))


class CheckpointWriter(BackgroundThread):
    """Writes one save at a time: first the games, then the checkpoint that refers to them."""

    def __init__(
        self,
        folder: RunFolder,
        samples: int,
        before: Callable[[], None] = lambda: None,
        then: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:
        """`before` is called before anything is written, and `then` after each save, in the
        background; `then` gets the save's facts, and `before` may raise RunError to prevent it.
        """
        super().__init__("saving")
        self._folder, self._samples = folder, samples
        self._before, self._then = before, then

    def write(
        self,
        number: int,
        games: Games,
        arrays: Mapping[str, NDArray[Any]],
        facts: dict[str, Any],
        write_more: Callable[[Path], None] | None = None,
    ) -> None:
        """Save a run, to be started in the background; raises RunError.

        `write_more` writes further files about the games next to their shard. With it, one shard
        holds all of them.
        """
        self._before()
        at_most = GAMES_IN_A_SHARD if write_more is None else max(1, len(games.games))
        with writing(self._folder.shards):
            for part in split_games(games, at_most):
                path = write_shard(self._folder.shards, part, {"run": self._folder.path.name})
                if write_more is not None:
                    write_more(path)
            self._write_samples(games)
        last = max(map(shard_number, shard_files(self._folder.shards)), default=0)
        facts = facts | {"last_shard": last}
        self._before()  # large shards take a while
        save_checkpoint(self._folder, number, arrays, facts)
        self._then(facts)

    def _write_samples(self, games: Games) -> None:
        """Write the latest games as SGF."""
        count = len(games.games)
        for k in range(max(0, count - self._samples), count):
            path = self._folder.games / f"{int(games.games['number'][k]):09}.sgf"
            path.write_text(sgf_text(games, k), encoding="utf-8")
        _remove(sorted(self._folder.games.glob("*.sgf"), key=_age)[:-KEPT_SAMPLES])


def _age(path: Path) -> tuple[int, str]:
    """A key for older files first; with several machines, later games may have lower numbers."""
    return path.stat().st_mtime_ns, path.name


def missing_shards(folder: RunFolder, last: int) -> list[int]:
    """The numbers of shards that a checkpoint refers to and that are gone, damaged ones aside.

    Shards are numbered from 1, and no run removes one that a checkpoint refers to.
    """
    return sorted(set(range(1, last + 1)) - shard_numbers(folder.shards))


def remove_shards_after(folder: RunFolder, last: int) -> None:
    """Remove the shards with higher numbers: in the checkpoint their games are still under way."""
    for file in shard_files(folder.shards):
        if shard_number(file) > last:
            with writing(file):
                file.unlink()
                file.with_suffix(TEACHER_ENDING).unlink(missing_ok=True)
