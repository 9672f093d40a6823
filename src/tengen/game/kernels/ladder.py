"""Ladder reading: whether a sequence of ataris captures a chain with one or two liberties.

The answers equal those of KataGo's reader, since its networks were trained on them: the attacker
always plays one of the chain's two liberties, the defender extends or captures, any ko counts as
an escape, nobody plays suicide, and a search that exceeds its budget counts as not caught.

An answer depends on the stones alone: moves are tried in an order that does not depend on how the
chains came about. So it can be kept in a memory (`ladder_memory`), cut off by the budget or not.
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
from tengen.game.kernels.ladder_memory import (
    NODES,
    UNKNOWN,
    LadderMemory,
    Notes,
    begin_reading,
    new_ladder_memory,
    new_notes,
    note_move,
    note_stones,
    recall,
    remember,
)
from tengen.game.kernels.point_sets import add_bit, bit_of
from tengen.jit import kernel

NODE_BUDGET = 25_000
MAX_DEPTH = MAX_AREA * 3 // 2
MAX_BRANCHES = 300  # nodes on the path with moves left to try
MAX_MOVES = 8 * MAX_AREA  # listed moves, of all nodes on the path together
LADDERS_OF_THREAD = 256  # that a thread remembers

ESCAPED, CAUGHT, UNDECIDED = 0, 1, 2
NOWHERE = np.uint32(0)  # no point: index 0 is border


class LadderScratch(NamedTuple):
    """Scratch memory of one thread, and a memory of ladders, which may be a tree's."""

    boards: Boards  # [MAX_BRANCHES + 1] one for each branching node; the last for trial moves
    moves: NDArray[np.uint32]  # [MAX_MOVES] the moves of each node on the path, concatenated
    path: NDArray[np.int32]  # [MAX_DEPTH, 3] for each node its board, its next move, and their end
    notes: Notes
    memory: LadderMemory


def new_ladder_scratch() -> LadderScratch:
    """Allocate the scratch memory of one thread."""
    return LadderScratch(
        boards=new_boards(MAX_BRANCHES + 1),
        moves=np.zeros(MAX_MOVES, np.uint32),
        path=np.zeros((MAX_DEPTH, 3), np.int32),
        notes=new_notes(),
        memory=new_ladder_memory(LADDERS_OF_THREAD),
    )


@kernel
def mark_ladders(board, scratch, caught, catching):
    """Find all stones caught in ladders, and the moves that catch chains with two liberties.

    Fills bit sets: caught[words] with the caught stones of both colours; catching[3, words], by
    colour, with the opponent's moves that catch chains of this colour.
    """
    caught[:] = 0
    catching[:] = 0
    note_stones(board, scratch.notes)
    for head in range(1, n_points(board)):
        # One branch for both conditions, which are unpredictable.
        if (board.head[head] != head) | (board.libs[head] > 2):
            continue
        is_caught = False
        for move, last in _attacks(board, head):
            if last != NOWHERE and _is_caught_by(board, scratch, np.uint32(head), move, last):
                is_caught = True
                if move != NOWHERE:
                    add_bit(catching[board.color[head]], bit_of(board, move))
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
def is_caught_in_ladder(board, scratch, p):
    """Whether the chain at p is caught; a chain in atari moves first, with two liberties second."""
    head = np.uint32(board.head[p])
    if board.libs[head] > 2:
        return False
    note_stones(board, scratch.notes)
    for move, last in _attacks(board, head):
        if last != NOWHERE and _is_caught_by(board, scratch, head, move, last):
            return True
    return False


@kernel(inline=True)
def _attacks(board, head):
    """The two first moves that might catch a chain, and its last liberty after each.

    A chain in atari moves first: the attacker's move is NOWHERE, and there is only one.
    """
    a, b = two_liberties(board, head)
    return (a, b), (b, a)


