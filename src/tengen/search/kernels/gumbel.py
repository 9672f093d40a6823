"""Kernels: the Gumbel root. Few visits are spent on the moves that lead by prior plus noise, in
rounds, each with half as many moves as the one before (sequential halving).
"""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.search.kernels.forest import (
    NEXT_CANDIDATE,
    NONE,
    UTILITY,
    nth_edge,
    packed_point,
    packed_prior,
    sign_of,
)

VISITS_SCALE, VALUE_SCALE = 50.0, 1.0  # how fast values outweigh priors
_LEAST_PRIOR = 1e-12


@kernel
def gumbel_child(forest, g):
    """The edge to follow, or NEXT_CANDIDATE, made the best of those not tried."""
    tree = forest.trees[g]
    node = forest.nodes[tree.root]
    done = node.visits - node.own_visits + node.pending - 1
    turn = turn_of(done, tree.target - 1, min(tree.gumbel, np.int64(node.n_candidates)))
    best, best_score, fewest = np.int64(NONE), -np.inf, np.int64(2**31)
    most = most_visits(forest, node)
    for k in range(node.n_tried):
        at = nth_edge(forest, node, k)
        edge = forest.edges[at]
        visits = edge.visits + forest.nodes[edge.child].pending
        score = gumbel_score(forest, g, edge, most)
        # Rounds may not come out even, for leaves collide: then the least visited is next.
        wanted = 0 if visits == turn else abs(visits - turn)
        if wanted < fewest or (wanted == fewest and score > best_score):
            best, best_score, fewest = at, score, np.int64(wanted)
    if turn == 0 and node.n_tried < min(tree.gumbel, np.int64(node.n_candidates)):
        _bring_luckiest_forward(forest, g, node)
        best = np.int64(NEXT_CANDIDATE)
    return best


@kernel
def turn_of(done, simulations, considered):
    """How many visits the move to be visited next has: the schedule of sequential halving."""
    rounds = 0
    while (1 << rounds) < considered:
        rounds += 1
    visits, left = 0, done
    while True:
        repeats = max(1, simulations // max(1, rounds * considered))
        for _ in range(repeats):
            if left < considered:
                return visits
            left -= considered
            visits += 1
        considered = max(2, considered // 2)


@kernel
def most_visits(forest, node):
    """The visits of the root's most visited move."""
    most = 0
    for k in range(node.n_tried):
        most = max(most, forest.edges[nth_edge(forest, node, k)].visits)
    return most


@kernel
def gumbel_score(forest, g, edge, most):
    """Noise plus prior plus value, as the Gumbel root compares moves that were tried."""
    child = forest.nodes[edge.child]
    value = 0.0
    if child.visits:
        sign = sign_of(forest.nodes[edge.parent].to_play)
        value = (VISITS_SCALE + most) * VALUE_SCALE * 0.5 * sign * child.means[UTILITY]
    return forest.gumbel[g, packed_point(edge.packed)] + _logit(packed_prior(edge.packed)) + value


@kernel(inline=True)
def _logit(prior):
    return np.log(prior + _LEAST_PRIOR)


@kernel
def _bring_luckiest_forward(forest, g, node):
    """Swap the candidate with the largest noise plus prior to the front of the untried ones."""
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    best, best_score = first, -np.inf
    for i in range(first, end):
        packed = forest.candidates[i]
        score = forest.gumbel[g, packed_point(packed)] + _logit(packed_prior(packed))
        if score > best_score:
            best, best_score = i, score
    candidates = forest.candidates
    candidates[first], candidates[best] = candidates[best], candidates[first]
