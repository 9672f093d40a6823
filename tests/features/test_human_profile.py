"""Profiles of players, and what networks that imitate people are told of them.

That KataGo tells them the same is shown by its answers in tests/network/test_katago_parity.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from tengen.features.human_profile import METADATA_INPUTS, metadata_rows, parse_profile
from tengen.game.color import BLACK, WHITE

MINE, OTHER = slice(6, 40), slice(40, 74)  # ranks of the side to play and of its opponent


def ranks(name: str, color: int) -> tuple[int, int]:
    row = metadata_rows(parse_profile(name), 81)[color]
    return int(row[MINE].sum()), int(row[OTHER].sum())


@pytest.mark.parametrize(
    ("name", "rank"), [("9d", 1), ("1d", 9), ("1k", 10), ("5k", 14), ("20k", 29)]
)
def test_ranks_count_down_from_nine_dan(name: str, rank: int) -> None:
    assert ranks(f"rank_{name}", BLACK) == (rank, rank)
    assert ranks(f"preaz_{name}", WHITE) == (rank, rank)


def test_two_ranks_are_black_s_and_white_s() -> None:
    assert ranks("rank_5k_3d", BLACK) == (14, 7)
    assert ranks("rank_5k_3d", WHITE) == (7, 14)
    assert parse_profile("preaz_5k_3d").played.year == 2016


def test_professionals_have_the_highest_rank_and_their_year() -> None:
    assert ranks("proyear_1980", BLACK) == (1, 1)
    assert parse_profile("proyear_1980").played.year == 1980
    old, new = (metadata_rows(parse_profile(f"proyear_{y}"), 361)[BLACK] for y in (2020, 2021))
    assert (int(old[151:167].argmax()), int(new[151:167].argmax())) == (5, 6)  # the collection


def test_only_the_size_of_the_board_differs_between_boards() -> None:
    small, large = (metadata_rows(parse_profile("rank_1d"), area) for area in (81, 361))
    assert small.shape == (3, METADATA_INPUTS)
    assert set(np.nonzero(small != large)[1]) == {86}
    assert large[BLACK, 86] == 0


NO_PROFILES = [
    *("", "rank_21k", "rank_0k", "rank_10d", "rank_05k", "rank_5K", "rank_5k_", "rank_5k_3d_1d"),
    *("proyear_1799", "proyear_2024", "proyear_1980_1990", "9d", "rank 5k", "preaz_x"),
]


@pytest.mark.parametrize("name", NO_PROFILES)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no profile of players is called"):
        parse_profile(name)