@kernel
def _is_caught_by(board, scratch, head, move, last):
    """Whether a move of the attacker catches the chain, which has its last liberty then.

    NOWHERE is no move, for a chain in atari that moves first.
    """
    verdict = _first_look(board, head, move, last)
    if verdict != UNDECIDED:
        return verdict == CAUGHT
    known = recall(board, scratch.notes, scratch.memory, head, move)
    if known != UNKNOWN:
        return known == 1
    begin_reading(board, scratch.notes)
    trial = scratch.boards[0]
    copy_board(trial, board)
    trial.ko = 0
    trial.to_play = opponent(board.color[head])
    if move != NOWHERE:
        note_move(scratch.notes, move)
        play_stone(trial, move, trial.to_play)
    is_caught = _read(scratch, head)
    remember(board, scratch.notes, scratch.memory, head, move, is_caught)
    return is_caught


@kernel
def _first_look(board, head, move, last):
    """What can be said of a ladder without playing moves; mostly that is all.

    `move` is the attacker's first one or NOWHERE, and `last` the chain's liberty after it.
    """
    defender = board.color[head]
    attacker = opponent(defender)
    if move != NOWHERE and (move == board.ko or _is_suicide_of(board, move, attacker)):
        return ESCAPED
    liberties = _liberties_after(board, head, move, last, defender)
    if liberties >= 3:
        return ESCAPED  # no attack is left
    if liberties == 2 or _may_capture(board, head, move, last, attacker):
        return UNDECIDED
    return CAUGHT


@kernel(inline=True)
def _is_suicide_of(board, p, me):
    """As `is_suicide`, for either side."""
    for q in neighbours(board, p):
        color = board.color[q]
        if color == EMPTY or (color != WALL and (board.libs[board.head[q]] == 1) == (color != me)):
            return False
    return True


@kernel
def _liberties_after(board, head, move, last, defender):
    """How many liberties a chain has when it extends to its last one, 3 for more; attackers that
    are captured are not counted.
    """
    first, second = NOWHERE, NOWHERE
    for q in neighbours(board, last):
        if board.color[q] == EMPTY and q != move:
            if second != NOWHERE:
                return 3
            first, second = q, first
    for q in neighbours(board, last):
        other = board.head[q]
        if board.color[q] != defender or other == head or board.libs[other] == 1:
            continue
        if board.libs[other] >= 5:
            return 3  # it loses at most two
        r = other
        while True:
            for p in neighbours(board, r):
                if board.color[p] != EMPTY or p == last or p == move or p == first or p == second:
                    continue
                if second != NOWHERE:
                    return 3
                first, second = p, first
            r = board.next[r]
            if r == other:
                break
    return np.int64(first != NOWHERE) + np.int64(second != NOWHERE)


@kernel
def _may_capture(board, head, move, last, attacker):
    """Whether stones may be captured by the attacker's move, or by the defender's answer to it."""
    for q in neighbours(board, last):
        if board.color[q] == attacker and board.libs[board.head[q]] == 1:
            return True
    if move != NOWHERE:
        room = 0
        for q in neighbours(board, move):
            color = board.color[q]
            if color == EMPTY:
                room += 1
            elif color == attacker and board.libs[board.head[q]] >= 3:
                room += 2
            elif color == opponent(attacker) and board.libs[board.head[q]] == 1:
                return True
        if room < 2:
            return True  # the attacker's stone itself may be in atari
    q = head
    while True:
        for r in neighbours(board, q):
            if board.color[r] == attacker and board.libs[board.head[r]] == 1:
                return True
        q = board.next[q]
        if q == head:
            return False


