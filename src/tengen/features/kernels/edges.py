"""The `edges` set: stones, the last move, and the lines of the board."""

from __future__ import annotations

from tengen.features.kernels.basic import mark_moves, mark_stones
from tengen.features.kernels.planes import mark
from tengen.jit import kernel

PLANES = ("own stone", "opponent's stone", "empty point", "last move", "first line", "second line")
_MOVES = PLANES.index("last move")
_LINES = PLANES.index("first line")


@kernel
def encode(board, history, scratch, planes, globals_):  # noqa: ARG001
    """Fill 6 planes for the side to play; the set has no globals."""
    planes[:] = 0
    mark_stones(board, planes, 0)
    mark_moves(board, history, planes, _MOVES, 1)
    for y in range(board.height):
        for x in range(board.width):
            line = min(x, y, board.width - 1 - x, board.height - 1 - y)
            if line < 2:
                mark(planes, _LINES + line, y, x)
