"""A simple opponent: UCT without a network. It shares only the rules kernels with Tengen.

Each playout descends a tree by UCB1, adds one node, and plays random moves that fill no own eye to
the end of the game. The move with the most visits is played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK
from tengen.game.geometry import Point, index_point
from tengen.game.kernels.board import copy_board, new_boards
from tengen.game.kernels.life import is_own_eye, new_life_scratch
from tengen.game.kernels.moves import GOING_ON, PASS, is_legal, play
from tengen.game.kernels.scoring import area
from tengen.game.position import Position
from tengen.jit import kernel
from tests.game.playouts import play_out

EXPLORATION = 0.7  # of UCB1, for wins from 0 to 1
ROOM = 400  # moves of a game, playouts included


class Tree(NamedTuple):
    """The nodes of a tree; the root is 0, and the children of a node are contiguous."""

    move: NDArray[np.int32]  # [nodes] that leads here
    first: NDArray[np.int32]  # [nodes] child, 0 where there are none yet
    children: NDArray[np.int32]  # [nodes]
    visits: NDArray[np.int32]  # [nodes]
    wins: NDArray[np.float64]  # [nodes] of the side that moved here; a draw is half


class UctPlayer:
    """Chooses each move by a fixed number of playouts."""

    def __init__(self, playouts: int, seed: int) -> None:
        self._playouts = playouts
        self._rng = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | 1])
        self._boards = new_boards(1)
        self._scratch = new_life_scratch(1)

    def choose(self, position: Position) -> Point | None:
        """The move to play; None is a pass."""
        nodes = 1 + (self._playouts + 1) * (position.size.area + 1)
        move, first, children, visits = (np.zeros(nodes, np.int32) for _ in range(4))
        tree = Tree(move, first, children, visits, np.zeros(nodes))
        boards, history = position.arrays(ROOM)
        point = _search(
            boards,
            history,
            self._boards,
            tree,
            np.zeros(ROOM, np.int32),
            self._playouts,
            self._rng,
            self._scratch,
        )
        return None if point == PASS else index_point(int(point), position.width)


@kernel
def _search(boards, history, trials, tree, path, playouts, rng, scratch):
    """The most visited move of boards[0] after this many playouts."""
    board, trial = boards[0], trials[0]
    limit = board.ply + 4 * board.width * board.height
    _expand(board, history, tree, 0, 1)
    used = 1 + tree.children[0]
    for _ in range(playouts):
        copy_board(trial, board)
        node, depth = 0, 0
        path[0] = 0
        while tree.first[node] and trial.end == GOING_ON:
            node = _best(tree, node)
            play(trial, history, np.uint32(tree.move[node]))
            depth += 1
            path[depth] = node
        if tree.visits[node] and trial.end == GOING_ON and depth < limit - board.ply:
            _expand(trial, history, tree, node, used)
            used += tree.children[node]
            node = tree.first[node]
            play(trial, history, np.uint32(tree.move[node]))
            depth += 1
            path[depth] = node
        play_out(trial, history, rng, limit)
        margin = area(trial, scratch[0]) - board.komi
        black = 0.5 if margin == 0 else 1.0 * (margin > 0)
        mover_is_black = board.to_play != BLACK  # whoever moved to the root
        for k in range(depth + 1):
            tree.visits[path[k]] += 1
            tree.wins[path[k]] += black if mover_is_black else 1 - black
            mover_is_black = not mover_is_black
    best = tree.first[0]
    for k in range(tree.first[0], tree.first[0] + tree.children[0]):
        if tree.visits[k] > tree.visits[best]:
            best = k
    return tree.move[best]


@kernel
def _expand(board, history, tree, node, at):
    """Add a child for a pass and for each legal move that fills no own eye."""
    tree.first[node] = at
    count = 0
    for i in range(board.n_empty):
        p = np.uint32(board.empties[i])
        if not is_own_eye(board, p) and is_legal(board, history, p):
            tree.move[at + count] = p
            count += 1
    tree.move[at + count] = PASS
    tree.children[node] = count + 1


@kernel
def _best(tree, node):
    """The child with the highest upper confidence bound; untried children come first."""
    best, best_bound = 0, -1.0
    for k in range(tree.first[node], tree.first[node] + tree.children[node]):
        if tree.visits[k] == 0:
            return k
        share = tree.wins[k] / tree.visits[k]
        bound = share + EXPLORATION * np.sqrt(np.log(tree.visits[node]) / tree.visits[k])
        if bound > best_bound:
            best, best_bound = k, bound
    return best
