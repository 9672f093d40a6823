"""The `stones` set: the board as it stands, in three planes of 0 and 1."""

from __future__ import annotations

from tengen.features.kernels.basic import mark_stones
from tengen.jit import kernel

PLANES = ("own stone", "opponent's stone", "empty point")


@kernel
def encode(board, history, scratch, planes, globals_):  # noqa: ARG001
    """Fill 3 planes for the side to play; the set has no globals."""
    planes[:] = 0
    mark_stones(board, planes, 0)
