"""Kernels: take in what the network says of the leaves that waited, and back it up."""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import n_points, point_of
from tengen.game.kernels.moves import PASS
from tengen.jit import kernel
from tengen.search.kernels.backup import back_up
from tengen.search.kernels.forest import (
    AS_ASKED,
    EARLY_PASSES,
    EXPANDED,
    LEAD,
    NO_RESULT,
    NONE,
    SCORE,
    SCORE_ERROR,
    SCORE_SQUARE,
    TERMINAL,
    UTILITY,
    VALUE,
    VALUE_ERROR,
    VARIANCE_TIME,
    bring_best_forward,
    copy_values,
    enter_in_table,
    keeps_all_human,
    nth_edge,
    pack_move,
    packed_point,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.mirror import value_with_centre
from tengen.search.kernels.utility import score_centre, utility_of, utility_of_a_point

_STRUCK = np.float32(-2)  # a share below any that is asked for


@kernel
def expand_leaves(forest, batch, begin, end, evaluation, settings, shares):
    """Expand the leaves in rows begin..end of a batch with their evaluations, and back them up.

    shares [MAX_POINTS] is working memory.
    """
    for n in range(begin, end):
        path = batch.paths[n]
        leaf = path.nodes[path.depth]
        if path.depth == 0 and forest.trees[path.tree].renew == 2:
            _renew_root(forest, path, n, evaluation, settings, shares)
            continue
        _evaluate(forest, path, n, evaluation, settings)
        if path.final:
            forest.nodes[leaf].status = TERMINAL
            forest.nodes[leaf].bias = NONE
        else:
            _expand(forest, path, n, evaluation, settings, shares)
            enter_in_table(forest, path.tree, leaf)
        copy_values(forest.caught[leaf], batch.caught[n])
        back_up(forest, path, path.depth, settings)


@kernel(inline=True)
def _evaluate(forest, path, n, evaluation, settings):
    """Give the leaf its own statistics: the one place where views are turned to Black's.

    A leaf that has visits already is a node whose subtree was given up: this is one more.
    """
    board = forest.boards[path.tree]
    leaf = path.nodes[path.depth]
    node, tree = forest.nodes[leaf], forest.trees[path.tree]
    sign = sign_of(node.to_play)
    value = sign * (evaluation.value[n, 0] - evaluation.value[n, 1])
    if path.mirrored:
        owner = sign * evaluation.ownership[n, board.height // 2, board.width // 2]
        decided = evaluation.value[n, 0] + evaluation.value[n, 1]
        value = value_with_centre(forest, path.tree, value, decided, owner)
    score = sign * evaluation.score[n]
    square = score * score + evaluation.spread[n] * evaluation.spread[n]
    root_area = np.float32(np.sqrt(np.float32(board.width * board.height)))
    if path.depth == 0 and node.own_visits == 0:
        tree.centre = score_centre(settings, score, root_area)
    node.own_visits += 1
    share = np.float32(1) / np.float32(node.own_visits)
    own = node.own
    own[VALUE] += share * (value - own[VALUE])
    own[NO_RESULT] += share * (evaluation.value[n, 2] - own[NO_RESULT])
    own[SCORE] += share * (score - own[SCORE])
    own[SCORE_SQUARE] += share * (square - own[SCORE_SQUARE])
    own[LEAD] += share * (sign * evaluation.lead[n] - own[LEAD])
    own[UTILITY] = utility_of(
        settings,
        own[VALUE],
        own[NO_RESULT],
        own[SCORE],
        own[SCORE_SQUARE],
        tree.centre,
        root_area,
    )
    node.uncertainty[VALUE_ERROR] = evaluation.value_error[n]
    node.uncertainty[SCORE_ERROR] = evaluation.score_error[n]
    node.uncertainty[VARIANCE_TIME] = evaluation.variance_time[n]
    node.own_weight = np.float32(1)
    if settings.uncertainty > 0:
        point = utility_of_a_point(settings, score, tree.centre, root_area)
        node.own_weight = _weight_of(
            evaluation.value_error[n], point * evaluation.score_error[n], settings
        )
    if forest.ownership.shape[0]:
        owner = forest.ownership[leaf]
        for y in range(board.height):
            for x in range(board.width):
                mine = sign * np.float32(127) * evaluation.ownership[n, y, x]
                owner[y * board.width + x] = np.int8(np.rint(mine))


@kernel(inline=True)
def _weight_of(value_error, score_error, settings):
    """How much an evaluation weighs: less where the network expects to be wrong; 1 where it does
    not say. Both errors are in units of utility.
    """
    if value_error == 0 and score_error == 0:
        return np.float32(1)
    error = settings.win_utility * value_error + score_error
    if settings.uncertainty_exponent != 1:
        error **= settings.uncertainty_exponent
    return settings.uncertainty / (error + settings.uncertainty / settings.most_weight)


@kernel(inline=True)
def _expand(forest, path, n, evaluation, settings, shares):
    """Make the legal moves the leaf's candidates, with a softmax of the policy as priors.

    Below the root the hopeless ones are left out, to save memory.
    """
    board = forest.boards[path.tree]
    node, tree = forest.nodes[path.nodes[path.depth]], forest.trees[path.tree]
    avoid = forest.avoid[path.tree, node.to_play]
    if tree.avoids == EARLY_PASSES and avoid[PASS] > path.depth:
        _strike_pass(path.legal, n_points(board))
    block = path.tree * forest.candidate_room + tree.n_candidates + 1
    points = forest.candidates[block:]
    moves = list_moves(
        path.legal, board, evaluation.policy[n], evaluation.ownership.shape[2], points, shares
    )
    total = softmax_shares(shares, moves, np.float32(1) / settings.policy_temperature)
    if settings.passing_hacks:
        total = _cap_pass(shares, points, moves, total)
    if path.depth == 0:
        _keep_owners(forest, path, n, evaluation, settings)
    each = np.float32(1) / total
    # People have priors of their own, and a mirrored move any.
    keeps_all = path.depth == 0 or keeps_all_human(forest) or settings.anti_mirror
    least = np.float32(-1) if keeps_all else settings.least_prior * total
    if tree.avoids >= AS_ASKED:
        _strike_avoided(shares, points, moves, avoid, path.depth)
    at = block
    for k in range(moves):
        forest.candidates[at] = pack_move(shares[k] * each, points[k])
        at += shares[k] >= least
    forest.candidates[block - 1] = path.nodes[path.depth]
    bring_best_forward(forest.candidates, block, at)
    node.block = block
    node.n_candidates = at - block
    node.n_tried = 0
    node.n_dropped = 0
    node.tried_prior = np.float32(0)
    node.status = EXPANDED
    tree.n_candidates += at - block + 1


@kernel
def _renew_root(forest, path, n, evaluation, settings, shares):
    """Give a kept root the priors that the network has for it as a root."""
    g = path.tree
    board, tree, own = forest.boards[g], forest.trees[g], forest.policy[g]
    node = forest.nodes[tree.root]
    tree.renew = 0
    tree.prepared = 0
    if node.status != EXPANDED:
        return
    points = forest.gumbel[g].view(np.int32)  # working memory until the root is prepared
    moves = list_moves(
        path.legal, board, evaluation.policy[n], evaluation.ownership.shape[2], points, shares
    )
    total = softmax_shares(shares, moves, np.float32(1) / settings.policy_temperature)
    if settings.passing_hacks:
        total = _cap_pass(shares, points, moves, total)
    _keep_owners(forest, path, n, evaluation, settings)
    for p in range(n_points(board)):
        own[p] = 0
    for k in range(moves):
        own[points[k]] = shares[k] / total
    node.tried_prior = np.float32(0)
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        point = packed_point(edge.packed)
        edge.packed = pack_move(own[point], point)
        node.tried_prior += packed_prior(edge.packed)
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    for i in range(first, end):
        point = packed_point(forest.candidates[i])
        forest.candidates[i] = pack_move(own[point], point)
    if first < end:
        bring_best_forward(forest.candidates, first, end)


@kernel
def _keep_owners(forest, path, n, evaluation, settings):
    """Keep what the network says of the root's points, where moves at the end depend on it."""
    if settings.ending_bonus == 0 and not settings.fill_dame:
        return
    board, owner = forest.boards[path.tree], forest.owner[path.tree]
    sign = sign_of(board.to_play)
    for y in range(board.height):
        for x in range(board.width):
            owner[point_of(board, x, y)] = sign * evaluation.ownership[n, y, x]


@kernel(inline=True)
def _cap_pass(shares, points, moves, total):
    """Give a pass 19 times the prior of all other moves at most; returns the new sum."""
    if points[0] != PASS or shares[0] <= np.float32(0.9) * total:
        return total
    others = np.float32(0)
    for k in range(1, moves):
        others += shares[k]
    most = np.float32(19) * others
    if most <= 0 or shares[0] <= most:
        return total
    shares[0] = most
    return most + others


@kernel(inline=True)
def list_moves(legal, board, policy, tensor_width, points, logits):
    """Fill the points of the legal moves and what the policy says of them; returns how many.

    Branch-free, since which points are legal is unpredictable: the others are written, too, and
    then overwritten.
    """
    points[0], logits[0] = PASS, policy[policy.shape[0] - 1]
    n = np.int64(legal[PASS])
    for y in range(board.height):
        first, place = point_of(board, 0, y), y * tensor_width
        for x in range(board.width):
            points[n] = first + x
            logits[n] = policy[place + x]
            n += legal[first + x]
    return n


@kernel(inline=True)
def softmax_shares(logits, n, sharpness):
    """Turn the first n into shares, the largest of which is 1; returns their sum."""
    top = np.float32(-1e30)
    for k in range(n):
        top = max(top, logits[k])
    for k in range(n):
        logits[k] = exp_below_zero(min(sharpness * (logits[k] - top), np.float32(0)))
    total = np.float32(0)
    for k in range(n):
        total += logits[k]
    return total


@kernel(inline=True)
def exp_below_zero(x):
    """e^x for x of 0 or less, to seven digits; unlike the library's, many at a time."""
    x = max(x, np.float32(-87)) * np.float32(1.4426950408889634)  # now a power of two
    whole = np.int32(x - np.float32(0.5))
    f = (x - np.float32(whole)) * np.float32(0.6931471805599453)
    power = np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)
    series = np.float32(1 / 720)
    series = series * f + np.float32(1 / 120)
    series = series * f + np.float32(1 / 24)
    series = series * f + np.float32(1 / 6)
    series = series * f + np.float32(0.5)
    series = series * f + np.float32(1)
    return (series * f + np.float32(1)) * power


@kernel
def _strike_pass(legal, points):
    """Strike the pass unless it is the only move."""
    for p in range(PASS + 1, points):
        if legal[p]:
            legal[PASS] = 0
            return


@kernel
def _strike_avoided(shares, points, moves, avoid, depth):
    """Strike the moves that are to be avoided at this depth.

    The others keep the priors that the network gives them, which then sum up to less than 1.
    """
    for k in range(moves):
        if avoid[points[k]] > depth:
            shares[k] = _STRUCK
