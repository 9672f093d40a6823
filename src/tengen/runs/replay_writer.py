"""Fills the replay buffer with rows of games and files, and keeps played games to be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from tengen.game.geometry import Size
from tengen.replay.teacher_outputs import TeacherOutputs
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.row_maker import BySize, Piece, RowMaker, joined_rows
from tengen.selfplay.record import Games, joined
from tengen.training.params import WindowParams, window_size
from tengen.training.replay_buffer import ReplayBuffer

MOST_HELD_OUT = 1_000  # rows: enough to tell by 1.5% how often the network finds a move


class Unsaved(NamedTuple):
    """Games to be saved, and a teacher's outputs for their rows."""

    games: Games
    teacher_outputs: Mapping[Size, TeacherOutputs] | None


class ReplayWriter(BackgroundThread):
    """Adds rows to the replay buffer and moves its window along."""

    def __init__(self, buffer: ReplayBuffer, maker: RowMaker, window: WindowParams) -> None:
        super().__init__("encoding")
        self.buffer = buffer
        self._maker, self._window = maker, window
        self._unsaved: list[Unsaved] = []
        self._held = 0  # rows in the buffer; fewer than its total if shards were lost
        self.games = 0  # ever added
        self.last: Games | None = None  # the games played last
        self.held_out: ReplayBuffer | None = None  # rows that are not learned from
        if maker.held_out:
            self.held_out = ReplayBuffer(
                MOST_HELD_OUT,
                dict.fromkeys(buffer.rings, 1.0),
                maker.features,
                buffer.device,
                symmetries=False,
            )

    def add(self, found: Games | Piece) -> None:
        """Add the rows of games that were played, or those of a file, to the replay buffer."""
        if isinstance(found, Piece):
            made = self._maker.of_file(found)
        elif len(found.games):
            made = self._maker.of_games(found)
            self._unsaved.append(Unsaved(found, made.teacher_outputs))
            self.last = found
            self._hold_out(made.held_out)
        else:
            return
        self._held += self.buffer.add(made.rows)
        self.buffer.set_window(min(window_size(self.buffer.total, self._window), self._held))
        self.games += made.games

    @property
    def unsaved(self) -> int:
        """How many games were added since they were last taken to be saved."""
        return sum(len(each.games.games) for each in self._unsaved)

    def take_unsaved(self) -> Unsaved:
        """The games added since the last call."""
        self.finish()
        taken, self._unsaved = self._unsaved, []
        games = joined([each.games for each in taken])
        parts = [each.teacher_outputs for each in taken if each.teacher_outputs is not None]
        return Unsaved(games, _joined_outputs(parts) if parts else None)

    def teacher_outputs_saver(self, unsaved: Unsaved) -> Callable[[Path], None] | None:
        """A function that writes the teacher's outputs next to a shard; None without a teacher."""
        games, outputs = unsaved
        if outputs is None:
            return None
        return lambda shard: self._maker.save_teacher_outputs(shard, games, outputs)

    def restore(self, earlier: Iterable[Piece], total: int, games: int) -> None:
        """Fill the buffer from the files, the last first, of a run with so many rows and games."""
        wanted = min(window_size(total, self._window), self.buffer.capacity)
        found: list[BySize] = []
        count = 0
        for piece in earlier:
            if count >= wanted:
                break
            made = self._maker.of_file(piece, numba.get_num_threads())
            found.append(made.rows)
            count += sum(len(ordered.order) for ordered in made.rows.values())
        rows = joined_rows(reversed(found))
        self._held = sum(len(ordered.order) for ordered in rows.values())
        self.buffer.total = max(0, total - self._held)
        self.buffer.add(rows)
        self.buffer.total = total
        self.buffer.set_window(min(wanted, self._held))
        self.games = games

    def find_held_out(self, pieces: Iterable[Piece], outputs: Path) -> None:
        """Hold out rows of these files, as many as are wanted; raises RowsFileError."""
        if self.held_out is not None:
            for rows in self._maker.held_out_of(pieces, MOST_HELD_OUT, outputs):
                self._hold_out(rows)

    def _hold_out(self, rows: BySize) -> None:
        held_out = self.held_out
        if held_out is not None and held_out.total < MOST_HELD_OUT:
            held_out.add(rows)
            held_out.set_window(MOST_HELD_OUT)


def _joined_outputs(parts: list[Mapping[Size, TeacherOutputs]]) -> dict[Size, TeacherOutputs]:
    """The outputs for several games, in their order."""
    sizes = dict.fromkeys(size for part in parts for size in part)
    return {
        size: TeacherOutputs(
            *map(np.concatenate, zip(*(part[size] for part in parts if size in part), strict=True))
        )
        for size in sizes
    }
