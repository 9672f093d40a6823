from __future__ import annotations

import numpy as np
import pytest

from tengen.runs.packed_games import packed_games, unpacked_games
from tests.replay.games import random_games


def test_games_of_all_sizes_and_rules_are_kept_with_rounded_search_results() -> None:
    games = random_games(40)
    found = unpacked_games(packed_games(games))
    for name in ("games", "targets", "ownership"):
        np.testing.assert_array_equal(getattr(found, name), getattr(games, name))
    steps = {"value": 256, "no_result": 256, "score": 16, "lead": 16, "weight": 64}
    for name in games.turns.dtype.names or ():
        error = np.abs(found.turns[name].astype(float) - games.turns[name].astype(float)).max()
        assert error <= (0.5 / steps[name] + 1e-4 if name in steps else 0), name


def test_games_that_are_cut_or_of_another_layout_are_refused() -> None:
    content = packed_games(random_games(3))
    with pytest.raises(ValueError, match="cannot be read"):
        unpacked_games(content[:-5])
    with pytest.raises(ValueError, match="its games have other fields than this version's"):
        unpacked_games(content.replace(b"'move'", b"'mvoe'"))
