"""Kernels: random playouts, for tests and benchmarks."""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import is_forbidden_suicide
from tengen.game.kernels.life import is_own_eye
from tengen.game.kernels.moves import GOING_ON, PASS, play, repeats, start_game
from tengen.jit import kernel
from tengen.search.kernels.random_numbers import next_random


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
