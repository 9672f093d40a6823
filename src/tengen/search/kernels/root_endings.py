"""Kernels: what moves and passes at the root are worth when a game is about to end."""

from __future__ import annotations

import numpy as np

from tengen.game.color import EMPTY
from tengen.game.kernels.board import n_points, neighbours, opponent
from tengen.game.kernels.clean_up_phases import is_last_phase
from tengen.game.kernels.moves import PASS
from tengen.game.kernels.scoring import settled_area
from tengen.jit import kernel
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.forest import (
    LEAD,
    NONE,
    SCORE,
    UTILITY,
    nth_edge,
    packed_point,
    sign_of,
)
from tengen.search.kernels.utility import utility_of_points

# A point is settled if the network gives so much of it to one side.
_SETTLED = np.float32(0.95)
_MUCH_VISITED = 500  # a move that is tried well, whatever a pass has


@kernel
def weigh_endings(forest, g, settings, life):
    """Fill what moves at the root of tree g are worth at the end of a game, in points.

    A move in a settled area costs points, so that passing is better. Exempt are, in one's own area,
    a move beside a stone of the opponent or one that connects chains; in the opponent's, under area
    scoring, a capture. Under territory scoring, and while the button is there, a pass costs points,
    so that playing is better. While a ko point is banned, only the pass is weighed.
    """
    board, owner, bonus = forest.boards[g], forest.owner[g], forest.bonus[g]
    settled_area(board, life)
    for p in range(n_points(board)):
        bonus[p] = 0
    territory = not is_last_phase(board)
    if territory:
        bonus[PASS] = -settings.ending_bonus * np.float32(2 / 3)
    elif board.button:
        bonus[PASS] = -settings.ending_bonus * np.float32(0.5)
    if board.ko:
        return
    sign = sign_of(board.to_play)
    for i in range(board.n_empty):
        p = np.int64(board.empties[i])
        mine = sign * owner[p]
        if abs(mine) < _SETTLED:
            continue
        touches, captures = _touches_enemy(board, p)
        if mine < 0:
            useful = captures and not territory
        else:
            useful = touches or _connects(board, life.settled, p)
        if not useful:
            excess = (abs(mine) - _SETTLED) / (np.float32(1) - _SETTLED)
            bonus[p] = -settings.ending_bonus * excess


@kernel
def _touches_enemy(board, p):
    """Are there stones of the opponent beside p, and would some of them be captured?"""
    touches, captures = False, False
    for q in neighbours(board, p):
        if board.color[q] == opponent(board.to_play):
            touches = True
            captures |= board.libs[board.head[q]] == 1
    return touches, captures


@kernel
def _connects(board, settled, p):
    """Would a stone on p connect own chains, at least one of which is not pass-alive?"""
    if settled[p] == board.to_play:
        return False
    for q in neighbours(board, p):
        if board.color[q] == board.to_play and settled[q] == EMPTY:
            for r in neighbours(board, p):
                if board.color[r] == board.to_play and board.head[r] != board.head[q]:
                    return True
            return False
    return False


@kernel(inline=True)
def ending_value(forest, g, edge, sign, settings):
    """What a root move's points at the end of a game add to its value for the side to play."""
    if settings.ending_bonus == 0:  # first: thousands of trees do not keep `bonus` in the caches
        return np.float32(0)
    points = forest.bonus[g, packed_point(edge.packed)]
    if points == 0:
        return np.float32(0)
    board, child = forest.boards[g], forest.nodes[edge.child]
    root_area = np.float32(np.sqrt(np.float32(board.width * board.height)))
    centre = forest.trees[g].centre
    return sign * utility_of_points(settings, child, sign * points, centre, root_area)


@kernel
def early_pass(forest, g, node):
    """The index of the pass at the root if a well-visited move is about as good; NONE otherwise.

    Then dame are left to be filled. Moves in the opponent's settled area away from one's own do not
    count, nor fills of one's own area that touch no stone of the opponent: networks that know only
    area scoring see no loss in those.
    """
    board, owner = forest.boards[g], forest.owner[g]
    sign = sign_of(node.to_play)
    early, weight = np.int64(NONE), np.float32(0)
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        if packed_point(edge.packed) == PASS:
            early, weight = np.int64(k), edge_weight(edge, forest.nodes[edge.child])
    if early == NONE or weight <= 0:
        return np.int64(NONE)
    passed = forest.nodes[forest.edges[nth_edge(forest, node, early)].child]
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        child, p = forest.nodes[edge.child], packed_point(edge.packed)
        tried = edge_weight(edge, child)
        few = edge.visits <= _MUCH_VISITED and tried <= np.float32(2) * np.sqrt(weight)
        if k == early or few or tried <= 0:
            continue
        theirs, mine = sign * owner[p] < -_SETTLED, False
        for q in neighbours(board, p):
            mine |= sign * owner[q] > _SETTLED
        touches, _ = _touches_enemy(board, p)
        filling = sign * owner[p] > _SETTLED and not touches
        if filling or (theirs and not mine):
            continue
        if (
            sign * (child.means[UTILITY] - passed.means[UTILITY]) > np.float32(-0.1)
            and sign * (child.means[SCORE] - passed.means[SCORE]) > np.float32(-0.5)
            and sign * (child.means[LEAD] - passed.means[LEAD]) > np.float32(-0.5)
        ):
            return early
    return np.int64(NONE)
