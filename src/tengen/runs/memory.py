"""What a run remembers: games as they end, and the rows of the latest to be drawn from."""

from __future__ import annotations

import numba

from tengen.closeable import Closeable
from tengen.features.feature_set import FeatureSet
from tengen.replay.rows import TrainingRows, encode_games
from tengen.replay.shard import read_or_set_aside, shard_files
from tengen.replay.window import WindowParams, window_size
from tengen.runs.background_thread import Beside
from tengen.runs.folder import RunFolder
from tengen.runs.saving import remove_shards_after
from tengen.selfplay.record import Games, joined
from tengen.training.rows_on_device import RowsOnDevice

_SPARE_ROWS = 1_000  # more than weights promise, for how they turn out is drawn


class Memory(Closeable):
    """Rows on the device that learns, and the games since the last checkpoint."""

    def __init__(
        self, rows: RowsOnDevice, features: FeatureSet, window: WindowParams, seed: int
    ) -> None:
        self.rows = rows
        self._features, self._window, self._seed = features, window, seed
        self._unsaved: list[Games] = []
        self._held = 0  # rows; fewer than the run has made, if shards were lost
        self.games = 0
        self.last: Games | None = None  # the latest that ended
        self._thread = Beside("encoding")

    def add(self, games: Games) -> None:
        """Learn from these games from now on."""
        if not len(games.games):
            return
        self._append(games)
        self._unsaved.append(games)
        self.games += len(games.games)
        self.last = games

    def add_beside(self, games: Games) -> None:
        """As `add`, by a thread, while the caller goes on; waits for the games before these."""
        self._thread.start(self.add, games)

    def settle(self) -> None:
        """Wait until all games are learned from; raises what went wrong with them."""
        self._thread.finish()

    def close(self) -> None:
        """End the thread."""
        self._thread.close()

    def take_unsaved(self) -> Games:
        """The games since the last time."""
        self.settle()
        taken = joined(self._unsaved)
        self._unsaved = []
        return taken

    def fill(self, folder: RunFolder, last_shard: int, total: int, games: int) -> None:
        """Take up a run that had these shards, rows and games: the latest rows come back.

        Later shards are removed: the games in them are still under way in the checkpoint.
        """
        wanted = min(window_size(total, self._window), self.rows.capacity)
        found: list[Games] = []
        count = 0.0
        remove_shards_after(folder, last_shard)
        for file in reversed(shard_files(folder.shards)):
            if count < wanted + _SPARE_ROWS and (read := read_or_set_aside(file)) is not None:
                found.append(read)
                count += float(read.turns["weight"].sum())
        rows = self._encoded(joined(found[::-1]), numba.get_num_threads())
        self.rows.total = max(0, total - len(rows.score))
        self.rows.add(rows)
        self.rows.total = total
        self._held = len(rows.score)
        self.rows.set_window(min(wanted, self._held))
        self.games = games

    def _append(self, games: Games) -> None:
        # A few games at a time: more threads take longer to start than to encode them.
        self._held += self.rows.add(self._encoded(games, threads=1))
        self.rows.set_window(min(window_size(self.rows.total, self._window), self._held))

    def _encoded(self, games: Games, threads: int) -> TrainingRows:
        threads = min(threads, max(1, len(games.games)))
        return encode_games(games, self._features, self.rows.side, self._seed, threads=threads)
