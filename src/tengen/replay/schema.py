"""The schema of a training row: each field's name, type and shape, declared once.

Arrays on the host, the replay buffer on the device and batches all have these fields: `Rows` of
NumPy arrays, `Rows` of tensors. To add a target, declare it here, fill it in `kernels/encode.py`,
and give it a loss in `tengen.training.heads_and_losses`.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated, Any, Generic, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tengen.features.feature_set import FeatureSet
from tengen.replay.kernels.encode import HORIZON_SCALES

HORIZONS = len(HORIZON_SCALES)

Array = TypeVar("Array")


class Layout(Enum):
    """Shapes that depend on the board or on the feature set."""

    POINTS = auto()  # [H, W] turned with the board
    MOVES = auto()  # [H * W + 1] turned with the board; y * W + x, the pass last
    GLOBALS = auto()  # [packed globals of the feature set]; in batches [globals]


class Field(NamedTuple):
    """What one field holds."""

    dtype: DTypeLike
    shape: Layout | tuple[int, ...]  # of one row; a tuple is the same for all boards

    def shape_on(self, side: int, features: FeatureSet) -> tuple[int, ...]:
        """The shape of one row, for boards of up to this side."""
        match self.shape:
            case Layout.POINTS:
                return side, side
            case Layout.MOVES:
                return (side * side + 1,)
            case Layout.GLOBALS:
                return (features.packed_globals,)
        return self.shape


class Rows(NamedTuple, Generic[Array]):
    """Training rows, all from the view of the side to play; boards lie in the upper left corner."""

    # Bit k of a point is plane k of the inputs; in batches [planes, H, W].
    planes: Annotated[Array, Field(np.uint32, Layout.POINTS)]
    globals: Annotated[Array, Field(np.float32, Layout.GLOBALS)]
    policy: Annotated[Array, Field(np.float16, Layout.MOVES)]  # sums to 1
    reply: Annotated[Array, Field(np.float16, Layout.MOVES)]  # the next turn's policy, or all 0
    value: Annotated[Array, Field(np.float32, (3,))]  # win, loss, no result; a draw is half a win
    score: Annotated[Array, Field(np.float32, ())]  # final points; 0 where nothing was counted
    # Exponential averages of the values and scores that the searches found from this turn on, the
    # final result last. A search has 1 / (1 + area * scale) of the weight not yet given.
    short_values: Annotated[Array, Field(np.float32, (HORIZONS, 3))]
    short_scores: Annotated[Array, Field(np.float32, (HORIZONS,))]
    search_value: Annotated[Array, Field(np.float32, (3,))]  # of this turn's search
    lead: Annotated[Array, Field(np.float32, ())]  # final points that the search expects
    ownership: Annotated[Array, Field(np.int8, Layout.POINTS)]  # 1 own, -1 the opponent's, else 0
    size: Annotated[Array, Field(np.uint8, (2,))]  # width and height of the board


TrainingRows: TypeAlias = Rows[NDArray[Any]]

FIELDS: dict[str, Field] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Rows, include_extras=True).items()
}


def new_rows(count: int, features: FeatureSet, side: int) -> TrainingRows:
    """Rows of zeros for boards of up to this side."""
    return Rows(
        *(
            np.zeros((count, *field.shape_on(side, features)), field.dtype)
            for field in FIELDS.values()
        )
    )
