"""Working memory for encoding positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.kernels.ladder import LadderScratch, new_ladder_scratch
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.point_sets import MAX_WORDS

TURNS_OF_LADDERS = 3  # now, one and two turns ago


class FeatureScratch(NamedTuple):
    """Working memory of one thread that encodes positions."""

    life: np.ndarray[tuple[int], np.dtype[np.void]]  # [1]
    ladder: LadderScratch
    # [TURNS_OF_LADDERS, MAX_WORDS] places of stones caught in ladders. The encoder writes row 0;
    # its caller, which has the boards of one and two turns ago, writes rows 1 and 2.
    caught: NDArray[np.uint64]
    catching: NDArray[np.uint64]  # [3, MAX_WORDS] by colour: places where its chains are caught


def new_feature_scratch() -> FeatureScratch:
    """Working memory for one thread."""
    return FeatureScratch(
        new_life_scratch(1),
        new_ladder_scratch(),
        np.zeros((TURNS_OF_LADDERS, MAX_WORDS), np.uint64),
        np.zeros((3, MAX_WORDS), np.uint64),
    )
