"""Kernels: search against an opponent who mirrors every move at the centre of the board.

As KataGo does it, with its constants: the opponent is expected to go on mirroring, so that moves
are found which make that bad for him, and moves at the centre, where mirroring ends, are looked at
though they seem to lose a little.
"""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import NO_CHAIN, neighbours, opponent, point_of
from tengen.game.kernels.moves import PASS, is_legal, move_at
from tengen.jit import kernel
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.forest import (
    NEXT_CANDIDATE,
    NONE,
    UTILITY,
    has_room,
    nth_edge,
    packed_point,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.root_endings import ending_value
from tengen.search.kernels.select import (
    exploration_at,
    root_loss,
    untried_value,
    weight_and_value,
    weight_needed,
    wide_noise,
)

_FORCED = np.float32(100)  # more than any value: a move that needs visits gets them
_TOLERATED_LOSS = 0.03  # of utility, for visits to moves at the centre
_TOLERATED_MOVES = 4  # of a line, the last ones, in which the opponent need not have mirrored


@kernel(inline=True)
def mirror_image(board, p):
    """The point opposite to p; a pass is its own image."""
    if p == PASS:
        return np.int64(PASS)
    x, y = np.int64(p) % board.stride - 1, np.int64(p) // board.stride - 1
    return np.int64(point_of(board, board.width - 1 - x, board.height - 1 - y))


@kernel(inline=True)
def last_move_mirrors(board, history):
    """Was the last move the image of the one before it?"""
    before = move_at(history, board.ply - 1)
    return np.int64(move_at(history, board.ply)) == mirror_image(board, before)


@kernel(inline=True)
def centre_of(board):
    """The point in the middle of the board, or NONE if there is none."""
    if board.width % 2 == 0 or board.height % 2 == 0:
        return np.int64(NONE)
    return np.int64(point_of(board, board.width // 2, board.height // 2))


@kernel
def centre_counts(forest, g, board, depth, broken):
    """Is a leaf worth more to the owner of the centre than the network thinks?

    So it is where the opponent has the centre, komi is on his side and he has mirrored all moves
    of the line, or all but the last few; `broken` is the first that he did not.
    """
    return _is_difficult(forest, g, board) and broken >= depth - _TOLERATED_MOVES


@kernel(inline=True)
def _is_difficult(forest, g, board):
    """Does the opponent have the centre, and points enough to win by mirroring alone?"""
    centre = centre_of(board)
    return (
        centre != NONE
        and board.color[centre] == opponent(forest.boards[g].to_play)
        and forest.trees[g].mirror_advantage >= np.float32(-0.5)
    )


@kernel
def value_with_centre(forest, g, value, decided, owner):
    """A value, of which `decided` is the chance of a result, moved towards the centre's owner."""
    scale = 0.7 if forest.trees[g].mirror_asymmetry <= 0 else 0.3
    share = np.float64(value) / (np.float64(decided) + 1e-10)
    share = min(max(share, -1 + 1e-15), 1 - 1e-15)
    return np.float32(decided * np.tanh(np.arctanh(share) + scale * owner))


@kernel
def mirror_child(forest, g, index, depth, board, history, settings):
    """As `best_child` or `root_child`, where the opponent has mirrored all moves since the root.

    Priors are raised here. If it returns NEXT_CANDIDATE, the untried move with the highest raised
    prior is in front of the candidates.
    """
    tree, node = forest.trees[g], forest.nodes[index]
    sign, explore = sign_of(node.to_play), exploration_at(node, settings)
    at_root = depth == 0
    reply = np.int64(NONE)
    if board.to_play != forest.boards[g].to_play:
        reply = _expected_reply(board, history)
    reduction, loss = settings.fpu_reduction, settings.fpu_loss
    forced, needed, flat = np.float32(0), np.float32(0), np.float32(1)
    if at_root:
        reduction, loss = settings.root_fpu_reduction, root_loss(settings)
        forced = max(tree.forced, settings.per_child_visits)
        needed = weight_needed(forest, node, settings)
        flat /= np.float32(1) + np.float32(4) * settings.wide_root_noise
    untried = untried_value(node, node.tried_prior, sign, reduction, loss, settings)
    left, per_visit = tree.target - node.visits, node.weight / np.float32(node.visits)
    best, best_score = np.int64(NONE), np.float32(-1e30)
    for k in range(node.n_tried):
        at = nth_edge(forest, node, k)
        edge = forest.edges[at]
        child, p = forest.nodes[edge.child], packed_point(edge.packed)
        prior, weight = packed_prior(edge.packed), edge_weight(edge, child)
        tried = weight > 0
        weight, value = weight_and_value(weight, child, sign, untried, settings)
        if needed > 0:
            each = np.float32(edge.visits + 1) / (weight + per_visit)
            if child.visits + left < needed * each:
                continue
        if forced > 0 and weight * weight < forced * prior * node.child_weight:
            return at
        if at_root and tried:
            value += ending_value(forest, g, edge, sign, settings)
        if flat < 1:
            value, prior = value + wide_noise(tree, settings), prior**flat
        prior = _raised(forest, g, board, p, prior, reply, depth)
        value += _encouragement(forest, g, node, board, history, p, reply, depth, value, weight)
        score = value + explore * prior / (np.float32(1) + weight)
        if score > best_score:
            best, best_score = at, score
    if needed > 0 and left < needed / per_visit:
        return best
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    likeliest, most = np.int64(NONE), np.float32(-1)
    for i in range(first, end):
        packed = forest.candidates[i]
        prior = packed_prior(packed)
        prior = _raised(forest, g, board, packed_point(packed), prior, reply, depth)
        if prior > most:
            likeliest, most = np.int64(i), prior
    if likeliest == NONE:
        return best
    if flat < 1:
        untried, most = untried + wide_noise(tree, settings), most**flat
    if untried + explore * most <= best_score:
        return best
    if has_room(forest, g):  # in a full tree nothing new is tried, and the order stays
        candidates = forest.candidates
        candidates[first], candidates[likeliest] = candidates[likeliest], candidates[first]
    return np.int64(NEXT_CANDIDATE)


@kernel
def _expected_reply(board, history):
    """The move by which the opponent would mirror the last one, a pass where he cannot; NONE after
    a pass.
    """
    last = move_at(history, board.ply)
    if board.ply == 0 or last == PASS:
        return np.int64(NONE)
    image = mirror_image(board, last)
    return image if is_legal(board, history, image) else np.int64(PASS)


@kernel
def _raised(forest, g, board, p, prior, reply, depth):
    """A prior, raised for the reply that mirrors and for own moves at the centre; less and less
    with the depth.
    """
    share = np.float32(0)
    if board.to_play != forest.boards[g].to_play:
        if p == reply:
            share = np.float32(3) if _is_difficult(forest, g, board) else np.float32(1)
    elif p != PASS:
        share = _interest_in(forest, g, board, p)
    share /= np.float32(1) + np.sqrt(np.float32(depth))
    return prior + (np.float32(1) - prior) * share


@kernel
def _interest_in(forest, g, board, p):
    """How much an own move is raised for being at the centre, or near the stone there."""
    x, y = p % board.stride - 1, p // board.stride - 1
    dx = max((board.width - 1) // 2 - x, x - board.width // 2)
    dy = max((board.height - 1) // 2 - y, y - board.height // 2)
    steps, centre = max(dx, dy), centre_of(board)
    if steps <= 0:
        return np.float32(0.3)
    if centre != NONE and forest.boards[g].color[centre] == opponent(board.to_play):
        distance = _distance_squared(board, p, centre)
        if distance <= 2 or _touches_chain(board, p, centre):
            return np.float32(0.05)
        if distance <= 4:
            return np.float32(0.03)
    return np.float32(0.05) if steps == 1 else np.float32(0)


@kernel
def _encouragement(forest, g, node, board, history, p, reply, depth, value, weight):
    """What is added to a tried move's value so that it gets its share of visits."""
    mean = sign_of(node.to_play) * node.means[UTILITY]
    scale = max(np.float32(0.3), np.float32(1) - np.float32(0.7) * mean * mean)
    if board.to_play != forest.boards[g].to_play:
        if p != reply:
            return np.float32(0)
        return _for_reply(forest, g, board, reply, weight, node.child_weight, scale)
    if p == PASS:
        return np.float32(0)
    centre, share, more = centre_of(board), np.float32(0), np.float32(0)
    if _is_difficult(forest, g, board):
        asymmetry = max(np.float32(1), forest.trees[g].mirror_asymmetry)
        liberties = np.float32(board.libs[board.head[centre]])
        if _touches_chain(board, p, centre):
            more = np.float32(0.75) / (np.float32(1) + liberties) / asymmetry * scale
            share = np.float32(0.1) / liberties
        distance = _distance_squared(board, p, centre)
        if distance <= 2:
            share = max(share, np.float32(0.01))
        elif distance <= 4:
            share = max(share, np.float32(0.005))
    if p == centre:
        share = np.float32(0.06) if depth == 0 else np.float32(0.12)
    lost = mean - value - more
    if lost > 0 and lost * share > _TOLERATED_LOSS:
        share += np.float32(0.5) * (np.float32(_TOLERATED_LOSS) / lost - share)
    if share > 0:
        share *= _after_moves_at_centre(board, history, centre)
    if weight < share * node.child_weight:
        more += _FORCED
    return more


@kernel
def _for_reply(forest, g, board, reply, weight, total, scale):
    """What is added to the value of the reply that mirrors."""
    advantage, asymmetry = forest.trees[g].mirror_advantage, forest.trees[g].mirror_asymmetry
    if _is_difficult(forest, g, board):
        share, wanted = np.float32(0.2), np.float32(0.75)
        if reply != PASS:
            away = np.sqrt(np.float32(_distance_squared(board, centre_of(board), reply)))
            near = np.float32(1) / (np.float32(0.75) + np.float32(0.5) * away)
            share = max(share, near / max(np.float32(1), asymmetry))
    elif advantage >= 5:
        share, wanted = np.float32(0.15), np.float32(0.5)
    elif advantage >= -5:  # in points, as they are in KataGo
        share = np.float32(0.1) + advantage
        wanted = np.float32(0.3) + np.float32(4) * advantage
    else:
        share, wanted = np.float32(0.05), np.float32(0.1)
    if reply == PASS:
        share *= np.float32(0.35) / max(np.float32(1), np.sqrt(asymmetry))
    if asymmetry >= 1:
        share, wanted = share / asymmetry, wanted / asymmetry
    more = np.float32(0)
    if weight < share * total:
        more += _FORCED
    if weight < wanted * total:
        more += np.float32(0.18) * scale
    if weight < np.float32(0.5) * wanted * total:
        more += np.float32(0.36) * scale
    return more


@kernel
def _after_moves_at_centre(board, history, centre):
    """What is left of a share of visits after a move that was at the centre itself."""
    last = move_at(history, board.ply)
    if board.ply == 0 or last == PASS:
        return np.float32(1)
    distance, left = _distance_squared(board, centre, np.int64(last)), np.float32(1)
    if distance <= 16:
        left *= np.float32(0.9)
    if distance <= 5:
        left *= np.float32(0.825)
    if distance <= 2:
        left *= np.float32(0.75)
    return left


@kernel(inline=True)
def _distance_squared(board, p, q):
    dx, dy = p % board.stride - q % board.stride, p // board.stride - q // board.stride
    return dx * dx + dy * dy


@kernel
def _touches_chain(board, p, stone):
    """Is p beside the chain of a stone, if it is still there?"""
    head = board.head[stone]
    if head == NO_CHAIN:
        return False
    for q in neighbours(board, p):
        if board.head[q] == head:
            return True
    return False
