"""Feature sets by name: how many inputs they have, and how they see a position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels.feature_table import SETS, Inputs
from tengen.features.scratch import TURNS_OF_LADDERS, FeatureScratch, new_feature_scratch
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.position import Position


class FeatureSet(Inputs):
    """A feature set of the table in kernels/feature_table.py."""

    __slots__ = ()

    @property
    def uniform_planes(self) -> list[int]:
        """The indices of the uniform planes."""
        return [self.planes.index(plane) for plane in self.uniform]

    @property
    def packed_globals(self) -> int:
        """How many globals go with bits: the set's own, then one for each uniform plane."""
        return len(self.globals) + len(self.uniform)

    def on_board(self, planes: Any) -> Any:
        """The mask [batch, height, width] of planes, as array or tensor like these."""
        return planes[:, 0] if self.mask_planes == 1 else planes[:, : self.mask_planes].sum(1)

    def unpacked(
        self, bits: NDArray[np.uint32], packed: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Planes and globals from bits[batch, height, width] and packed[batch, packed_globals]."""
        shifts = np.arange(len(self.planes), dtype=np.uint32)[:, None, None]
        planes = (bits[:, None] >> shifts & np.uint32(1)).astype(np.float32)
        own = len(self.globals)
        planes[:, self.uniform_planes] *= packed[:, own:, None, None]
        return planes, packed[:, :own]

    def encode_position(
        self,
        position: Position,
        planes: NDArray[Any],
        globals: NDArray[np.float32],  # noqa: A002
        scratch: FeatureScratch | None = None,
    ) -> None:
        """Encode a position into planes or bits, and globals, as `Inputs.encode` does."""
        scratch = scratch or new_feature_scratch()
        if self.sees_ladders:
            for earlier in _line_back(position):
                turn = position.move_number - earlier.move_number
                boards, _ = earlier.arrays(room=0)
                mark_ladders(boards[0], scratch.ladder, scratch.caught[turn], scratch.catching)
        boards, history = position.arrays(room=0)
        self.encode(boards[0], history, scratch, planes, globals)


def _line_back(position: Position) -> Iterator[Position]:
    """The positions of one and two moves ago, as far as there are any since the last set-up."""
    for turn in range(1, min(TURNS_OF_LADDERS, position.move_number + 1)):
        earlier: Position = position
        while earlier.move_number > position.move_number - turn:
            earlier = earlier.undo()  # also undoes a resignation, which is no move
        yield earlier


FEATURE_SETS = {inputs.name: FeatureSet(*inputs) for inputs in SETS}
BASIC = FEATURE_SETS["basic"]
RICH = FEATURE_SETS["rich"]
KATAGO = FEATURE_SETS["katago"]
KATAGO_WITHOUT_LADDERS = FEATURE_SETS["katago without ladders"]
KATAGO_WITH_SUICIDE_AREAS = FEATURE_SETS["katago with suicide areas"]
KATAGO_OLDER = FEATURE_SETS["katago before version 8"]
