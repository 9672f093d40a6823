"""Kernels: which move a descent follows: prior, value, visits and what is under way (PUCT)."""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.forest import (
    NEXT_CANDIDATE,
    NONE,
    UTILITY,
    UTILITY_SQUARE,
    nth_edge,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.gumbel import gumbel_child
from tengen.search.kernels.random_numbers import normal, uniform
from tengen.search.kernels.root_endings import ending_value
from tengen.search.kernels.utility import utility_radius


@kernel(inline=True)
def exploration_at(node, settings):
    """How much the prior weighs against the value: grows with the visits and the disagreement."""
    total = node.child_weight
    grown = settings.exploration + settings.exploration_log * np.log(
        (total + settings.exploration_base) / settings.exploration_base
    )
    return grown * np.sqrt(total + np.float32(0.01)) * _stdev_factor(node, settings)


@kernel(inline=True)
def _stdev_factor(node, settings):
    if settings.stdev_scale == 0 or node.weight <= 1:
        return np.float32(1)
    mean = node.means[UTILITY]
    square = mean * mean
    sum_of_squares = (
        square + settings.stdev_prior * settings.stdev_prior
    ) * settings.stdev_prior_weight + max(node.means[UTILITY_SQUARE], square) * node.weight
    variance = sum_of_squares / (settings.stdev_prior_weight + node.weight - np.float32(1)) - square
    stdev = np.sqrt(max(variance, np.float32(0)))
    return np.float32(1) + settings.stdev_scale * (stdev / settings.stdev_prior - np.float32(1))


@kernel(inline=True)
def untried_value(node, tried, sign, reduction, loss, settings):
    """What a move not tried yet is taken to be worth, for the side to play.

    `tried` is the share of the policy on moves that were.
    """
    trust = tried
    if settings.fpu_trusts_tried:
        power = settings.fpu_trust_power
        trust = min(np.float32(1), trust * trust if power == 2 else np.float32(trust**power))
        parent = trust * node.means[UTILITY] + (np.float32(1) - trust) * node.own[UTILITY]
    else:
        parent = node.means[UTILITY]
    value = sign * parent - reduction * np.sqrt(tried)
    return value - loss * (utility_radius(settings) + value)


@kernel(inline=True)
def weight_and_value(weight, child, sign, untried, settings):
    """Weight and value of a child for the side to play; descents under way count as lost.

    A child whose visits have no weight here is worth what an untried move is.
    """
    value = untried
    if weight > 0:
        value = sign * child.means[UTILITY]
    if child.pending == 0:
        return weight, value
    virtual = settings.virtual_loss * np.float32(child.pending)
    share = virtual / (virtual + max(np.float32(0.25), weight))
    return weight + virtual, value - (utility_radius(settings) + value) * share


@kernel(inline=True)
def best_child(forest, index, settings):
    """The edge to follow, NEXT_CANDIDATE, or NONE if there is no move."""
    node = forest.nodes[index]
    sign = sign_of(node.to_play)
    explore = exploration_at(node, settings)
    reduction, loss = settings.fpu_reduction, settings.fpu_loss
    untried = untried_value(node, node.tried_prior, sign, reduction, loss, settings)
    best, best_score = np.int64(NONE), np.float32(-1e30)
    for k in range(node.n_tried):
        at = nth_edge(forest, node, k)
        edge = forest.edges[at]
        child = forest.nodes[edge.child]
        weight = edge_weight(edge, child)
        weight, value = weight_and_value(weight, child, sign, untried, settings)
        score = value + explore * packed_prior(edge.packed) / (np.float32(1) + weight)
        if score > best_score:
            best, best_score = at, score
    if node.n_tried < node.n_candidates:
        prior = packed_prior(forest.candidates[node.block + node.n_tried])
        if untried + explore * prior > best_score:
            best = np.int64(NEXT_CANDIDATE)
    return best


@kernel
def root_child(forest, g, settings):
    """As `best_child`, at the root: with forced playouts, wide noise, what a move is worth at the
    end of a game, or Gumbel's choice; moves that cannot become the best any more are left out.
    """
    tree = forest.trees[g]
    if tree.gumbel:
        return gumbel_child(forest, g)
    node = forest.nodes[tree.root]
    sign = sign_of(node.to_play)
    explore = exploration_at(node, settings)
    reduction, loss = settings.root_fpu_reduction, root_loss(settings)
    untried = untried_value(node, node.tried_prior, sign, reduction, loss, settings)
    total, forced = node.child_weight, max(tree.forced, settings.per_child_visits)
    needed = weight_needed(forest, node, settings)
    left, per_visit = tree.target - node.visits, node.weight / np.float32(node.visits)
    # Wide root noise also flattens the priors, which then sum up to more than 1.
    flat = np.float32(1) / (np.float32(1) + np.float32(4) * settings.wide_root_noise)
    best, best_score = np.int64(NONE), np.float32(-1e30)
    for k in range(node.n_tried):
        at = nth_edge(forest, node, k)
        edge = forest.edges[at]
        prior = packed_prior(edge.packed)
        child = forest.nodes[edge.child]
        weight = edge_weight(edge, child)
        weight, value = weight_and_value(weight, child, sign, untried, settings)
        if needed > 0:
            each = np.float32(edge.visits + 1) / (weight + per_visit)
            if child.visits + left < needed * each:
                continue
        if forced > 0 and weight * weight < forced * prior * total:
            return at
        if weight > 0:
            value += ending_value(forest, g, edge, sign, settings)
        if flat < 1:
            value, prior = value + wide_noise(tree, settings), prior**flat
        score = value + explore * prior / (np.float32(1) + weight)
        if score > best_score:
            best, best_score = at, score
    new = node.n_tried < node.n_candidates
    if new and (needed == 0 or left >= needed / per_visit):
        prior = packed_prior(forest.candidates[node.block + node.n_tried])
        if flat < 1:
            untried, prior = untried + wide_noise(tree, settings), prior**flat
        if untried + explore * prior > best_score:
            best = np.int64(NEXT_CANDIDATE)
    return best


@kernel(inline=True)
def root_loss(settings):
    """How far the value of an untried move of a root is pulled to a certain loss, from 0 to 1."""
    return settings.root_fpu_loss if settings.root_fpu_loss > 0 else settings.fpu_loss


@kernel(inline=True)
def weight_needed(forest, node, settings):
    """The weight without which a root move is not worth a visit."""
    most = np.float32(0)
    if settings.futile_share > 0:
        for k in range(node.n_tried):
            edge = forest.edges[nth_edge(forest, node, k)]
            most = max(most, edge_weight(edge, forest.nodes[edge.child]))
    return settings.futile_share * most


@kernel(inline=True)
def wide_noise(tree, settings):
    """A random bonus, in half of the cases, by which analysis looks at more moves."""
    if uniform(tree.rng) < 0.5:
        return np.float32(0)
    return settings.wide_root_noise * np.float32(abs(normal(tree.rng)))
