"""A set of inputs: its names, from which all counts derive, and the kernel that writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features import katago
from tengen.game.geometry import MAX_POINTS
from tengen.game.ladder import LadderScratch, mark_ladders, new_ladder_scratch
from tengen.game.life import new_life_scratch
from tengen.game.position import Position
from tengen.jit import Kernel

TURNS_OF_LADDERS = 3  # now, one and two turns ago


class FeatureScratch(NamedTuple):
    """Working memory of one thread that encodes positions."""

    life: np.ndarray[tuple[int], np.dtype[np.void]]  # [1]
    ladder: LadderScratch
    # [TURNS_OF_LADDERS, MAX_POINTS] stones caught in ladders: row 0 is written by the encoder, rows
    # 1 and 2 by its caller, who knows the boards of one and two turns ago.
    caught: NDArray[np.uint8]
    catching: NDArray[np.uint8]  # [MAX_POINTS]


def new_feature_scratch() -> FeatureScratch:
    """Working memory for one thread."""
    return FeatureScratch(
        new_life_scratch(1),
        new_ladder_scratch(),
        np.zeros((TURNS_OF_LADDERS, MAX_POINTS), np.uint8),
        np.zeros(MAX_POINTS, np.uint8),
    )


@dataclass(frozen=True)
class FeatureSet:
    """What a network sees."""

    name: str
    planes: tuple[str, ...]
    globals: tuple[str, ...]
    # encode(board, history, scratch, planes[planes, height, width], globals[globals]) fills both;
    # boards smaller than the planes lie in their upper left corner.
    encode: Kernel
    sees_ladders: bool

    def encode_position(
        self,
        position: Position,
        planes: NDArray[Any],
        globals: NDArray[np.float32],  # noqa: A002
        scratch: FeatureScratch | None = None,
    ) -> None:
        """Encode a position into planes[planes, height, width] and globals[globals]."""
        scratch = scratch or new_feature_scratch()
        if self.sees_ladders:
            earlier: Position | None = position
            for turn in range(1, TURNS_OF_LADDERS):
                earlier = earlier.previous if earlier is not None else None
                if earlier is not None:
                    boards, _ = earlier.arrays(room=0)
                    mark_ladders(boards[0], scratch.ladder, scratch.caught[turn], scratch.catching)
        boards, history = position.arrays(room=0)
        self.encode(boards[0], history, scratch, planes, globals)


KATAGO = FeatureSet("katago", katago.PLANES, katago.GLOBALS, katago.encode, sees_ladders=True)
FEATURE_SETS = {features.name: features for features in (KATAGO,)}
