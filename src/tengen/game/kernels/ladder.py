"""Ladder reading: whether a sequence of ataris captures a chain with one or two liberties.

The answers equal those of KataGo's reader, since its networks were trained on them: the attacker
always plays one of the chain's two liberties, the defender extends or captures, any ko counts as
an escape, nobody plays suicide, and a search that exceeds its budget counts as not caught.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import EMPTY, WALL
from tengen.game.geometry import MAX_AREA
from tengen.game.kernels.board import (
    Boards,
    copy_board,
    is_suicide,
    n_points,
    neighbours,
    new_boards,
    opponent,
    play_stone,
    put_stone,
)
from tengen.game.kernels.point_sets import add_bit, bit_of
from tengen.jit import kernel

NODE_BUDGET = 25_000
MAX_BRANCHES = 300  # nodes on the path with moves left to try
MAX_MOVES = 8 * MAX_AREA  # listed moves, of all nodes on the path together

ESCAPED, CAUGHT, UNDECIDED = 0, 1, 2
NOWHERE = np.uint32(0)  # no point: index 0 is border


class LadderScratch(NamedTuple):
    """Scratch memory of one thread."""

    boards: Boards  # [MAX_BRANCHES + 1] one for each branching node; the last for trial moves
    moves: NDArray[np.uint32]  # [MAX_MOVES] the moves of each node on the path, concatenated
    nodes: NDArray[np.int32]  # [1] number of nodes searched
    working: NDArray[np.uint32]  # [2] first moves that catch the chain


def new_ladder_scratch() -> LadderScratch:
    """Allocate the scratch memory of one thread."""
    return LadderScratch(
        boards=new_boards(MAX_BRANCHES + 1),
        moves=np.zeros(MAX_MOVES, np.uint32),
        nodes=np.zeros(1, np.int32),
        working=np.zeros(2, np.uint32),
    )


@kernel
def mark_ladders(board, scratch, caught, catching):
    """Find all stones caught in ladders, and the moves that catch chains with two liberties.

    Fills bit sets: caught[words] with the caught stones of both colours; catching[3, words], by
    colour, with the opponent's moves that catch chains of this colour.
    """
    caught[:] = 0
    catching[:] = 0
    for head in range(1, n_points(board)):
        # One branch for both conditions, which are unpredictable.
        if (board.head[head] != head) | (board.libs[head] > 2):
            continue
        if board.libs[head] == 1:
            is_caught = caught_if_defended(board, scratch, head)
        else:
            found = catching_moves(board, scratch, head)
            is_caught = found > 0
            for k in range(found):
                add_bit(catching[board.color[head]], bit_of(board, scratch.working[k]))
        if is_caught:
            _add_chain(board, head, caught)


@kernel(inline=True)
def _add_chain(board, head, words):
    """Add the stones of a chain to a set."""
    q = head
    while True:
        add_bit(words, bit_of(board, q))
        q = board.next[q]
        if q == head:
            break


@kernel
def catching_moves(board, scratch, p):
    """List the first moves that catch the two-liberty chain at p in `working`; returns how many."""
    if board.libs[board.head[p]] != 2:
        return 0
    attacker = opponent(board.color[p])
    found = 0
    a, b = two_liberties(board, p)
    for move, other in ((a, b), (b, a)):
        if _runs_free(board, other, attacker, move):
            continue
        trial = scratch.boards[0]
        copy_board(trial, board)
        trial.to_play = attacker
        if _may_play(trial, move):
            play_stone(trial, move, attacker)
            if _read(scratch, p):
                scratch.working[found] = move
                found += 1
    return found


@kernel
def caught_if_defended(board, scratch, p):
    """Whether the chain at p, in atari, is caught even if its side moves first."""
    if board.libs[board.head[p]] != 1:
        return False
    if _runs_free(board, two_liberties(board, p)[0], opponent(board.color[p]), NOWHERE):
        return False
    copy_board(scratch.boards[0], board)
    return _read(scratch, p)


@kernel(inline=True)
def _runs_free(board, p, attacker, taken):
    """Whether extending to p surely gives a chain three liberties, with an attacker on `taken`.

    They come from the empty points around p, or from a friendly chain next to p.
    """
    room = 0
    for q in neighbours(board, p):
        color = board.color[q]
        if color == EMPTY:
            room += q != taken
        elif color == opponent(attacker) and board.libs[board.head[q]] >= 5:
            return True  # it loses at most p and `taken`
    return room >= 3


@kernel
def _read(scratch, target):
    """Whether the target is caught on boards[0] with the defender to move."""
    scratch.nodes[0] = 0
    scratch.boards[0].ko = 0  # the defender may retake a ko from before the ladder
    # An int64, not the literal 0: Numba crashes when it loads from its cache a recursion whose
    # first call has other types than the later ones (numba issue 6061).
    start = np.int64(0)
    caught = _is_caught(scratch, target, start, start, start)
    return caught and scratch.nodes[0] <= NODE_BUDGET


@kernel
def _is_caught(scratch, target, depth, slot, listed):
    """Search from boards[slot], with the defender to move at even depths; changes that board.

    The first `listed` entries of scratch.moves belong to the nodes above.
    """
    board, moves = scratch.boards[slot], scratch.moves
    if depth >= board.width * board.height * 3 // 2:
        return True
    defending = depth % 2 == 0
    board.to_play = board.color[target] if defending else opponent(board.color[target])
    if defending:
        verdict, end = _list_defences(board, target, moves, listed)
    else:
        verdict, end = _list_attacks(board, scratch.boards[-1], target, moves, listed)
    if verdict != UNDECIDED:
        return verdict == CAUGHT
    for k in range(listed, end):
        if not _may_play(board, moves[k]):
            continue
        scratch.nodes[0] += 1
        child = slot
        if k < end - 1:  # the last move may change this node's own board
            child = slot + 1
            if child == MAX_BRANCHES or end + MAX_AREA > MAX_MOVES:
                scratch.nodes[0] = NODE_BUDGET + 1
            else:
                copy_board(scratch.boards[child], board)
        if scratch.nodes[0] > NODE_BUDGET:
            return False
        play_stone(scratch.boards[child], moves[k], board.to_play)
        if _is_caught(scratch, target, depth + 1, child, end) != defending:
            return not defending
    return defending


@kernel(inline=True)
def _may_play(board, p):
    """Whether the side to play may play p in a ladder: no ko, no suicide."""
    return p != board.ko and not is_suicide(board, p)


@kernel
def two_liberties(board, p):
    """The first two liberties of the chain at p, 0 for each that is missing."""
    head = board.head[p]
    first = np.uint32(0)
    q = head
    while True:
        for r in neighbours(board, q):
            if board.color[r] == EMPTY and r != first:
                if first != 0:
                    return first, r
                first = r
        q = board.next[q]
        if q == head:
            return first, np.uint32(0)


@kernel
def _list_defences(board, target, moves, listed):
    """List captures of attackers in atari, then the last liberty; returns (verdict, list's end)."""
    head = board.head[target]
    if board.libs[head] >= 2 or board.ko != 0:
        return ESCAPED, listed
    end = listed
    q = head
    while True:
        for r in neighbours(board, q):
            if board.color[r] == opponent(board.color[target]) and board.libs[board.head[r]] == 1:
                end = _list_once(moves, listed, end, two_liberties(board, r)[0])
        q = board.next[q]
        if q == head:
            break
    return UNDECIDED, _list_once(moves, listed, end, two_liberties(board, target)[0])


@kernel(inline=True)
def _list_once(moves, begin, end, move):
    """Append a move to moves[begin:end] unless it is there; returns the new end."""
    for k in range(begin, end):
        if moves[k] == move:
            return end
    moves[end] = move
    return end + 1


@kernel
def _list_attacks(board, trial, target, moves, listed):
    """List the liberties worth playing, the better one first; returns (verdict, list's end)."""
    head = board.head[target]
    if board.libs[head] <= 1:
        return CAUGHT, listed
    if board.libs[head] >= 3:
        return ESCAPED, listed
    a, b = two_liberties(board, target)
    room_a, room_b = _empty_neighbours(board, a), _empty_neighbours(board, b)
    if room_a == 0 and room_b == 0 and _dies_in_double_ko(board, trial, target, a, b):
        return CAUGHT, listed
    if not _are_neighbours(board, a, b):
        # The attacker must play where the defender would get three liberties.
        if room_a >= 3 and room_b >= 3:
            return ESCAPED, listed
        if room_a >= 3 or room_b >= 3:
            moves[listed] = a if room_a >= 3 else b
            return UNDECIDED, listed + 1
    if _gain(board, target, b, room_b) > _gain(board, target, a, room_a):
        a, b = b, a
    moves[listed], moves[listed + 1] = a, b
    return UNDECIDED, listed + 2


@kernel(inline=True)
def _empty_neighbours(board, p):
    n = 0
    for q in neighbours(board, p):
        n += board.color[q] == EMPTY
    return n


@kernel(inline=True)
def _are_neighbours(board, p, q):
    for r in neighbours(board, p):
        if r == q:
            return True
    return False


@kernel(inline=True)
def _gain(board, target, p, room):
    """Estimate what the defender would gain at p; affects only the order of moves."""
    gain = 2 * room
    for q in neighbours(board, p):
        if board.color[q] == board.color[target] and board.libs[board.head[q]] > 1:
            gain += 2 * board.libs[board.head[q]] - 3
    return gain


@kernel
def _dies_in_double_ko(board, trial, target, a, b):
    """Whether both liberties are kos for the attacker, and the defender gains nothing there."""
    if not (_is_ko_capture(board, target, a) and _is_ko_capture(board, target, b)):
        return False
    defender = board.color[target]
    for p in (a, b):
        copy_board(trial, board)
        put_stone(trial, p, defender)
        if trial.libs[trial.head[p]] > 2:
            return False
    head = board.head[target]
    q = head
    while True:
        for r in neighbours(board, q):
            if board.color[r] == opponent(defender) and board.libs[board.head[r]] == 1:
                return False
        q = board.next[q]
        if q == head:
            return True


@kernel(inline=True)
def _is_ko_capture(board, target, p):
    """Whether the attacker at p would touch only defenders and capture exactly one stone."""
    in_atari, captured = 0, 0
    for q in neighbours(board, p):
        if board.color[q] == WALL:
            continue
        if board.color[q] != board.color[target]:
            return False
        if board.libs[board.head[q]] == 1:
            in_atari += 1
            captured = board.stones[board.head[q]]
    return in_atari == 1 and captured == 1
