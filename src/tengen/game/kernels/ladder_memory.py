"""A memory of ladders that were read, each with the points that its result depends on.

A result holds on every board with the same stones on these points. So a memory may be shared by
all positions of a tree, and whether a ladder is found in it or read again makes no difference.

Sets of points are bits by board index here, so that neighbours are found by shifts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, EMPTY, WHITE
from tengen.game.geometry import MAX_AREA, MAX_POINTS, MAX_SIDE
from tengen.game.kernels.board import n_points, neighbours, opponent
from tengen.jit import kernel

_BITS = 64
_WAYS = 4  # rows of a memory in which a ladder may be, a power of two

# Counts: nodes of this reading; ladders that were read and recalled so far.
NODES, READ, RECALLED = 0, 1, 2

# Sets of points. BLACK and WHITE: the stones of the board. Of a ladder: the points that somebody
# might have played, the points that matter, and those that matter with their neighbours.
_TRIED, _CERTAIN, _WIDE = 0, 3, 4

UNKNOWN = -1


class LadderMemory(NamedTuple):
    """Ladders with their results, a row for each. Keys lie side by side, since most rows that are
    looked at have another one.
    """

    keys: NDArray[np.uint64]  # [rows] what the ladder is, and in the last bit whether it catches
    # [rows, 2 * words] for each word of a set the points that must not be white, and those that
    # must not be black. A point that matters is in one of them if there is a stone, in both if it
    # is empty.
    points: NDArray[np.uint64]


class MemoryShape(NamedTuple):
    """The shapes of the arrays of a memory."""

    keys: tuple[int]
    points: tuple[int, int]


class Notes(NamedTuple):
    """What is noted of a board and of a ladder while it is read."""

    counts: NDArray[np.int64]  # [3]
    sets: NDArray[np.uint64]  # [5, words]
    tried: NDArray[np.uint32]  # [1 + MAX_AREA] how many points are in _TRIED, then these points


def new_notes() -> Notes:
    """The notes of one thread."""
    return Notes(
        np.zeros(3, np.int64),
        np.zeros((5, _words_for(MAX_POINTS)), np.uint64),
        np.zeros(1 + MAX_AREA, np.uint32),
    )


def memory_shape(area: int, ladders: int) -> MemoryShape:
    """The shape of a memory of so many ladders (0, or a power of two, 4 or more).

    It is for boards of at most this area; its arrays are zeros at first.
    """
    most_points = area + area // MAX_SIDE + 2 * MAX_SIDE + 3  # those of the widest board
    return MemoryShape((ladders,), (ladders, 2 * _words_for(most_points)))


def new_ladder_memory(ladders: int) -> LadderMemory:
    """An empty memory for boards of any size."""
    shape = memory_shape(MAX_AREA, ladders)
    return LadderMemory(np.zeros(shape.keys, np.uint64), np.zeros(shape.points, np.uint64))


def _words_for(points: int) -> int:
    return (points + _BITS - 1) // _BITS


@kernel(inline=True)
def _words(board):
    """Number of words of a set of points on this board."""
    return (n_points(board) + _BITS - 1) // _BITS


@kernel(inline=True)
def _add(words, p):
    words[p >> np.uint32(6)] |= np.uint64(1) << np.uint64(p & np.uint32(63))


@kernel(inline=True)
def _has(words, p):
    return (words[p >> np.uint32(6)] >> np.uint64(p & np.uint32(63))) & np.uint64(1) != 0


@kernel
def note_stones(board, notes):
    """Note the stones of a board, before any of its ladders is recalled."""
    first = 0
    for k in range(_words(board)):
        black, white = np.uint64(0), np.uint64(0)
        for i in range(min(_BITS, n_points(board) - first)):
            color = board.color[np.uint32(first + i)]
            black |= np.uint64(color == BLACK) << np.uint64(i)
            white |= np.uint64(color == WHITE) << np.uint64(i)
        notes.sets[BLACK, k], notes.sets[WHITE, k] = black, white
        first += _BITS


@kernel(inline=True)
def _key_of(board, head, move):
    """The key of a ladder: the chain's head, the attacker's first move or 0, the board's size."""
    chain = np.uint64(head) | np.uint64(move) << np.uint64(9)
    size = np.uint64(board.width) | np.uint64(board.height) << np.uint64(5)
    return (chain | size << np.uint64(18)) << np.uint64(1)


