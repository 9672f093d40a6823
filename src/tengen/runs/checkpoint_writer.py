"""Saves a run in a background thread: shards of games, sample games, then the checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.replay.shard import shard_files, shard_number, write_shard
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.checkpoint import JSON, save_checkpoint
from tengen.runs.errors import writing
from tengen.runs.folder import RunFolder
from tengen.selfplay.record import Games, split_games
from tengen.selfplay.sgf_text import sgf_text

GAMES_IN_A_SHARD = 10_000
KEPT_SAMPLES = 400  # games as SGF; older ones are removed


class CheckpointWriter(Closeable):
    """Writes one save at a time: first the games, then the checkpoint that refers to them."""

    def __init__(self, folder: RunFolder, samples: int) -> None:
        self._folder, self._samples = folder, samples
        self._thread = BackgroundThread("saving")

    def save(
        self,
        number: int,
        games: Games,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, JSON],
    ) -> None:
        """Start saving; waits for the previous save, and raises RunError if that failed."""
        self._thread.start(self._write, number, games, arrays, dict(facts))

    def finish(self) -> None:
        """Wait until all is saved; raises RunError if it could not be."""
        self._thread.finish()

    def close(self) -> None:
        """Wait for the save under way and end the thread."""
        self._thread.close()

    def _write(
        self,
        number: int,
        games: Games,
        arrays: Mapping[str, NDArray[Any]],
        facts: dict[str, JSON],
    ) -> None:
        with writing(self._folder.shards):
            for part in split_games(games, GAMES_IN_A_SHARD):
                write_shard(self._folder.shards, part, {"run": self._folder.path.name})
            self._write_samples(games)
        files = shard_files(self._folder.shards)
        facts["last_shard"] = shard_number(files[-1]) if files else 0
        save_checkpoint(self._folder, number, arrays, facts)

    def _write_samples(self, games: Games) -> None:
        """Write the latest games as SGF."""
        count = len(games.games)
        for k in range(max(0, count - self._samples), count):
            path = self._folder.games / f"{int(games.games['number'][k]):09}.sgf"
            path.write_text(sgf_text(games, k), encoding="utf-8")
        for old in sorted(self._folder.games.glob("*.sgf"))[:-KEPT_SAMPLES]:
            old.unlink()


def remove_shards_after(folder: RunFolder, last: int) -> None:
    """Remove the shards with higher numbers: in the checkpoint their games are still under way."""
    for file in shard_files(folder.shards):
        if shard_number(file) > last:
            with writing(file):
                file.unlink()
