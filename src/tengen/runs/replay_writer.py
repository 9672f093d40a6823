"""Fills the replay buffer with the rows of finished games, and keeps the games to be saved."""

from __future__ import annotations

import numba

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.replay.rows import OrderedRows, encode_games
from tengen.replay.shard import read_or_set_aside, shard_files
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.folder import RunFolder
from tengen.selfplay.record import Games, joined
from tengen.training.params import WindowParams, window_size
from tengen.training.replay_buffer import ReplayBuffer

_SPARE_ROWS = 1_000  # read more than needed: how many rows a weight becomes is drawn at random


class ReplayWriter(BackgroundThread):
    """Encodes finished games into the replay buffer and moves its window along."""

    def __init__(
        self, buffer: ReplayBuffer, features: FeatureSet, window: WindowParams, seed: int
    ) -> None:
        super().__init__("encoding")
        self.buffer = buffer
        self._features, self._window, self._seed = features, window, seed
        self._unsaved: list[Games] = []
        self._held = 0  # rows in the buffer; fewer than its total if shards were lost
        self.games = 0  # ever added
        self.last: Games | None = None  # the games added last

    def add(self, games: Games) -> None:
        """Add these games' rows to the replay buffer."""
        if not len(games.games):
            return
        # One thread: there are few games, and more threads take longer to start than to encode.
        self._held += self.buffer.add(self._encoded(games, threads=1))
        self.buffer.set_window(min(window_size(self.buffer.total, self._window), self._held))
        self._unsaved.append(games)
        self.games += len(games.games)
        self.last = games

    @property
    def unsaved(self) -> int:
        """How many games were added since they were last taken to be saved."""
        return sum(len(games.games) for games in self._unsaved)

    def take_unsaved(self) -> Games:
        """The games added since the last call."""
        self.finish()
        taken, self._unsaved = joined(self._unsaved), []
        return taken

    def restore(self, folder: RunFolder, total: int, games: int) -> None:
        """Fill the buffer from the shards of a run that has made so many rows and games."""
        wanted = min(window_size(total, self._window), self.buffer.capacity)
        found: list[Games] = []
        count = 0.0
        for file in reversed(shard_files(folder.shards)):
            if count < wanted + _SPARE_ROWS and (read := read_or_set_aside(file)) is not None:
                found.append(read)
                count += float(read.turns["weight"].sum())
        rows = self._encoded(joined(found[::-1]), numba.get_num_threads())
        self._held = sum(len(ordered.order) for ordered in rows.values())
        self.buffer.total = max(0, total - self._held)
        self.buffer.add(rows)
        self.buffer.total = total
        self.buffer.set_window(min(wanted, self._held))
        self.games = games

    def _encoded(self, games: Games, threads: int) -> dict[Size, OrderedRows]:
        threads = min(threads, max(1, len(games.games)))
        return encode_games(games, self._features, self._seed, threads=threads)
