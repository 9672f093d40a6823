"""What a run remembers, where games are learned from beside the play."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tengen.features.feature_set import KATAGO_WITHOUT_LADDERS
from tengen.replay.window import WindowParams
from tengen.runs.memory import Memory
from tengen.training.rows_on_device import RowsOnDevice
from tests.replay.games import random_games


@pytest.fixture
def memory() -> Iterator[Memory]:
    features = KATAGO_WITHOUT_LADDERS
    rows = RowsOnDevice(1000, 4, features)
    with Memory(rows, features, WindowParams(), seed=1) as made:
        yield made


def test_games_added_beside_the_play_are_all_there_once_it_has_settled(memory: Memory) -> None:
    games = random_games(8, seed=2, sides=(4,))
    memory.add_beside(games)
    memory.add_beside(games)
    memory.settle()
    assert memory.games == 2 * len(games.games)
    assert memory.rows.total == memory.rows.window > 0
    assert len(memory.take_unsaved().games) == memory.games


def test_what_is_wrong_with_games_added_beside_the_play_is_said_later(memory: Memory) -> None:
    games = random_games(8, seed=2, sides=(5,))
    memory.add_beside(games)
    with pytest.raises(ValueError, match="does not fit rows of side 4"):
        memory.settle()
    memory.settle()
