"""Kernels: what is special about the root: its priors, and the choice of the move."""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import n_points
from tengen.jit import kernel
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.forest import (
    AS_ASKED,
    NONE,
    UTILITY,
    UTILITY_SQUARE,
    bring_best_forward,
    nth_candidate,
    nth_edge,
    pack_move,
    packed_point,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.gumbel import gumbel_score, most_visits
from tengen.search.kernels.random_numbers import gamma, gumbel, uniform
from tengen.search.kernels.root_endings import early_pass, ending_value
from tengen.search.kernels.select import exploration_at
from tengen.search.kernels.utility import utility_radius

# Dirichlet noise: its alpha runs through these points of (legal moves, alpha).
_SMALL_BOARD, _SMALL_ALPHA = 82.0, 0.3
_LARGE_BOARD, _LARGE_ALPHA = 362.0, 0.03
_LCB_GUARD = np.float32(0.2)  # a lower bound is worth at most 1 / this², 25 times the visits
_ALPHA_POWER = np.log(_SMALL_ALPHA / _LARGE_ALPHA) / np.log(_LARGE_BOARD / _SMALL_BOARD)


@kernel
def prepare_root(forest, g, settings):
    """Give the expanded root of tree g the priors of a new search."""
    tree, board = forest.trees[g], forest.boards[g]
    node = forest.nodes[tree.root]
    own = forest.policy[g]
    if not tree.prepared:
        _read_priors(forest, node, own, n_points(board))
        tree.prepared = 1
    elif not tree.noisy and not tree.gumbel:
        return
    sharpness = np.float32(1)
    if tree.noisy:
        late = settings.root_temperature
        early = settings.root_temperature_early
        sharpness /= late + (early - late) * fading(board, settings)
    share = settings.noise_share if tree.noisy else np.float32(0)
    alpha = _alpha(settings, max(node.n_candidates, 1))
    shape = (0, 0.0, 0.0)
    if share > 0 and settings.noise_total > 0:
        shape = _alpha_shape(own, n_points(board))
    total, noise_total = np.float32(1e-30), np.float32(1e-30)
    kept = np.float32(1e-30)
    for p in range(n_points(board)):
        forest.gumbel[g, p] = 0
        if own[p] > 0:
            kept += own[p]
            total += own[p] ** sharpness
            if share > 0:
                if settings.noise_total > 0:
                    alpha = settings.noise_total * _alpha_share(own, p, *shape)
                forest.gumbel[g, p] = gamma(tree.rng, alpha)
                noise_total += forest.gumbel[g, p]
    if tree.avoids >= AS_ASKED:
        total /= kept
    node.tried_prior = np.float32(0)
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        point = packed_point(edge.packed)
        noise = forest.gumbel[g, point] / noise_total
        prior = (np.float32(1) - share) * own[point] ** sharpness / total + share * noise
        edge.packed = pack_move(prior, point)
        node.tried_prior += packed_prior(edge.packed)
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    for i in range(first, end):
        point = packed_point(forest.candidates[i])
        noise = forest.gumbel[g, point] / noise_total
        prior = (np.float32(1) - share) * own[point] ** sharpness / total + share * noise
        forest.candidates[i] = pack_move(prior, point)
    if first < end:
        bring_best_forward(forest.candidates, first, end)
    if tree.gumbel:
        for p in range(n_points(board)):
            forest.gumbel[g, p] = gumbel(tree.rng)


@kernel
def _read_priors(forest, node, own, points):
    for p in range(points):
        own[p] = 0
    for k in range(node.n_candidates):
        packed = nth_candidate(forest, node, k)
        own[packed_point(packed)] = packed_prior(packed)


@kernel(inline=True)
def _alpha(settings, moves):
    """Dirichlet's alpha: larger where there are fewer moves to spread the noise over."""
    if settings.noise_alpha > 0:
        return np.float64(settings.noise_alpha)
    return _SMALL_ALPHA * (_SMALL_BOARD / moves) ** _ALPHA_POWER


@kernel(inline=True)
def _log_prior(prior):
    return np.log(min(0.01, np.float64(prior)) + 1e-20)


@kernel
def _alpha_shape(own, points):
    """The number of moves, the mean of the logarithms of their priors, each of 1% at most, and by
    how much logarithms are above it in all.
    """
    n, total, above = 0, 0.0, 0.0
    for p in range(points):
        if own[p] > 0:
            n += 1
            total += _log_prior(own[p])
    mean = total / max(n, 1)
    for p in range(points):
        if own[p] > 0:
            above += max(0.0, _log_prior(own[p]) - mean)
    return n, mean, above


@kernel(inline=True)
def _alpha_share(own, p, n, mean, above):
    """A move's share of the alphas: half for all alike, half for those of larger priors."""
    if above <= 0:
        return 1.0 / n
    return 0.5 / n + 0.5 * max(0.0, _log_prior(own[p]) - mean) / above


@kernel(inline=True)
def fading(board, settings):
    """From 1, at the first move or later, towards 0, at a pace that suits the board's size."""
    moves = max(np.float32(board.ply) - settings.temperature_moves, np.float32(0))
    pace = settings.temperature_halflife * np.sqrt(np.float32(board.width * board.height))
    return np.float32(0.5) ** (moves * np.float32(19) / pace)


@kernel
def play_weights(forest, g, settings, weights):
    """Fill weights[k] with how much the k-th tried move of the root deserves to be played.

    Returns the index of the best. Visits that were forced, or that the search would not make again,
    do not count; a move that is better even at the lower end of what is known about it counts as if
    it had the visits for that. All else is measured by the move that was explored most steadily:
    without its latest visit, which may weigh too much, and with its prior, as visits may be few.
    """
    tree = forest.trees[g]
    node = forest.nodes[tree.root]
    if tree.gumbel:
        return _gumbel_weights(forest, g, weights)
    best, steadiest = 0, np.float32(-1)
    early = NONE
    if settings.fill_dame and forest.boards[g].territory:
        early = early_pass(forest, g, node)
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        weights[k] = np.float32(0) if k == early else edge_weight(edge, forest.nodes[edge.child])
        steady = weights[k]
        if not tree.noisy:
            steady *= np.float32(max(edge.visits - 1, 0)) / np.float32(max(edge.visits, 1))
            steady += np.float32(2) * packed_prior(edge.packed)
        if steady > steadiest:
            best, steadiest = k, steady
    targets = tree.noisy and tree.forced == 0  # self-play learns from all visits, then
    if not targets:
        _take_off_unwanted(forest, g, settings, weights, best)
    if settings.lcb_stdevs > 0:
        best = _raise_surest(forest, g, settings, weights, best)
    if not tree.noisy:
        most = weights[best] / np.float32(64)
        least = min(settings.chosen_prune, most)
        for k in range(node.n_tried):
            if weights[k] < least:
                weights[k] = np.float32(0)
            else:
                weights[k] -= min(settings.chosen_subtract, most, weights[k])
    return best


@kernel
def _gumbel_weights(forest, g, weights):
    """The best of the most visited moves, by noise, prior and value."""
    node = forest.nodes[forest.trees[g].root]
    most = most_visits(forest, node)
    best, best_score = 0, -np.inf
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        weights[k] = edge.visits
        score = gumbel_score(forest, g, edge, most)
        if edge.visits == most and score > best_score:
            best, best_score = k, score
    weights[best] += 1
    return best


@kernel
def _take_off_unwanted(forest, g, settings, weights, best):
    """Lower the weights of all but the best move to what the search would want in hindsight.

    Where playouts were forced, by no more than these; elsewhere to whole numbers, rounded up.
    """
    tree = forest.trees[g]
    node = forest.nodes[tree.root]
    if node.n_tried == 0:
        return
    sign = sign_of(node.to_play)
    explore = exploration_at(node, settings)
    edge = forest.edges[nth_edge(forest, node, best)]
    bar = sign * forest.nodes[edge.child].means[UTILITY]
    bar += ending_value(forest, g, edge, sign, settings)
    bar += explore * packed_prior(edge.packed) / (np.float32(1) + weights[best])
    for k in range(node.n_tried):
        if k == best or weights[k] <= 0:
            continue
        edge = forest.edges[nth_edge(forest, node, k)]
        prior = packed_prior(edge.packed)
        value = sign * forest.nodes[edge.child].means[UTILITY]
        value += ending_value(forest, g, edge, sign, settings)
        wanted = weights[k]
        if bar > value:
            wanted = max(explore * prior / (bar - value) - np.float32(1), np.float32(0))
        if tree.forced > 0:
            wanted = max(wanted, weights[k] - np.sqrt(tree.forced * prior * node.child_weight))
        weights[k] = min(weights[k], wanted)
        if not tree.noisy:
            weights[k] = np.ceil(weights[k])
        if tree.forced > 0 and weights[k] <= 1 and bar > value:
            weights[k] = 0


@kernel(inline=True)
def lower_bound(child, sign, settings):
    """How far below its mean the utility of a child may well lie, and the bound itself."""
    radius = utility_radius(settings)
    mean = child.means[UTILITY]
    weight, weight_square = child.weight, child.weight_square
    if child.visits == 0 or weight <= 0:
        return sign * mean - np.float32(2) * radius
    square = max(child.means[UTILITY_SQUARE], mean * mean + np.float32(1e-8))
    # Little data says little about its own spread: some of the widest possible comes on top.
    sample = weight * weight / weight_square
    prior = weight / (sample * sample * sample)
    square += radius * radius * prior / (weight + prior)
    weight += prior
    weight_square += prior * prior
    sample = weight * weight / weight_square
    return sign * mean - settings.lcb_stdevs * np.sqrt((square - mean * mean) / sample)


@kernel
def _raise_surest(forest, g, settings, weights, best):
    """Give the move with the best lower bound, if it has enough visits, the weight for that.

    As many times as another move's bound would have to be wider to be no better, squared, that
    move's weight: so much data would make it as narrow.
    """
    node = forest.nodes[forest.trees[g].root]
    sign = sign_of(node.to_play)
    surest, surest_bound = NONE, np.float32(-1e30)
    for k in range(node.n_tried):
        if weights[k] > 0 and weights[k] >= settings.lcb_least * weights[best]:
            edge = forest.edges[nth_edge(forest, node, k)]
            bound = lower_bound(forest.nodes[edge.child], sign, settings)
            bound += ending_value(forest, g, edge, sign, settings)
            if bound > surest_bound:
                surest, surest_bound = k, bound
    if surest == NONE or (surest == 0 and not settings.lcb_for_first):
        return best
    enough = weights[surest]
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        child = forest.nodes[edge.child]
        bound = lower_bound(child, sign, settings)
        better = surest_bound - bound - ending_value(forest, g, edge, sign, settings)
        if k != surest and better >= 0:
            radius = sign * child.means[UTILITY] - bound
            times = (radius + better) / (radius + _LCB_GUARD * better)
            enough = max(enough, times * times * weights[k])
    weights[surest] = enough
    for k in range(node.n_tried):
        if weights[k] > weights[surest]:  # a move with a better bound, but too few visits
            surest = k
    return surest


@kernel
def draw(weights, n, best, temperature, rng):
    """Choose among n moves with chances weight^(1/temperature); the best one at temperature 0."""
    if temperature <= 0 or weights[best] <= 0:
        return best
    total = 0.0
    for k in range(n):
        if weights[k] > 0:
            total += (weights[k] / weights[best]) ** (1 / temperature)
    left = uniform(rng) * total
    for k in range(n):
        if weights[k] > 0:
            left -= (weights[k] / weights[best]) ** (1 / temperature)
            if left < 0:
                return k
    return best


@kernel
def move_temperature(board, settings):
    """The temperature at which a move is drawn now."""
    late = settings.temperature
    return late + (settings.temperature_early - late) * fading(board, settings)


@kernel
def choose_move(forest, g, settings, weights):
    """The point of the move to play after a search, drawn at the temperature of the settings."""
    tree = forest.trees[g]
    node = forest.nodes[tree.root]
    if node.n_tried == 0:
        return packed_point(forest.candidates[node.block])  # one visit: the policy decides
    best = play_weights(forest, g, settings, weights)
    temperature = move_temperature(forest.boards[g], settings)
    k = draw(weights, node.n_tried, best, temperature, tree.rng)
    return packed_point(forest.edges[nth_edge(forest, node, k)].packed)
