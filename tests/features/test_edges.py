"""The `edges` set."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.features.feature_set import FEATURE_SETS
from tengen.game.position import Position

pytestmark = pytest.mark.kernel


def test_lines_are_counted_from_the_edge() -> None:
    edges = FEATURE_SETS["edges"]
    planes = np.zeros((6, 5, 5), np.float32)
    edges.encode_position(Position(5).play("C3"), planes, np.zeros(0, np.float32))
    assert planes[4].sum() == 16
    assert planes[5].sum() == 8
    assert planes[3, 2, 2] == planes[1, 2, 2] == 1
