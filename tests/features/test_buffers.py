"""Encoders fill the caller's buffers: larger ones, used ones, and those of small integers."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.features.feature_set import (
    FEATURE_SETS,
    KATAGO,
    KATAGO_WITHOUT_LADDERS,
    FeatureSet,
)
from tengen.features.kernels.feature_table import encode_by_kind
from tengen.features.scratch import new_feature_scratch
from tengen.game.geometry import Size
from tests.features.samples import GARBAGE, encoded, random_positions

pytestmark = pytest.mark.kernel
EVERY_SET = pytest.mark.parametrize("features", FEATURE_SETS.values(), ids=FEATURE_SETS)


def test_counts_derive_from_tables_of_different_names() -> None:
    counts = {f.name: (len(f.planes), len(f.globals)) for f in FEATURE_SETS.values()}
    assert (
        counts.items()
        >= {
            "basic": (7, 0),
            "rich": (22, 0),
            "katago": (22, 19),
            "katago without ladders": (22, 19),
        }.items()
    )
    for name, features in FEATURE_SETS.items():
        assert features.name == name
        assert len(set(features.planes)) == len(features.planes)
        assert len(set(features.globals)) == len(features.globals)


@EVERY_SET
def test_bits_say_what_planes_say(features: FeatureSet) -> None:
    scratch = new_feature_scratch()
    for position in random_positions(3, 60):
        planes, globals_ = encoded(features, position)
        height, width = position.height, position.width
        bits = np.full((height, width), GARBAGE, np.uint32)
        packed = np.full(features.packed_globals, GARBAGE, np.float32)
        features.encode_position(position, bits, packed, scratch)
        found = features.unpacked(bits[None], packed[None])
        np.testing.assert_array_equal(found[0][0], planes)
        np.testing.assert_array_equal(found[1][0], globals_)


@EVERY_SET
def test_kernels_find_each_set_by_its_kind(features: FeatureSet) -> None:
    assert [each.kind for each in FEATURE_SETS.values()] == [*range(len(FEATURE_SETS))]
    for position in random_positions(5, 10):
        boards, history = position.arrays(room=0)
        expected, found = (
            np.full((len(features.planes), position.height, position.width), GARBAGE, np.float32)
            for _ in range(2)
        )
        globals_ = np.zeros((2, len(features.globals)), np.float32)
        scratch = new_feature_scratch()
        features.encode(boards[0], history, scratch, expected, globals_[0])
        encode_by_kind(features.kind, boards[0], history, scratch, found, globals_[1])
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(globals_[1], globals_[0])


def test_without_ladders_all_else_is_the_same() -> None:
    for position in random_positions(4, 60):
        full, plain = (encoded(each, position) for each in (KATAGO, KATAGO_WITHOUT_LADDERS))
        for k, name in enumerate(KATAGO.planes):
            expected = full.planes[k] * (name not in KATAGO_WITHOUT_LADDERS.empty)
            np.testing.assert_array_equal(plain.planes[k], expected, name)
        np.testing.assert_array_equal(plain.globals, full.globals)


@EVERY_SET
def test_a_small_board_lies_in_the_corner_of_large_planes(features: FeatureSet) -> None:
    scratch = new_feature_scratch()
    for i, position in enumerate(random_positions(2, 60)):
        width, height = position.size
        room = Size(width + i % 3, height + i % 4)
        exact, padded = (
            encoded(features, position, size, scratch=scratch) for size in (None, room)
        )
        np.testing.assert_array_equal(padded.planes[:, :height, :width], exact.planes)
        assert not padded.planes[:, height:].any()
        assert not padded.planes[:, :, width:].any()
        (mask,) = features.on_board(padded.planes[None])
        assert (mask[:height, :width] == 1).all()
        assert mask.sum() == height * width
        np.testing.assert_array_equal(padded.globals, exact.globals)


@EVERY_SET
def test_planes_of_small_integers_hold_the_same(features: FeatureSet) -> None:
    scratch = new_feature_scratch()
    whole = [name not in features.uniform for name in features.planes]
    for position in random_positions(3, 60):
        floats = encoded(features, position, scratch=scratch)
        integers = encoded(features, position, dtype=np.uint8, scratch=scratch)
        assert integers.planes.dtype == np.uint8
        np.testing.assert_array_equal(integers.planes[whole], floats.planes[whole])
        np.testing.assert_array_equal(integers.globals, floats.globals)
        assert set(np.unique(floats.planes[whole])) <= {0, 1}


@EVERY_SET
def test_encoding_leaves_the_position_alone(features: FeatureSet) -> None:
    for position in random_positions(4, 20):
        boards, history = position.arrays(room=0)
        before = boards.copy(), history.copy()
        planes = np.zeros((len(features.planes), position.height, position.width), np.float32)
        globals_ = np.zeros(len(features.globals), np.float32)
        features.encode(boards[0], history, new_feature_scratch(), planes, globals_)
        for name in boards.dtype.names or ():
            np.testing.assert_array_equal(boards[name], before[0][name], name)
        np.testing.assert_array_equal(history, before[1])
