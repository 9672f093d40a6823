"""Leaves on their way to the network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.game.kernels.point_sets import words_for
from tengen.search.kernels.forest import PATH, Records


class LeafBatch(NamedTuple):
    """Leaves that wait for the network, and what it is shown of them."""

    paths: Records  # [rows] of PATH
    caught: NDArray[np.uint64]  # [rows, words] stones caught in ladders
    planes: NDArray[np.float32]  # [rows, planes, height, width]
    globals: NDArray[np.float32]  # [rows, globals]
    optimism: NDArray[np.float32]  # [rows] share of the optimistic policy
    # What a network that imitates people is shown, if that differs; else no rows.
    human_planes: NDArray[np.float32]  # [rows, planes, height, width]
    human_globals: NDArray[np.float32]  # [rows, globals]


def new_leaf_batch(
    rows: int, features: FeatureSet, size: Size, human: FeatureSet | None = None
) -> LeafBatch:
    """Room for this many waiting leaves on boards of up to this size.

    `human` are the inputs of a network that imitates people, if there is one.
    """
    human = human or features
    words = words_for(size.area) if features.sees_ladders or human.sees_ladders else 0
    human_rows = 0 if human == features else rows
    return LeafBatch(
        paths=np.zeros(rows, PATH),
        caught=np.zeros((rows, words), np.uint64),
        # Unused rows must still look like boards: all ones is a board without a border.
        planes=np.ones((rows, len(features.planes), size.height, size.width), np.float32),
        globals=np.zeros((rows, len(features.globals)), np.float32),
        optimism=np.zeros(rows, np.float32),
        human_planes=np.ones((human_rows, len(human.planes), size.height, size.width), np.float32),
        human_globals=np.zeros((human_rows, len(human.globals)), np.float32),
    )
