"""A set of inputs: its names, from which all counts derive, and the kernel that writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels import basic, katago, rich
from tengen.features.kernels import encode as rows
from tengen.features.scratch import TURNS_OF_LADDERS, FeatureScratch, new_feature_scratch
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.position import Position
from tengen.jit import Kernel


def _line_back(position: Position) -> Iterator[Position]:
    """The positions of one and two moves ago, as far as there are any since the last set-up."""
    for turn in range(1, min(TURNS_OF_LADDERS, position.move_number + 1)):
        earlier: Position = position
        while earlier.move_number > position.move_number - turn:
            earlier = earlier.undo()  # a resignation is undone, too, but is no move
        yield earlier


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
    kind: int  # how `encode_by_kind` calls it
    empty: tuple[str, ...] = ()  # planes that are never filled

    @property
    def has_bits(self) -> bool:
        """Are all planes of 0 and 1, so that `encode` can write them as bits, too?"""
        return self.kind in (rows.KATAGO, rows.KATAGO_WITHOUT_LADDERS)

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
            for earlier in _line_back(position):
                turn = position.move_number - earlier.move_number
                boards, _ = earlier.arrays(room=0)
                mark_ladders(boards[0], scratch.ladder, scratch.caught[turn], scratch.catching)
        boards, history = position.arrays(room=0)
        self.encode(boards[0], history, scratch, planes, globals)


BASIC = FeatureSet("basic", basic.PLANES, basic.GLOBALS, basic.encode, False, rows.BASIC)
RICH = FeatureSet("rich", rich.PLANES, rich.GLOBALS, rich.encode, False, rows.RICH)
KATAGO = FeatureSet("katago", katago.PLANES, katago.GLOBALS, katago.encode, True, rows.KATAGO)
# Ladders take longer to read than all else; on small boards a network sees them by itself.
KATAGO_WITHOUT_LADDERS = FeatureSet(
    "katago without ladders",
    katago.PLANES,
    katago.GLOBALS,
    katago.encode_without_ladders,
    False,
    rows.KATAGO_WITHOUT_LADDERS,
    empty=tuple(plane for plane in katago.PLANES if "ladder" in plane),
)
FEATURE_SETS = {
    features.name: features for features in (BASIC, RICH, KATAGO, KATAGO_WITHOUT_LADDERS)
}
