"""The replay writer: games added in the background, and rows restored from shards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tengen.features.feature_set import KATAGO_WITHOUT_LADDERS
from tengen.game.geometry import Size
from tengen.replay.shard import shard_files, write_shard
from tengen.runs.folder import RunFolder
from tengen.runs.replay_writer import ReplayWriter
from tengen.runs.row_maker import RowMaker, piece_of
from tengen.training.params import WindowParams
from tengen.training.replay_buffer import ReplayBuffer
from tests.replay.games import random_games


@pytest.fixture
def writer() -> Iterator[ReplayWriter]:
    features = KATAGO_WITHOUT_LADDERS
    buffer = ReplayBuffer(1000, {Size(4, 4): 1}, features)
    with ReplayWriter(buffer, RowMaker(features, 1), WindowParams()) as made:
        yield made


def test_games_added_in_the_background_are_all_there_once_it_has_finished(
    writer: ReplayWriter,
) -> None:
    games = random_games(8, seed=2, sides=(4,))
    writer.start(writer.add, games)
    writer.start(writer.add, games)
    writer.finish()
    assert writer.games == 2 * len(games.games)
    assert writer.buffer.total == writer.buffer.window > 0
    assert len(writer.take_unsaved().games.games) == writer.games


def test_errors_in_the_background_are_raised_by_the_next_call(writer: ReplayWriter) -> None:
    games = random_games(8, seed=2, sides=(5,))
    writer.start(writer.add, games)
    with pytest.raises(ValueError, match="rows of 5x5 boards"):
        writer.finish()
    writer.finish()


def test_restored_rows_are_drawn_as_if_they_had_just_been_added(folder: RunFolder) -> None:
    features, window = KATAGO_WITHOUT_LADDERS, WindowParams(start=60)
    sizes = {Size(4, 4): 1.0, Size(5, 5): 2.0, Size(4, 5): 1.0}

    def new_writer() -> ReplayWriter:
        return ReplayWriter(ReplayBuffer(300, sizes, features), RowMaker(features, 1), window)

    with new_writer() as first, new_writer() as second:
        for portion in range(12):
            games = random_games(4, seed=portion, sides=list(sizes), first=4 * portion)
            first.add(games)
            write_shard(folder.shards, games, {})
        shards = map(piece_of, reversed(shard_files(folder.shards)))
        second.restore(shards, first.buffer.total, first.games)
        assert first.buffer.window < first.buffer.total
        assert first.buffer.total == second.buffer.total
        for size, ring in first.buffer.rings.items():
            assert ring.window == second.buffer.rings[size].window > 0
            one, other = (w.buffer.rings[size].draw(64, torch.tensor(3)) for w in (first, second))
            for mine, theirs in zip(one, other, strict=True):
                assert torch.equal(mine, theirs)
        for step in range(100):
            assert first.buffer.size_at(step) == second.buffer.size_at(step)
