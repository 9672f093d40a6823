"""Training rows from games or from files of rows, with targets from results or from a teacher.

Some games may be held out: nothing is learned from them, so that they measure what was learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.network.evaluator import Evaluator
from tengen.replay.katago_rows_reader import ENDING as ROWS_ENDING
from tengen.replay.katago_rows_reader import read_katago_rows
from tengen.replay.rows import OrderedRows, Rows, copies_of_turns, encode_games
from tengen.replay.shard import read_or_set_aside
from tengen.replay.teacher_outputs import ENDING as TEACHER_ENDING
from tengen.replay.teacher_outputs import (
    TeacherOutputs,
    digest_of,
    evaluate_rows,
    fits,
    load_teacher_outputs,
    save_teacher_outputs,
    with_teacher_targets,
)
from tengen.selfplay.record import Games, games_where, no_games
from tengen.user_messages import say

_MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio's fraction
_HALF = np.uint64(32)

BySize = dict[Size, OrderedRows]
Numbers = dict[Size, NDArray[np.uint64]]  # [rows]


class Piece(NamedTuple):
    """A file of games (a shard) or of rows, and where a teacher's outputs for it are kept."""

    path: Path
    teacher_outputs: Path


def piece_of(shard: Path) -> Piece:
    """A shard of a run's own games; a teacher's outputs lie beside it."""
    return Piece(shard, shard.with_suffix(TEACHER_ENDING))


class Teacher(NamedTuple):
    """A network whose outputs are learned as targets."""

    evaluator: Evaluator
    sha256: str  # of its file


class Made(NamedTuple):
    """The rows of some games."""

    rows: BySize  # to learn from
    held_out: BySize
    games: int  # all of them
    teacher_outputs: dict[Size, TeacherOutputs] | None  # of all rows, with a teacher


class _Found(NamedTuple):
    """All rows of some games, before any are held out or get a teacher's targets."""

    rows: BySize
    numbers: Callable[[], Numbers]  # which game each row is of
    games: int
    for_teacher: Callable[[], BySize]  # the same rows with the teacher's inputs
    digest: Callable[[], str]


