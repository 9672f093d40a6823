from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tengen.selfplay.record import check_games, games_where, joined, no_games, split_games
from tests.replay.games import random_games


def test_games_as_they_are_played_hold_together() -> None:
    check_games(random_games(30))
    check_games(no_games())


def test_wanted_games_keep_all_that_is_theirs() -> None:
    games = random_games(9)
    wanted = np.arange(9) % 3 != 1
    single = split_games(games, 1)
    expected = joined([each for each, is_wanted in zip(single, wanted, strict=True) if is_wanted])
    for found, table in zip(games_where(games, wanted), expected, strict=True):
        np.testing.assert_array_equal(found, table)


@pytest.mark.parametrize(
    ("table", "field", "value", "message"),
    [
        ("games", "width", 0, "the width of a board"),
        ("games", "width", 20, "the width of a board"),
        ("games", "height", -1, "the height of a board"),
        ("games", "n_turns", -1, "the number of turns"),
        ("games", "n_targets", 10**6, "the number of targets"),
        ("games", "end", 9, "the end of a game"),
        ("games", "score", np.nan, "the score of a game"),
        ("turns", "move", 82, "the point of a move"),
        ("turns", "color", 0, "the colour of a move"),
        ("turns", "color", 3, "the colour of a move"),
        ("turns", "kind", 4, "the kind of a turn"),
        ("turns", "weight", -0.5, "the weight of a turn"),
        ("turns", "weight", np.nan, "the weight of a turn"),
        ("turns", "weight", np.inf, "the weight of a turn"),
        ("turns", "value", np.nan, r"a search result \(value\)"),
        ("turns", "lead", np.inf, r"a search result \(lead\)"),
        ("turns", "n_targets", 60000, "the number of targets of a turn"),
        ("targets", "move", 82, "the move of a target"),
    ],
)
def test_what_cannot_be_is_named(table: str, field: str, value: Any, message: str) -> None:
    games = random_games(5, sides=(9,))
    getattr(games, table)[field][1] = value
    with pytest.raises(ValueError, match=f"{message}.* is impossible"):
        check_games(games)


@pytest.mark.parametrize(
    ("field", "value"), [("komi", np.nan), ("ko_rule", 3), ("tax", -1), ("button", 2)]
)
def test_terms_that_cannot_be_are_refused(field: str, value: float) -> None:
    games = random_games(5)
    games.games["terms"][field][1] = value
    with pytest.raises(ValueError, match="is impossible"):
        check_games(games)


def test_owners_that_cannot_be_are_refused() -> None:
    games = random_games(5)
    games.ownership[3] = 2
    with pytest.raises(ValueError, match="the owner of a point is impossible"):
        check_games(games)


def test_targets_of_one_game_are_not_anothers() -> None:
    games = random_games(5, sides=(9,))
    games.games["n_targets"][0] -= 1
    games.games["n_targets"][1] += 1
    with pytest.raises(ValueError, match="the number of targets of a turn is impossible"):
        check_games(games)
