"""Kernels: bring what was learned at a leaf back to the root.

A node's statistics are made anew from its own evaluation and from its children, each with the
weight of the visits that came through the edge. So they are right in a tree and in a graph alike,
and nothing drifts. A child that looks worse than its siblings weighs less than its visits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.jit import kernel
from tengen.search.kernels.forest import (
    LEAD,
    NO_RESULT,
    NONE,
    SCORE,
    SCORE_SQUARE,
    UTILITY,
    UTILITY_SQUARE,
    VALUE,
    packed_prior,
    sign_of,
)

# A table of what a child keeps of its weight, by how many standard deviations it is better.
FARTHEST, STEPS_PER_STDEV = 32, 32
SHARES = 2 * FARTHEST * STEPS_PER_STDEV + 1
_LEAST_CHANCE = 1e-4


def shares_kept(exponent: float) -> NDArray[np.float32]:
    """[SHARES] P^exponent, P the chance by Student's t distribution with three degrees of freedom
    that a child is as good as the average.
    """
    t = (np.arange(SHARES) / STEPS_PER_STDEV - FARTHEST) / np.sqrt(3)
    chance = 0.5 + (t / (1 + t * t) + np.arctan(t)) / np.pi
    return np.asarray((chance + _LEAST_CHANCE) ** exponent, np.float32)


@kernel(inline=True)
def back_up(forest, path, depth, settings):
    """Count a finished descent along the first `depth` edges of its path.

    If it explored a move whose visits carry no weight, only the nodes below that move learn of it.
    """
    nodes, edges = forest.nodes, forest.edges
    if path.counts_from > 0 and not path.extra:
        forest.trees[path.tree].uncounted += 1
    for k in range(depth, -1, -1):
        index = path.nodes[k]
        nodes[index].pending -= 1
        if k < path.counts_from:
            continue
        if k < depth:
            edges[path.edges[k]].visits += 1
        gather(forest, index, settings)


@kernel(inline=True)
def take_back(forest, path, depth):
    """Undo a descent that leads nowhere now."""
    for k in range(depth + 1):
        forest.nodes[path.nodes[k]].pending -= 1


@kernel(inline=True)
def edge_weight(edge, child):
    """How much of a child's weight came through this edge."""
    if child.visits == edge.visits:  # always, in a tree
        return child.weight
    if child.visits == 0:
        return np.float32(0)
    return child.weight * np.float32(edge.visits) / np.float32(child.visits)


@kernel(inline=True)
def gather(forest, index, settings):
    """Make a node's statistics from its own evaluation and its children's.

    Inlined by force: it is too large for LLVM to do so by itself, and a step of self-play took a
    tenth longer.
    """
    nodes, edges, candidates = forest.nodes, forest.edges, forest.candidates
    node = nodes[index]
    own = node.own_weight * np.float32(node.own_visits)
    visits = node.own_visits
    sign = sign_of(node.to_play)
    found, total, plain = np.float32(0), np.float32(0), np.float32(0)
    priors = np.float32(0)
    first, end = np.uint64(node.block), np.uint64(node.block) + np.uint64(node.n_tried)
    for at in range(first, end):
        edge = edges[candidates[at]]
        child = nodes[edge.child]
        visits += edge.visits
        found += edge_weight(edge, child)
        weight, priors = pruned_weight(edge, child, sign, total, plain, priors, settings)
        total += weight
        plain += weight * child.means[UTILITY]

    counted = np.float32(0)  # the same total, bad children counted less
    value, no_result, lead = np.float32(0), np.float32(0), np.float32(0)
    score, score_square = np.float32(0), np.float32(0)
    utility, utility_square, weight_square = np.float32(0), np.float32(0), np.float32(0)
    if total > 0:
        average = plain / total
        so_far, plain, priors = np.float32(0), np.float32(0), np.float32(0)
        for at in range(first, end):
            edge = edges[candidates[at]]
            child = nodes[edge.child]
            weight, priors = pruned_weight(edge, child, sign, so_far, plain, priors, settings)
            so_far += weight
            plain += weight * child.means[UTILITY]
            if weight <= 0:
                continue
            means = child.means
            if settings.value_weight > 0:
                better = sign * (means[UTILITY] - average)
                weight *= deserved_share(settings, better, weight)
            counted += weight
            value += weight * means[VALUE]
            no_result += weight * means[NO_RESULT]
            score += weight * means[SCORE]
            score_square += weight * means[SCORE_SQUARE]
            lead += weight * means[LEAD]
            utility += weight * means[UTILITY]
            utility_square += weight * means[UTILITY_SQUARE]
            weight_square += weight * weight * child.weight_square / (child.weight * child.weight)

    scale = total / counted if counted > 0 else np.float32(0)
    mine = node.own
    own_utility = mine[UTILITY]
    if node.bias != NONE and settings.value_bias > 0:
        below = utility / counted if counted > 0 else own_utility
        own_utility += settings.value_bias * learn_bias(
            forest.biases[node.bias], node, below - own_utility, found, settings
        )
    node.visits = visits
    node.weight = own + total
    node.child_weight = found
    node.weight_square = node.own_weight * own + scale * scale * weight_square
    each = np.float32(1) / node.weight if node.weight > 0 else np.float32(0)
    means = node.means
    means[VALUE] = (own * mine[VALUE] + scale * value) * each
    means[NO_RESULT] = (own * mine[NO_RESULT] + scale * no_result) * each
    means[SCORE] = (own * mine[SCORE] + scale * score) * each
    means[SCORE_SQUARE] = (own * mine[SCORE_SQUARE] + scale * score_square) * each
    means[LEAD] = (own * mine[LEAD] + scale * lead) * each
    means[UTILITY] = (own * own_utility + scale * utility) * each
    own_square = own * own_utility * own_utility
    means[UTILITY_SQUARE] = (own_square + scale * utility_square) * each


