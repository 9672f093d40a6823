"""The clean-up phases of territory scoring (KataGo's encore), in which what is dead is captured.

Two passes end the main phase, two more the first clean-up, and two more the second one and the
game. As in the main phase, each stone played in the first clean-up costs a point; in the second one
stones cost nothing, and what was on the board when it began decides whose stones count.

In a clean-up kos are fought without threats elsewhere: a stone that takes a ko is blocked, and the
opponent must first spend a move on the block (a pass for this ko), after which it may be retaken.
Nobody takes a ko twice in one position (`moves.took_before`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import EMPTY, WALL
from tengen.game.kernels.board import (
    SECOND_CLEAN_UP,
    ZOBRIST,
    n_points,
    neighbours,
    opponent,
    play_stone,
)
from tengen.jit import kernel

# Bits of `board.seen` above those of the colours: a blocked ko stone; the stone at the start of the
# second clean-up.
_BLOCKED = np.uint8(4)
_START_SHIFT = np.uint8(3)

NOWHERE = 0  # no point: index 0 is border


@kernel(inline=True)
def is_last_phase(board):
    """Whether the end of this phase is the end of the game: always under area scoring."""
    return not board.territory or board.phase == SECOND_CLEAN_UP


@kernel(inline=True)
def start_color(board, p):
    """The stone at p when the second clean-up began; before that the one that is there now."""
    if board.phase == SECOND_CLEAN_UP:
        return np.int8(board.seen[p] >> _START_SHIFT)
    return board.color[p]


@kernel(inline=True)
def is_blocked(board, p):
    """Whether the stone at p took a ko and may not be taken back yet."""
    return board.seen[p] & _BLOCKED != 0


@kernel
def begin_clean_up(board):
    """Go on to the next phase."""
    board.phase += 1
    board.blocks = np.uint64(0)
    for p in range(n_points(board)):
        board.seen[p] &= ~_BLOCKED
        if board.phase == SECOND_CLEAN_UP and board.color[p] != WALL:
            board.seen[p] |= np.uint8(board.color[p]) << _START_SHIFT


@kernel
def ko_stone(board, p):
    """The stone that the side to play would take as a ko by playing on p, or NOWHERE."""
    if board.color[p] != EMPTY:
        return np.int64(NOWHERE)
    taken = np.int64(NOWHERE)
    for q in neighbours(board, p):
        if board.color[q] == WALL:
            continue
        if board.color[q] != opponent(board.to_play):
            return np.int64(NOWHERE)
        if board.libs[board.head[q]] == 1:
            if taken != NOWHERE or board.stones[board.head[q]] != 1:
                return np.int64(NOWHERE)
            taken = np.int64(q)
    return taken


@kernel
def block_at(board, p):
    """The blocked ko stone that a move on p would unblock, or NOWHERE.

    Such a move takes nothing: it is a pass for this ko. It may name the stone itself, too.
    """
    if board.color[p] == opponent(board.to_play):
        head = board.head[p]
        takes = board.stones[head] == 1 and board.libs[head] == 1
        return np.int64(p) if takes and is_blocked(board, p) else np.int64(NOWHERE)
    taken = ko_stone(board, p)
    return taken if taken != NOWHERE and is_blocked(board, taken) else np.int64(NOWHERE)


@kernel
def play_in_clean_up(board, p):
    """Play a stone on p, or lift a block there; does not update the history."""
    block = block_at(board, p)
    if block != NOWHERE:
        _toggle_block(board, block)
        return
    black, white = board.captured[1], board.captured[2]
    play_stone(board, p, board.to_play)
    if board.phase == SECOND_CLEAN_UP:
        board.captured[1], board.captured[2] = black, white
    if board.ko:
        board.ko = 0
        if not is_blocked(board, p):
            _toggle_block(board, p)
    if board.blocks:
        for q in range(n_points(board)):
            if board.color[q] == EMPTY and is_blocked(board, q):
                _toggle_block(board, q)


@kernel(inline=True)
def _toggle_block(board, p):
    board.seen[p] ^= _BLOCKED
    board.blocks ^= ZOBRIST[EMPTY, p]


def second_start(board: Any) -> NDArray[np.uint8]:
    """[MAX_POINTS] the colours at the start of the second clean-up; 0 before it."""
    found: NDArray[np.uint8] = board["seen"] >> _START_SHIFT
    return found
