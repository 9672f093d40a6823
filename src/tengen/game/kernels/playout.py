"""Random playouts, for benchmarks and tests."""

from __future__ import annotations

import numpy as np

from tengen.game.color import WALL
from tengen.game.kernels.board import (
    diagonals,
    is_forbidden_suicide,
    neighbours,
    opponent,
)
from tengen.game.kernels.moves import GOING_ON, PASS, play, repeats, start_game
from tengen.jit import kernel


@kernel(inline=True)
def next_random(rng, below):
    """A random number from 0 to below - 1 by xorshift64*; the state rng[0] is never zero."""
    x = rng[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    rng[0] = x
    return (np.int64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)) * below) >> 31


@kernel(inline=True)
def is_own_eye(board, p):
    """Whether p is surrounded by own stones and at most one diagonal (none at the edge) is lost."""
    me = board.to_play
    for q in neighbours(board, p):
        if board.color[q] != me and board.color[q] != WALL:
            return False
    enemy, wall = 0, 0
    for q in diagonals(board, p):
        if board.color[q] == opponent(me):
            enemy += 1
        elif board.color[q] == WALL:
            wall = 1
    return enemy + wall < 2


@kernel
def random_move(board, history, rng):
    """A uniformly random legal move that fills no own eye; PASS if there is none."""
    n = board.n_empty
    while n > 0:
        i = next_random(rng, n)
        p = np.uint32(board.empties[i])
        if (
            p != board.ko
            and not is_own_eye(board, p)
            and not is_forbidden_suicide(board, p)
            and not repeats(board, history, p)
        ):
            return p
        # Swap the rejected point out of range, so that the rest stays uniform.
        n -= 1
        q = board.empties[n]
        board.empties[i], board.empties[n] = q, p
        board.slot[q], board.slot[p] = i, n
    return PASS


@kernel
def play_out(board, history, rng, limit):
    """Play random moves until the game ends or has `limit` moves."""
    while board.end == GOING_ON and board.ply < limit:
        play(board, history, random_move(board, history, rng))


@kernel
def playouts(board, history, width, height, terms, count, rng, limit):
    """Play `count` random games from the empty board; returns the total number of moves."""
    moves = 0
    for _ in range(count):
        start_game(board, history, width, height, terms)
        play_out(board, history, rng, limit)
        moves += board.ply
    return moves
