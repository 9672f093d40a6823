"""The board record, and kernels that place stones, merge chains and capture.

The record has one layout for all board sizes, allocated for 19x19, so each kernel compiles once.
Kernels do not check their arguments; Python code uses ``tengen.game.position.Position`` instead.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tengen.game.color import BLACK, EMPTY, WALL
from tengen.game.geometry import MAX_AREA, MAX_POINTS
from tengen.jit import kernel
from tengen.kernel_records import record_type

NO_CHAIN = 0  # the `head` of a point without a stone

# By colour; those of EMPTY hash the ko stones that are blocked in a clean-up.
ZOBRIST = np.random.default_rng(19).integers(0, 2**64, (3, MAX_POINTS), dtype=np.uint64)

# The rules and the komi of a game.
_TERMS_FIELDS = [
    ("komi", "f4"),  # including White's handicap bonus
    ("ko_rule", "i4"),
    ("suicide_allowed", "i4"),  # of two or more stones; a single stone never
    ("territory", "i4"),  # NO_TERRITORY (area scoring), AGREED or PLAYED_OUT
    ("tax", "i4"),
    ("friendly_pass", "i4"),
    ("button", "i4"),  # 1: not taken yet (the first pass takes it)
]
TERMS = record_type(f"{__name__}.TERMS", _TERMS_FIELDS)
# Territory scoring: after two passes the players agree on dead stones, or capture them in two more
# phases of the game (`clean_up`).
NO_TERRITORY, AGREED, PLAYED_OUT = 0, 1, 2
NO_TAX, TAX_IN_SEKI, TAX_ON_GROUPS = 0, 1, 2
END_IS_SHOWN, END_IS_HIDDEN_FROM_LOSERS, END_IS_HIDDEN = 0, 1, 2
SIMPLE_KO, POSITIONAL_SUPERKO, SITUATIONAL_SUPERKO = 0, 1, 2

_BOARD_FIELDS = [
    ("hash", "u8"),  # of the stones alone
    ("blocks", "u8"),  # hash of the ko stones that are blocked; 0 if there are none
    ("width", "i4"),
    ("height", "i4"),
    ("stride", "i4"),
    *_TERMS_FIELDS,
    ("settled", "i4"),  # 1: under area scoring a pass-alive area counts whole, as KataGo has it
    ("to_play", "i4"),
    ("ko", "i4"),  # point where the side to play may not retake a ko now, or 0
    ("phase", "i4"),  # MAIN_PHASE, or a clean-up
    ("passes", "i4"),  # consecutive passes just played, without one that took the button
    ("ply", "i4"),  # moves since the first position of the history
    ("since", "i4"),  # first history entry that counts for repetition
    ("end", "i4"),  # GOING_ON, ENDED_BY_PASSES or ENDED_BY_REPETITION
    ("passes_since", "i4"),  # passes up to this history entry do not count; where a clean-up began
    ("passed", "i4"),  # 1: somebody passed since the first position
    ("hidden", "i4"),  # the network is not shown the moves up to this history entry
    ("hides_end", "i4"),  # is it told that a pass would end the game? See END_IS_HIDDEN
    ("button_owner", "i4"),  # colour that took the button, or 0
    ("n_empty", "i4"),
    ("captured", "i4", (3,)),  # by colour: stones taken off the board before the second clean-up
    ("empties", "u2", (MAX_AREA,)),  # the empty points, unordered
    ("slot", "u2", (MAX_POINTS,)),  # index of an empty point in `empties`
    ("head", "u2", (MAX_POINTS,)),  # representative point of the chain, or NO_CHAIN
    ("next", "u2", (MAX_POINTS,)),  # next stone in the chain's circular list
    ("libs", "i2", (MAX_POINTS,)),  # by head: exact number of liberties
    ("stones", "i2", (MAX_POINTS,)),  # by head: number of stones
    ("color", "i1", (MAX_POINTS,)),
    # Bits of the colours that ever had a stone here, and what `clean_up` notes of the point.
    ("seen", "u1", (MAX_POINTS,)),
]
BOARD = record_type(f"{__name__}.BOARD", _BOARD_FIELDS)

MAIN_PHASE, FIRST_CLEAN_UP, SECOND_CLEAN_UP = 0, 1, 2

Boards: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]  # [games] of BOARD


@kernel(inline=True)
def opponent(color):
    return 3 - color


@kernel(inline=True)
def point_of(board, x, y):
    return (y + 1) * board.stride + x + 1


@kernel(inline=True)
def neighbours(board, p):
    """The four points around p. Unsigned, because Numba tests signed indices for wrap-around."""
    w, p = board.stride, np.int64(p)
    return np.uint32(p - w), np.uint32(p - 1), np.uint32(p + 1), np.uint32(p + w)


@kernel(inline=True)
def diagonals(board, p):
    """The four points diagonally next to p, unsigned."""
    w, p = board.stride, np.int64(p)
    above, below = p - w, p + w
    return np.uint32(above - 1), np.uint32(above + 1), np.uint32(below - 1), np.uint32(below + 1)


@kernel(inline=True)
def n_points(board):
    """Number of array entries that this board uses, border included."""
    return (board.height + 2) * board.stride + 1


@kernel
def clear(board, width, height, terms):
    """Reset the record to an empty board of this size with these terms, Black to play."""
    board.hash = np.uint64(0)
    board.blocks = np.uint64(0)
    board.width = width
    board.height = height
    board.stride = width + 1
    board.ko_rule = terms.ko_rule
    board.suicide_allowed = terms.suicide_allowed
    board.territory = terms.territory
    board.tax = terms.tax
    board.friendly_pass = terms.friendly_pass
    board.komi = terms.komi
    board.button = terms.button
    board.button_owner = 0
    board.settled = 1
    board.to_play = BLACK
    board.ko = 0
    board.phase = MAIN_PHASE
    board.captured[:] = 0
    for p in range(n_points(board)):
        board.color[p] = WALL
        board.seen[p] = 0
        board.head[p] = NO_CHAIN
    n = 0
    for y in range(height):
        for x in range(width):
            p = point_of(board, x, y)
            board.color[p] = EMPTY
            board.empties[n] = p
            board.slot[p] = n
            n += 1
    board.n_empty = n


@kernel
def copy_board(target, source):
    """Copy a board, but only the array entries that its size uses."""
    target.hash = source.hash
    target.blocks = source.blocks
    target.width = source.width
    target.height = source.height
    target.stride = source.stride
    target.komi = source.komi
    target.ko_rule = source.ko_rule
    target.suicide_allowed = source.suicide_allowed
    target.territory = source.territory
    target.tax = source.tax
    target.friendly_pass = source.friendly_pass
    target.settled = source.settled
    target.to_play = source.to_play
    target.ko = source.ko
    target.phase = source.phase
    target.passes = source.passes
    target.ply = source.ply
    target.since = source.since
    target.passes_since = source.passes_since
    target.passed = source.passed
    target.hidden = source.hidden
    target.hides_end = source.hides_end
    target.end = source.end
    target.button = source.button
    target.button_owner = source.button_owner
    target.n_empty = source.n_empty
    for c in range(3):
        target.captured[c] = source.captured[c]
    for i in range(source.n_empty):
        target.empties[i] = source.empties[i]
    n = n_points(source)
    # One loop per array, so that LLVM turns each into a block copy.
    for p in range(n):
        target.slot[p] = source.slot[p]
    for p in range(n):
        target.head[p] = source.head[p]
    for p in range(n):
        target.next[p] = source.next[p]
    for p in range(n):
        target.libs[p] = source.libs[p]
    for p in range(n):
        target.stones[p] = source.stones[p]
    for p in range(n):
        target.color[p] = source.color[p]
    for p in range(n):
        target.seen[p] = source.seen[p]


@kernel(inline=True)
def _touches(board, p, head):
    """Whether the point p is next to a stone of this chain."""
    a, b, c, d = neighbours(board, p)
    return (
        board.head[a] == head
        or board.head[b] == head
        or board.head[c] == head
        or board.head[d] == head
    )


@kernel(inline=True)
def _add_libs(board, p, delta):
    """Add delta to the liberties of each distinct chain next to p; libs[NO_CHAIN] is unused."""
    up, left, right, down = neighbours(board, p)
    a, b, c, d = board.head[up], board.head[left], board.head[right], board.head[down]
    board.libs[a] += delta
    if b != a:
        board.libs[b] += delta
    if c != a and c != b:
        board.libs[c] += delta
    if d != a and d != b and d != c:
        board.libs[d] += delta


@kernel
def _merge(board, a, b):
    """Merge the chains with heads a and b under the head of the larger one."""
    if board.stones[a] < board.stones[b]:
        a, b = b, a
    libs = board.libs[a]
    q = b
    while True:
        for r in neighbours(board, q):
            if board.color[r] == EMPTY and not _touches(board, r, a):
                libs += 1
        board.head[q] = a
        q = board.next[q]
        if q == b:
            break
    board.libs[a] = libs
    board.stones[a] += board.stones[b]
    board.next[a], board.next[b] = board.next[b], board.next[a]


@kernel
def remove_chain(board, head):
    """Take a chain off the board; returns its number of stones."""
    color = board.color[head]
    n, q, h = board.n_empty, head, board.hash
    while True:
        board.color[q] = EMPTY
        board.head[q] = NO_CHAIN
        h ^= ZOBRIST[color, q]
        board.empties[n] = q
        board.slot[q] = n
        n += 1
        _add_libs(board, q, 1)
        q = board.next[q]
        if q == head:
            break
    removed = n - board.n_empty
    board.n_empty = n
    board.hash = h
    board.captured[color] += removed
    return removed


@kernel(inline=True)
def put_stone(board, p, color):
    """Put a stone on an empty point and merge it with adjacent chains; captures nothing."""
    last = board.n_empty - 1
    slot, moved = board.slot[p], board.empties[last]
    board.empties[slot] = moved
    board.slot[moved] = slot
    board.n_empty = last

    board.color[p] = color
    board.seen[p] |= color
    board.hash ^= ZOBRIST[color, p]
    board.head[p] = p
    board.next[p] = p
    board.stones[p] = 1
    libs = 0
    for q in neighbours(board, p):
        if board.color[q] == EMPTY:
            libs += 1
    board.libs[p] = libs
    _add_libs(board, p, -1)
    for q in neighbours(board, p):
        if board.color[q] == color and board.head[q] != board.head[p]:
            _merge(board, board.head[p], board.head[q])


@kernel(inline=True)
def play_stone(board, p, me):
    """Put a stone and remove captured chains, or its own on suicide.

    Sets the ko point; does not update the history.
    """
    board.ko = 0
    put_stone(board, p, me)
    enemy = opponent(me)
    captured, spot = 0, 0
    for q in neighbours(board, p):
        if board.color[q] == enemy and board.libs[board.head[q]] == 0:
            captured += remove_chain(board, board.head[q])
            spot = q
    head = board.head[p]
    if captured == 1 and board.stones[head] == 1 and board.libs[head] == 1:
        board.ko = spot
    elif board.libs[head] == 0:
        remove_chain(board, head)


@kernel(inline=True)
def is_suicide(board, p):
    """Whether a stone of the side to play on p would leave its chain without liberties."""
    me = board.to_play
    up, left, right, down = neighbours(board, p)
    # One branch for all four points: which of them are empty is unpredictable.
    if (
        (board.color[up] == EMPTY)
        | (board.color[left] == EMPTY)
        | (board.color[right] == EMPTY)
        | (board.color[down] == EMPTY)
    ):
        return False
    for q in neighbours(board, p):
        c = board.color[q]
        if c != WALL and (board.libs[board.head[q]] == 1) == (c != me):
            return False
    return True


@kernel(inline=True)
def joins_own_chain(board, p):
    """Whether the side to play has a stone next to p."""
    me = board.to_play
    up, left, right, down = neighbours(board, p)
    return (
        board.color[up] == me
        or board.color[left] == me
        or board.color[right] == me
        or board.color[down] == me
    )


@kernel(inline=True)
def is_forbidden_suicide(board, p):
    """Whether a stone of the side to play on p would be suicide that the rules forbid."""
    return is_suicide(board, p) and not (board.suicide_allowed and joins_own_chain(board, p))


@kernel
def _without_neighbours(board, p, color, h):
    """The hash h after removing the chains of a colour whose last liberty is p."""
    done0, done1, done2 = 0, 0, 0
    for q in neighbours(board, p):
        head = board.head[q]
        if (
            board.color[q] == color
            and board.libs[head] == 1
            and head != done0
            and head != done1
            and head != done2
        ):
            r = head
            while True:
                h ^= ZOBRIST[color, r]
                r = board.next[r]
                if r == head:
                    break
            done0, done1, done2 = head, done0, done1
    return h


@kernel
def hash_after(board, p):
    """The hash of the stones if the side to play put a stone on p."""
    me = board.to_play
    if is_suicide(board, p):
        return _without_neighbours(board, p, me, board.hash)
    return _without_neighbours(board, p, opponent(me), board.hash ^ ZOBRIST[me, p])


def new_boards(count: int) -> Boards:
    """[count] board records, not yet cleared."""
    return np.zeros(count, BOARD)