@kernel(inline=True)
def pruned_weight(edge, child, sign, total, plain, priors, settings):
    """The child's weight after noise pruning, and `priors` plus this child's prior.

    `total`, `plain` and `priors` are sums over the children with larger priors: of the weights, of
    weight times utility, and of the priors. Computed twice rather than kept in the edge: self-play
    is bound by memory.
    """
    weight = edge_weight(edge, child)
    if settings.noise_pruning and weight > 0:
        prior = max(packed_prior(edge.packed), np.float32(1e-30))
        # The cheap test first, as divisions are slow: few children go on from here, and none does
        # where the others have no weight.
        if weight * priors > np.float32(2) * total * prior:
            worse = sign * (plain / total - child.means[UTILITY])
            weight -= noise_weight(settings, weight, worse, total * prior / priors)
        priors += prior
    return weight, priors


@kernel(inline=True)
def noise_weight(settings, weight, worse, share):
    """How much of a child's weight is exploration that found nothing.

    Its value is `worse` by this than the average of the children with larger priors; `share` is the
    weight that its prior is worth. Only what exceeds twice that is noise.
    """
    excess = weight - np.float32(2) * share
    if worse <= 0 or excess <= 0:
        return np.float32(0)
    off = excess * (np.float32(1) - np.exp(-worse / settings.noise_pruning_scale))
    return min(off, settings.noise_pruning_cap)


@kernel
def learn_bias(bias, node, error, weight, settings):
    """Update a node's entry of the bias table with its evaluation's error; returns the mean error.

    A node counts by a power of the weight found below it; its earlier contribution is replaced.
    """
    if weight > 0:
        weight = weight**settings.value_bias_exponent
        bias.error += error * weight - node.bias_sum
        bias.weight += weight - node.bias_weight
        node.bias_sum = error * weight
        node.bias_weight = weight
    return np.float32(bias.error / bias.weight) if bias.weight > 0.001 else np.float32(0)


@kernel(inline=True)
def deserved_share(settings, better, weight):
    """How much of its weight a child keeps that is this much better than the average.

    The mean of weight w is taken to have the variance 1 / (1.5 √w).
    """
    t = better * np.sqrt(np.float32(1.5) * np.sqrt(weight))
    x = (t + np.float32(FARTHEST)) * np.float32(STEPS_PER_STDEV)
    x = max(np.float32(0), min(x, np.float32(SHARES - 2)))
    i = np.int64(x)
    part = x - np.float32(i)
    return settings.shares[i] + part * (settings.shares[i + 1] - settings.shares[i])
