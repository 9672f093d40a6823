"""Turned and mirrored positions look turned and mirrored, in every set of inputs."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.features.feature_set import FEATURE_SETS, KATAGO
from tengen.features.scratch import new_feature_scratch
from tengen.game.geometry import Symmetry, symmetry_points
from tengen.game.position import Position
from tests.features.samples import WITHOUT_COMPILER, Encoded, encoded, random_positions

pytestmark = pytest.mark.kernel
POSITIONS = 25 if WITHOUT_COMPILER else 300


def turned(encoding: Encoded, position: Position, symmetry: Symmetry) -> Encoded:
    size = symmetry.size(position.size)
    planes = encoding.planes.reshape(len(encoding.planes), -1)
    places = symmetry_points(symmetry, position.size)
    return Encoded(planes[:, places].reshape(-1, size.height, size.width), encoding.globals)


def test_all_symmetries_commute_with_encoding() -> None:
    scratch = new_feature_scratch()
    seen = {name: np.zeros(len(f.planes), np.int64) for name, f in FEATURE_SETS.items()}
    for position in random_positions(1, POSITIONS):
        symmetric = [(symmetry, position.transformed(symmetry)) for symmetry in Symmetry]
        for name, features in FEATURE_SETS.items():
            straight = encoded(features, position, scratch=scratch)
            seen[name] += straight.planes.any((1, 2))
            for symmetry, other in symmetric:
                mine = encoded(features, other, scratch=scratch)
                expected = turned(straight, position, symmetry)
                where = f"{name}, {symmetry.name}\n{position}"
                np.testing.assert_array_equal(mine.planes, expected.planes, where)
                np.testing.assert_array_equal(mine.globals, expected.globals, where)
    if not WITHOUT_COMPILER:
        # Only what KataGo fills in clean-up phases stayed empty: see test_katago_clean_up.py.
        never = {"ko recapture block", "unused"} | {p for p in KATAGO.planes if "clean-up" in p}
        for name, features in FEATURE_SETS.items():
            empty = {plane for plane, n in zip(features.planes, seen[name], strict=True) if n == 0}
            unused = never if features.planes == KATAGO.planes else set()
            assert empty == unused | set(features.empty)
