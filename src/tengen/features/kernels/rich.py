"""Inputs for networks of our own: 22 planes with history, liberties and rules, no values beside.

All are 0 or 1 but the komi, which needs planes of floats: whole numbers cut it off.
"""

from __future__ import annotations

from tengen.features.kernels.basic import mark_moves, mark_stones
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
GLOBALS: tuple[str, ...] = ()
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
    """Fill planes[22, height, width] for the side to play; globals_[0] and scratch stay unused."""
    planes[:] = 0
    mark_stones(board, planes[_STONES:_MOVES])
    mark_moves(board, history, planes[_MOVES:_KO_BAN])
    _encode_chains(board, planes)
    _encode_terms(board, planes)


@kernel
def _encode_chains(board, planes):
    for y in range(board.height):
        for x in range(board.width):
            p = point_of(board, x, y)
            if board.color[p] == EMPTY:
                planes[_KO_BAN, y, x] = p == board.ko
            else:
                liberties = min(board.libs[board.head[p]], MOST_LIBERTIES)
                planes[_ONE_LIBERTY + liberties - 1, y, x] = 1


@kernel
def _encode_terms(board, planes):
    """What is the same all over the board: the rules, the komi and who is to play."""
    is_black = board.to_play == BLACK
    own_komi = (-board.komi if is_black else board.komi) / KOMI_SCALE
    for y in range(board.height):
        for x in range(board.width):
            planes[_TERRITORY, y, x] = board.territory
            planes[_SUPERKO, y, x] = board.ko_rule != SIMPLE_KO
            planes[_KOMI, y, x] = own_komi
            planes[_BLACK, y, x] = is_black
