"""The `rich` set: 22 planes with history, liberties and rules, and no globals.

All planes are 0 or 1 except the komi's, which is uniform.
"""

from __future__ import annotations

from tengen.features.kernels.basic import mark_moves, mark_stones
from tengen.features.kernels.planes import fill_uniform, mark, mark_if
from tengen.game.color import BLACK, EMPTY
from tengen.game.kernels.board import SIMPLE_KO, point_of
from tengen.jit import kernel

TURNS_OF_HISTORY = 8
MOST_LIBERTIES = 6  # this many and more are not told apart
KOMI_SCALE = 15.0

PLANES = (
    "own stone",
    "opponent's stone",
    "empty point",
    *(f"move {turn} turns ago" for turn in range(1, TURNS_OF_HISTORY + 1)),
    "ko ban",
    *(f"chain has {liberties} liberties" for liberties in range(1, MOST_LIBERTIES)),
    f"chain has {MOST_LIBERTIES} liberties or more",
    "territory scoring",
    "superko",
    "own komi",
    "Black to play",
)
_STONES = PLANES.index("own stone")
_MOVES = PLANES.index("move 1 turns ago")
_KO_BAN = PLANES.index("ko ban")
_ONE_LIBERTY = PLANES.index("chain has 1 liberties")
_TERRITORY = PLANES.index("territory scoring")
_SUPERKO = PLANES.index("superko")
_KOMI = PLANES.index("own komi")
_BLACK = PLANES.index("Black to play")


@kernel
def encode(board, history, scratch, planes, globals_):  # noqa: ARG001
    """Fill 22 planes for the side to play; with bits, globals_[0] is the komi's number."""
    planes[:] = 0
    mark_stones(board, planes, _STONES)
    mark_moves(board, history, planes, _MOVES, TURNS_OF_HISTORY)
    _encode_chains(board, planes)
    _encode_terms(board, planes)
    own_komi = (-board.komi if board.to_play == BLACK else board.komi) / KOMI_SCALE
    fill_uniform(own_komi, board, planes, _KOMI, globals_, 0)


@kernel
def _encode_chains(board, planes):
    for y in range(board.height):
        for x in range(board.width):
            p = point_of(board, x, y)
            stone = board.color[p] != EMPTY
            liberties = min(board.libs[board.head[p]], MOST_LIBERTIES) if stone else 1
            mark_if(stone, planes, _ONE_LIBERTY + liberties - 1, y, x)
    if board.ko:
        mark(planes, _KO_BAN, board.ko // board.stride - 1, board.ko % board.stride - 1)


@kernel
def _encode_terms(board, planes):
    """Mark, all over the board, the rules and who is to play."""
    for y in range(board.height):
        for x in range(board.width):
            mark_if(board.territory != 0, planes, _TERRITORY, y, x)
            mark_if(board.ko_rule != SIMPLE_KO, planes, _SUPERKO, y, x)
            mark_if(board.to_play == BLACK, planes, _BLACK, y, x)
