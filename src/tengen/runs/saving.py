"""Saving beside the work: what is to be saved is copied at once, and written by a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.replay.shard import shard_files, shard_number, write_shard
from tengen.runs.background_thread import Beside
from tengen.runs.checkpoint import JSON, save_checkpoint
from tengen.runs.errors import writing
from tengen.runs.folder import RunFolder
from tengen.selfplay.record import Games
from tengen.selfplay.sgf_text import sgf_text

GAMES_IN_A_SHARD = 10_000
KEPT_SAMPLES = 400  # games as SGF; older ones are removed


class Saver(Closeable):
    """Writes shards, sample games and then the checkpoint that counts on them, one at a time."""

    def __init__(self, folder: RunFolder, samples: int) -> None:
        self._folder, self._samples = folder, samples
        self._thread = Beside("saving")

    def save(
        self,
        number: int,
        games: Games,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, JSON],
    ) -> None:
        """Start to save; waits for the save before, and raises RunError if that failed."""
        self._thread.start(self._write, number, games, arrays, dict(facts))

    def finish(self) -> None:
        """Wait until all is saved; raises RunError if it could not be."""
        self._thread.finish()

    def close(self) -> None:
        """End the thread, when it is done."""
        self._thread.close()

    def _write(
        self,
        number: int,
        games: Games,
        arrays: Mapping[str, NDArray[Any]],
        facts: dict[str, JSON],
    ) -> None:
        with writing(self._folder.shards):
            for part in in_parts(games, GAMES_IN_A_SHARD):
                write_shard(self._folder.shards, part, {"run": self._folder.path.name})
            self._write_samples(games)
        files = shard_files(self._folder.shards)
        facts["last_shard"] = shard_number(files[-1]) if files else 0
        save_checkpoint(self._folder, number, arrays, facts)

    def _write_samples(self, games: Games) -> None:
        """The latest games, for people to look at."""
        count = len(games.games)
        for k in range(max(0, count - self._samples), count):
            path = self._folder.games / f"{int(games.games['number'][k]):09}.sgf"
            path.write_text(sgf_text(games, k), encoding="utf-8")
        for old in sorted(self._folder.games.glob("*.sgf"))[:-KEPT_SAMPLES]:
            old.unlink()


def in_parts(games: Games, size: int) -> list[Games]:
    """The same games in groups of at most this many."""
    played = games.games
    ends = [
        np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        for counts in (played["n_turns"], played["n_targets"], played["width"] * played["height"])
    ]
    parts = []
    for first in range(0, len(played), size):
        last = min(first + size, len(played))
        turns, targets, owned = (slice(int(end[first]), int(end[last])) for end in ends)
        parts.append(
            Games(
                played[first:last],
                games.turns[turns],
                games.targets[targets],
                games.ownership[owned],
            )
        )
    return parts


def remove_shards_after(folder: RunFolder, last: int) -> None:
    """Remove the shards beyond this number: the checkpoint in use does not count on them."""
    for file in shard_files(folder.shards):
        if shard_number(file) > last:
            with writing(file):
                file.unlink()
