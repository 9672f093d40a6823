"""The set `stones` shows the board and nothing else."""

from __future__ import annotations

import pytest

from tengen.features.feature_set import FEATURE_SETS
from tengen.game.position import Position
from tests.features.samples import marked

pytestmark = pytest.mark.kernel


def test_stones_are_marked_for_the_side_to_play() -> None:
    position = Position(2).play_all("A1 B2")
    found = [
        marked(FEATURE_SETS["stones"], position, f"{whose} stone")
        for whose in ("own", "opponent's")
    ]
    assert found == [{"A1"}, {"B2"}]
    assert marked(FEATURE_SETS["stones"], position, "empty point") == {"A2", "B1"}
