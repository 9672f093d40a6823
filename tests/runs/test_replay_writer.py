"""The replay writer, adding games in the background."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tengen.features.feature_set import KATAGO_WITHOUT_LADDERS
from tengen.runs.replay_writer import ReplayWriter
from tengen.training.params import WindowParams
from tengen.training.replay_buffer import ReplayBuffer
from tests.replay.games import random_games


@pytest.fixture
def writer() -> Iterator[ReplayWriter]:
    features = KATAGO_WITHOUT_LADDERS
    buffer = ReplayBuffer(1000, 4, features)
    with ReplayWriter(buffer, features, WindowParams(), seed=1) as made:
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
    assert len(writer.take_unsaved().games) == writer.games


def test_errors_in_the_background_are_raised_by_the_next_call(writer: ReplayWriter) -> None:
    games = random_games(8, seed=2, sides=(5,))
    writer.start(writer.add, games)
    with pytest.raises(ValueError, match="does not fit rows of side 4"):
        writer.finish()
    writer.finish()