class RowMaker:
    """Makes rows for a network with these features."""

    def __init__(
        self,
        features: FeatureSet,
        seed: int,
        teacher: Teacher | None = None,
        held_out: float = 0.0,
        sizes: Set[Size] | None = None,
    ) -> None:
        """The seed decides how often each turn appears; `held_out` is a share of the games.

        Of files of rows only those on boards of these sizes are used; None: all.
        """
        self.features, self.held_out, self.teacher = features, held_out, teacher
        self._seed, self._sizes = seed, sizes

    def of_games(self, games: Games) -> Made:
        """The rows of games that have just been played."""
        # One thread: there are few games, and more take longer to start than to encode.
        found = self._of_games(games, threads=1)
        outputs = None if self.teacher is None else self._evaluated(found)
        return self._made(found, outputs)

    def of_file(self, piece: Piece, threads: int = 1) -> Made:
        """The rows of a file, none if it is damaged; the teacher evaluates them once.

        Raises RowsFileError.
        """
        found = self._of_file(piece, threads)
        outputs = None
        if self.teacher is not None:
            outputs = self._remembered(piece.teacher_outputs, found, self.teacher)
        return self._made(found, outputs)

    def held_out_of(self, pieces: Iterable[Piece], most: int, outputs: Path) -> list[BySize]:
        """Held out rows of these files, until there are so many; see `of_file`."""
        parts: list[_Found] = []
        count = 0
        for piece in pieces:
            if count >= most:
                break
            parts.append(_where(self._of_file(piece, 1), self._holds_out))
            count += sum(len(rows.order) for rows in parts[-1].rows.values())
        if self.teacher is None:
            return [part.rows for part in parts]
        taught = []
        for number, part in enumerate(parts):
            path = outputs.with_name(f"{outputs.name}-{number:03}{TEACHER_ENDING}")
            taught.append(_taught(part.rows, self._remembered(path, part, self.teacher)))
        return taught

    def save_teacher_outputs(
        self, shard: Path, games: Games, outputs: Mapping[Size, TeacherOutputs]
    ) -> None:
        """Keep the outputs for the games that were saved in a shard. Raises OSError."""
        assert self.teacher is not None
        of = self._label(digest_of(games), self.teacher)
        save_teacher_outputs(piece_of(shard).teacher_outputs, outputs, of)

    def _of_games(self, games: Games, threads: int) -> _Found:
        threads = min(threads, max(1, len(games.games)))

        def encoded(features: FeatureSet) -> BySize:
            return encode_games(games, features, self._seed, threads=threads)

        def numbers() -> Numbers:
            of_turn = np.repeat(games.games["number"], games.games["n_turns"])
            of_row = np.repeat(of_turn, copies_of_turns(games, self._seed))
            return {size: of_row[ordered.order] for size, ordered in rows.items()}

        rows = encoded(self.features)
        return _Found(
            rows,
            numbers,
            len(games.games),
            lambda: self._with_inputs(rows, encoded),
            lambda: digest_of(games),
        )

    def _of_file(self, piece: Piece, threads: int) -> _Found:
        if piece.path.suffix != ROWS_ENDING:
            games = read_or_set_aside(piece.path) or no_games()
            return self._of_games(self._games_on_played_sizes(games), threads)

        found = read_katago_rows(piece.path, self.features, self._seed)
        rows = self._on_played_sizes(found.rows)
        numbers = {size: found.games[size] for size in rows}

        def read(features: FeatureSet) -> BySize:
            again = read_katago_rows(piece.path, features, self._seed).rows
            return self._on_played_sizes(again)

        return _Found(
            rows,
            lambda: numbers,
            len(np.unique(np.concatenate([np.zeros(0, np.uint64), *numbers.values()]))),
            lambda: self._with_inputs(rows, read),
            lambda: f"{piece.path.name} of {piece.path.stat().st_size} bytes",
        )

    def _games_on_played_sizes(self, games: Games) -> Games:
        if self._sizes is None:
            return games
        sizes = zip(games.games["width"].tolist(), games.games["height"].tolist(), strict=True)
        return games_where(games, np.array([size in self._sizes for size in sizes], bool))

    def _on_played_sizes(self, rows: BySize) -> BySize:
        """The rows on boards that the network is trained on."""
        if self._sizes is None or self._sizes >= rows.keys():
            return rows
        kept = {size: each for size, each in rows.items() if size in self._sizes}
        orders = np.sort(np.concatenate([np.zeros(0, np.int64), *(r.order for r in kept.values())]))
        return {
            size: each._replace(order=np.searchsorted(orders, each.order))
            for size, each in kept.items()
        }

    def _with_inputs(self, rows: BySize, read: Callable[[FeatureSet], BySize]) -> BySize:
        """These rows with the inputs of the teacher."""
        assert self.teacher is not None
        features = self.teacher.evaluator.features
        return rows if features.kind == self.features.kind else read(features)

    def _remembered(
        self, path: Path, found: _Found, teacher: Teacher
    ) -> dict[Size, TeacherOutputs]:
        """The outputs in a file; if there are none, evaluates the rows now and keeps them there."""
        counts = {size: len(rows.order) for size, rows in found.rows.items()}
        of = self._label(found.digest(), teacher)
        known = load_teacher_outputs(path, of)
        if known is not None and fits(known, counts):
            return known
        outputs = self._evaluated(found)
        try:
            path.parent.mkdir(exist_ok=True)
            save_teacher_outputs(path, outputs, of)
        except OSError as error:
            say(f"{path}: cannot be written ({error.strerror}); the teacher will be asked again")
        return outputs

    def _label(self, digest: str, teacher: Teacher) -> str:
        """What a file of outputs is for: games, teacher and seed."""
        return f"{digest} by {teacher.sha256}, seed {self._seed}"

    def _evaluated(self, found: _Found) -> dict[Size, TeacherOutputs]:
        assert self.teacher is not None
        evaluator = self.teacher.evaluator
        return {
            size: evaluate_rows(evaluator, evaluator.features, ordered.rows)
            for size, ordered in found.for_teacher().items()
        }

    def _made(self, found: _Found, outputs: Mapping[Size, TeacherOutputs] | None) -> Made:
        rows = found.rows if outputs is None else _taught(found.rows, outputs)
        kept, held = rows, BySize()
        if self.held_out:
            taught = found._replace(rows=rows)
            kept = _where(taught, lambda numbers: ~self._holds_out(numbers)).rows
            held = _where(taught, self._holds_out).rows
        return Made(kept, held, found.games, None if outputs is None else dict(outputs))

    def _holds_out(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """[rows] whether they are of games that are held out; depends on their numbers alone."""
        mixed = (numbers + np.uint64(1)) * _MIX
        mixed = (mixed ^ (mixed >> _HALF)) * _MIX
        return (mixed >> _HALF).astype(np.float64) < self.held_out * 2.0**32


def _taught(rows: BySize, outputs: Mapping[Size, TeacherOutputs]) -> BySize:
    return {
        size: OrderedRows(with_teacher_targets(ordered.rows, outputs[size]), ordered.order)
        for size, ordered in rows.items()
    }


def _where(found: _Found, wanted: Callable[[NDArray[np.uint64]], NDArray[np.bool_]]) -> _Found:
    """The rows of some of the games, in their order."""
    numbers = found.numbers()
    masks = {size: wanted(each) for size, each in numbers.items()}
    left = {size: each[masks[size]] for size, each in numbers.items()}
    games = len(np.unique(np.concatenate([np.zeros(0, np.uint64), *left.values()])))

    def chosen(rows: BySize) -> BySize:
        parts = [ordered.order[masks[size]] for size, ordered in rows.items()]
        all_orders = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))
        some = BySize()
        for (size, ordered), order in zip(rows.items(), parts, strict=True):
            if len(order):
                arrays = Rows(*(array[masks[size]] for array in ordered.rows))
                some[size] = OrderedRows(arrays, np.searchsorted(all_orders, order))
        return some

    return _Found(
        chosen(found.rows),
        lambda: left,
        games,
        lambda: chosen(found.for_teacher()),
        lambda: f"{found.digest()}, some games",
    )


def joined_rows(parts: Iterable[BySize]) -> BySize:
    """All these rows, one part after the other."""
    found: dict[Size, list[OrderedRows]] = {}
    base = 0
    for part in parts:
        for size, ordered in part.items():
            found.setdefault(size, []).append(ordered._replace(order=ordered.order + base))
        base += sum(len(ordered.order) for ordered in part.values())
    return {
        size: OrderedRows(
            Rows(*map(np.concatenate, zip(*(each.rows for each in some), strict=True))),
            np.concatenate([each.order for each in some]),
        )
        for size, some in found.items()
    }