@kernel
def _read(scratch, target):
    """Whether the target is caught on boards[0] with the defender to move; changes that board."""
    boards, moves, path, counts = scratch.boards, scratch.moves, scratch.path, scratch.notes.counts
    defender = boards[0].color[target]
    boards[0].ko = 0  # the defender may retake a ko from before the ladder
    most_depth = boards[0].width * boards[0].height * 3 // 2
    depth, slot, begin = 0, 0, 0  # a node: its depth, its board, and where its moves begin
    while True:
        board = boards[slot]
        verdict, end = CAUGHT, begin
        defends = depth % 2 == 0
        if depth < most_depth:
            if defends:
                board.to_play = defender
                verdict, end = _list_defences(board, scratch.notes, target, moves, begin)
            else:
                board.to_play = opponent(defender)
                trial = boards[MAX_BRANCHES]
                verdict, end = _list_attacks(board, trial, scratch.notes, target, moves, begin)
        k = begin
        while True:  # up to a move to try
            if verdict != UNDECIDED:
                if depth == 0:
                    return verdict == CAUGHT
                depth -= 1
                slot, k, end = path[depth, 0], path[depth, 1], path[depth, 2]
                board = boards[slot]
                defends = depth % 2 == 0
                if (verdict == CAUGHT) == defends:
                    verdict = UNDECIDED  # that move failed
            elif k == end:
                verdict = CAUGHT if defends else ESCAPED
            elif _may_play(board, moves[k]):
                break
            else:
                k += 1
        counts[NODES] += 1
        path[depth, 0], path[depth, 1], path[depth, 2] = slot, k + 1, end
        if k < end - 1:  # the last move may change this node's own board
            slot += 1
            if slot == MAX_BRANCHES or end + MAX_AREA > MAX_MOVES:
                return False
            copy_board(boards[slot], board)
        if counts[NODES] > NODE_BUDGET:
            return False
        play_stone(boards[slot], moves[k], board.to_play)
        depth += 1
        begin = end


@kernel(inline=True)
def _may_play(board, p):
    """Whether the side to play may play p in a ladder: no ko, no suicide."""
    return p != board.ko and not is_suicide(board, p)


@kernel
def two_liberties(board, p):
    """Two liberties of the chain at p in their order on the board, 0 for each that is missing.

    It is for chains that have no more: of others it gives any two.
    """
    head = board.head[p]
    first = np.uint32(0)
    q = head
    while True:
        for r in neighbours(board, q):
            if board.color[r] == EMPTY and r != first:
                if first != 0:
                    return min(first, r), max(first, r)
                first = r
        q = board.next[q]
        if q == head:
            return first, np.uint32(0)


@kernel
def _list_defences(board, notes, target, moves, listed):
    """List captures of attackers in atari, then the last liberty; returns (verdict, list's end)."""
    head = board.head[target]
    if board.libs[head] >= 2 or board.ko != 0:
        return ESCAPED, listed
    attacker = opponent(board.color[target])
    last, end = NOWHERE, listed
    q = head
    while True:
        for r in neighbours(board, q):
            color = board.color[r]
            if color == EMPTY:
                last = r
            elif color == attacker and board.libs[board.head[r]] == 1:
                end = _list_once(moves, listed, end, two_liberties(board, r)[0])
        q = board.next[q]
        if q == head:
            break
    note_move(notes, last)
    is_listed = False
    for k in range(listed, end):
        note_move(notes, moves[k])
        is_listed |= moves[k] == last
    if not is_listed:
        moves[end] = last
        end += 1
    return UNDECIDED, end


@kernel(inline=True)
def _list_once(moves, begin, end, move):
    """Insert a move into moves[begin:end], which are sorted; returns the new end."""
    at = end
    while at > begin and moves[at - 1] >= move:
        at -= 1
    if at < end and moves[at] == move:
        return end
    for k in range(end, at, -1):
        moves[k] = moves[k - 1]
    moves[at] = move
    return end + 1


@kernel
def _list_attacks(board, trial, notes, target, moves, listed):
    """List the liberties worth playing, the better one first; returns (verdict, list's end)."""
    head = board.head[target]
    if board.libs[head] <= 1:
        return CAUGHT, listed
    if board.libs[head] >= 3:
        return ESCAPED, listed
    a, b = two_liberties(board, target)
    note_move(notes, a)
    note_move(notes, b)
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
