"""Ranks of levels: where they are known, and what the Elo between them is worth."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tengen.engine.level_ranks import MEASURED, Rank, rank_at, rank_of
from tengen.engine.levels import LEVELS, level_named
from tengen.game.geometry import Size


def elo_between(lower: float, higher: float) -> float:
    """The Elo between two of the federation's ratings, summed up point by point."""
    odds = sum(1 / (205 - (rating + 0.5) / 20) for rating in range(int(lower), int(higher)))
    return 400 * odds / math.log(10)


@pytest.mark.parametrize(
    ("rating", "rank"),
    [
        (1400, Rank(7, dan=False)),
        (100, Rank(20, dan=False)),
        (-900, Rank(30, dan=False)),
        (2000, Rank(1, dan=False)),
        (2100, Rank(1, dan=True)),
        (2500, Rank(5, dan=True)),
    ],
)
def test_ranks_are_as_far_apart_as_in_the_federations_ratings(rating: int, rank: Rank) -> None:
    sign = 1 if rating >= 1400 else -1
    elo = sign * elo_between(min(rating, 1400), max(rating, 1400))
    first_day = -elo_between(-900, 1400)
    for near in (-20, 0, 20):  # within half a rank, which is 34 Elo or more
        assert rank_at(elo + near, first_day) == rank


def test_both_players_that_stand_for_ranks_have_theirs_on_every_board() -> None:
    for first_day in (-900, -1500, -3000):
        assert str(rank_at(0, first_day)) == "7 kyu"
        assert str(rank_at(first_day, first_day)) == "30 kyu"
        assert str(rank_at(1000, first_day)) == str(rank_at(1000, -1500))
    assert str(rank_at(5000, -1500)) == "9 dan"
    assert str(rank_at(-2600, -1500)) == "30 kyu"  # nobody is told a rank below the beginner's


def test_only_what_was_measured_has_a_rank() -> None:
    casual = level_named("casual")
    assert rank_of(casual, "tengen-9x9", Size(9, 9)) is not None
    assert rank_of(casual, "tengen-9x9", Size(13, 13)) is None
    assert rank_of(casual, "tengen-9x9", Size(9, 13)) is None
    assert rank_of(casual, "g170-b6c96", Size(9, 9)) is None
    assert rank_of(level_named("human:5k"), "tengen-9x9", Size(9, 9)) is None


@pytest.mark.parametrize(("network", "side"), MEASURED)
def test_every_level_was_measured_and_each_is_stronger_than_the_one_before(
    network: str, side: int
) -> None:
    measured = MEASURED[network, side].levels
    assert list(measured) == [level.id for level in LEVELS]
    assert all(weaker < stronger for weaker, stronger in pairwise(measured.values()))