@kernel(inline=True)
def _first_row(memory, head, move):
    """The first of the rows of a memory where this ladder may be."""
    mixed = np.int64(head) * 0x9E3779B1 + np.int64(move) * 0x85EBCA77
    return ((mixed >> 16) & (memory.keys.shape[0] // _WAYS - 1)) * _WAYS


@kernel
def recall(board, notes, memory, head, move):
    """Whether the chain is caught after the attacker's move: 0, 1 or UNKNOWN."""
    key, first = _key_of(board, head, move), _first_row(memory, head, move)
    black, white = notes.sets[BLACK], notes.sets[WHITE]
    for row in range(first, first + _WAYS):
        if memory.keys[row] | np.uint64(1) != key | np.uint64(1):
            continue
        points = memory.points[row]
        differs = np.uint64(0)
        for k in range(_words(board)):
            not_white, not_black = points[2 * k], points[2 * k + 1]
            matters = not_white | not_black
            differs |= (matters & ~white[k]) ^ not_white | (matters & ~black[k]) ^ not_black
        if differs == 0:
            notes.counts[RECALLED] += 1
            return np.int64(memory.keys[row] & np.uint64(1))
    return UNKNOWN


@kernel
def begin_reading(board, notes):
    """Begin the notes of a ladder on this board."""
    notes.counts[NODES] = 0
    notes.tried[0] = 0
    for k in range(_words(board)):
        notes.sets[_TRIED, k] = 0


@kernel(inline=True)
def note_move(notes, p):
    """Note an empty point that one side might play in the reading of a ladder."""
    tried = notes.sets[_TRIED]
    if not _has(tried, p):
        _add(tried, p)
        notes.tried[0] += np.uint32(1)
        notes.tried[notes.tried[0]] = p


@kernel
def remember(board, notes, memory, head, move, is_caught):
    """Store the result of a reading on this board; notes has the points that it tried."""
    words = _words(board)
    certain, wide = notes.sets[_CERTAIN], notes.sets[_WIDE]
    for k in range(words):
        certain[k] = 0
        wide[k] = notes.sets[_TRIED, k]
    attacker = opponent(board.color[head])
    _depend_on_defenders(board, notes, head, attacker)
    for i in range(1, notes.tried[0] + 1):
        for q in neighbours(board, notes.tried[i]):
            if board.head[q] != 0 and not _has(certain, q):
                if board.color[q] == attacker:
                    _depend_on_attackers(board, notes, q)
                else:
                    _depend_on_defenders(board, notes, q, attacker)
    victim = notes.counts[READ] % _WAYS
    row = _first_row(memory, head, move) + victim
    memory.keys[row] = _key_of(board, head, move) | np.uint64(is_caught)
    points = memory.points[row]
    stride = np.uint64(board.stride)
    rest, one = np.uint64(_BITS) - stride, np.uint64(1)
    before, here = np.uint64(0), wide[0]
    for k in range(words):
        after = wide[k + 1] if k + 1 < words else np.uint64(0)
        matters = certain[k] | here | here << one | here >> one | here << stride | here >> stride
        matters |= before >> np.uint64(_BITS - 1) | before >> rest
        matters |= after << np.uint64(_BITS - 1) | after << rest
        points[2 * k] = matters & ~notes.sets[WHITE, k]
        points[2 * k + 1] = matters & ~notes.sets[BLACK, k]
        before, here = here, after
    notes.counts[READ] += 1


@kernel
def _depend_on_defenders(board, notes, p, attacker):
    """The chain of defenders at p matters, its liberties, and which attackers are in atari."""
    certain, wide = notes.sets[_CERTAIN], notes.sets[_WIDE]
    q = p
    while True:
        _add(certain, q)
        _add(wide, q)
        for r in neighbours(board, q):
            if board.color[r] == attacker and not _has(certain, r):
                _depend_on_attackers(board, notes, r)
        q = np.uint32(board.next[q])
        if q == p:
            break


@kernel
def _depend_on_attackers(board, notes, p):
    """The chain of attackers at p matters, as long as it may come into atari.

    With two liberties where nobody plays it never does, whatever its other liberties are.
    """
    certain, wide, tried = notes.sets[_CERTAIN], notes.sets[_WIDE], notes.sets[_TRIED]
    first, second = np.uint32(0), np.uint32(0)
    q = p
    while True:
        _add(certain, q)
        if second == 0:
            for r in neighbours(board, q):
                if board.color[r] == EMPTY and r != first and not _has(tried, r):
                    if first == 0:
                        first = r
                    else:
                        second = r
        q = np.uint32(board.next[q])
        if q == p:
            break
    if second != 0:
        _add(certain, first)
        _add(certain, second)
        return
    while True:
        _add(wide, q)
        q = np.uint32(board.next[q])
        if q == p:
            break
