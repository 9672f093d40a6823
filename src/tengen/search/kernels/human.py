"""Kernels: explore by the policy of a network that imitates people, as KataGo does."""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import n_points
from tengen.game.kernels.moves import PASS
from tengen.jit import kernel
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.expand import list_moves, softmax_shares
from tengen.search.kernels.forest import (
    NEXT_CANDIDATE,
    NONE,
    OTHER_TURN,
    OWN_TURN,
    ROOT,
    has_room,
    human_row,
    nth_edge,
    packed_point,
    sign_of,
)
from tengen.search.kernels.random_numbers import uniform
from tengen.search.kernels.select import root_loss, untried_value, weight_and_value, wide_noise

# Who chooses the next move of a descent: the search, or people, whose choice may go without weight.
SEARCH, WEIGHTFUL, WEIGHTLESS = range(3)


@kernel
def next_chooser(forest, g, index, depth):
    """Draw who chooses the move at a node."""
    style, tree, node = forest.styles[g], forest.trees[g], forest.nodes[index]
    whose = ROOT
    if depth > 0:
        whose = OWN_TURN if node.to_play == forest.nodes[tree.root].to_play else OTHER_TURN
    weightless, weightful = style.weightless[whose], style.weightful[whose]
    if weightless + weightful <= 0 or forest.human[human_row(forest, g, index), PASS] < 0:
        return SEARCH
    drawn = uniform(tree.rng)
    if drawn < weightless:
        return WEIGHTLESS
    return WEIGHTFUL if drawn < weightless + weightful else SEARCH


@kernel
def human_child(forest, g, index, weightless, settings):
    """As `best_child`, by what people would play; NEXT_CANDIDATE is what they would try next.

    A choice without weight goes by all visits of the positions that moves lead to, those without
    weight among them.
    """
    node, tree, style = forest.nodes[index], forest.trees[g], forest.styles[g]
    policy, sign = forest.human[human_row(forest, g, index)], sign_of(node.to_play)
    at_root = index == tree.root
    tried, total = np.float32(0), np.float32(0)
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        tried += policy[packed_point(edge.packed)]
        total += _weight(forest, edge, weightless)
    explore = style.exploration + style.permanent_exploration * np.sqrt(total)
    explore *= np.sqrt(total + np.float32(0.01))
    reduction, loss = settings.fpu_reduction, settings.fpu_loss
    if at_root:
        reduction, loss = settings.root_fpu_reduction, root_loss(settings)
    untried = untried_value(node, min(tried, np.float32(1)), sign, reduction, loss, settings)
    noisy = at_root and not weightless and settings.wide_root_noise > 0
    sharpness = np.float32(1)
    if noisy:
        sharpness /= np.float32(1) + np.float32(4) * settings.wide_root_noise
    best, best_score = np.int64(NONE), np.float32(-1e30)
    for k in range(node.n_tried):
        at = nth_edge(forest, node, k)
        edge = forest.edges[at]
        weight, value = weight_and_value(
            _weight(forest, edge, weightless), forest.nodes[edge.child], sign, untried, settings
        )
        if noisy:
            value += wide_noise(tree, settings)
        prior = policy[packed_point(edge.packed)] ** sharpness
        score = value + explore * prior / (np.float32(1) + weight)
        if score > best_score:
            best, best_score = at, score
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    if first == end:
        return best
    likeliest = first
    for i in range(first + 1, end):
        if (
            policy[packed_point(forest.candidates[i])]
            > policy[packed_point(forest.candidates[likeliest])]
        ):
            likeliest = i
    if noisy:
        untried += wide_noise(tree, settings)
    prior = policy[packed_point(forest.candidates[likeliest])] ** sharpness
    if untried + explore * prior <= best_score:
        return best
    if has_room(forest, g):  # else nothing is tried, and the best by the search stays in front
        candidates = forest.candidates
        candidates[first], candidates[likeliest] = candidates[likeliest], candidates[first]
    return np.int64(NEXT_CANDIDATE)


@kernel(inline=True)
def _weight(forest, edge, all_visits):
    child = forest.nodes[edge.child]
    return child.weight if all_visits else edge_weight(edge, child)


@kernel
def take_in_human(forest, batch, rows, evaluation, settings, shares, points):
    """Keep what people would play at the leaves in these rows of a batch, one evaluation for each.

    shares and points [MAX_POINTS] are working memory.
    """
    for n in range(rows.shape[0]):
        path = batch.paths[rows[n]]
        board = forest.boards[path.tree]
        policy = forest.human[human_row(forest, path.tree, path.nodes[path.depth])]
        for p in range(n_points(board)):
            policy[p] = 0
        moves = list_moves(
            path.legal, board, evaluation.policy[n], evaluation.ownership.shape[2], points, shares
        )
        total = softmax_shares(shares, moves, np.float32(1) / settings.policy_temperature)
        for k in range(moves):
            policy[points[k]] = shares[k] / total
