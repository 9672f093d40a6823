"""Leaves on their way to the network, and what a thread needs to find them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureScratch, FeatureSet, new_feature_scratch
from tengen.game.board import Boards, new_boards
from tengen.game.geometry import MAX_POINTS, Size
from tengen.search.forest import ROW, Records, ladder_words


class Rows(NamedTuple):
    """Leaves that wait for the network, and what it is shown of them."""

    rows: Records  # [rows] of ROW
    caught: NDArray[np.uint64]  # [rows, words] stones caught in ladders
    planes: NDArray[np.float32]  # [rows, planes, height, width]
    globals: NDArray[np.float32]  # [rows, globals]


class Walker(NamedTuple):
    """What one thread walks through trees with."""

    boards: Boards  # [1]
    history: NDArray[np.uint64]  # [moves]
    scratch: FeatureScratch
    shares: NDArray[np.float32]  # [MAX_POINTS] of a policy, in no scale


def new_rows(rows: int, features: FeatureSet, size: Size) -> Rows:
    """Room for this many waiting leaves on boards of up to this size."""
    words = ladder_words(size.area) if features.sees_ladders else 0
    return Rows(
        rows=np.zeros(rows, ROW),
        caught=np.zeros((rows, words), np.uint64),
        planes=np.zeros((rows, len(features.planes), size.height, size.width), np.float32),
        globals=np.zeros((rows, len(features.globals)), np.float32),
    )


def new_walker(moves: int) -> Walker:
    """What a thread needs, for games of up to this many moves."""
    return Walker(
        new_boards(1),
        np.zeros(moves + 1, np.uint64),
        new_feature_scratch(),
        np.zeros(MAX_POINTS, np.float32),
    )
