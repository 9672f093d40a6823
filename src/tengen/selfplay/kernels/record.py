"""Kernels: write down turns, their policy targets, and games that have ended."""

from __future__ import annotations

import numpy as np

from tengen.game.color import EMPTY
from tengen.game.kernels.board import point_of
from tengen.game.kernels.moves import ENDED_BY_PASSES, ENDED_BY_REPETITION, GOING_ON, PASS
from tengen.game.kernels.scoring import final_score
from tengen.jit import kernel
from tengen.search.kernels.forest import (
    SCORE,
    UTILITY,
    VALUE,
    nth_edge,
    packed_point,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.gumbel import VALUE_SCALE, VISITS_SCALE, most_visits
from tengen.selfplay.record import BY_MOVE_LIMIT, BY_PASSES, BY_REPETITION

_UNITS_PER_VISIT = 16.0  # of a target's weight
_MOST = 65535.0
_LEAST_PRIOR = 1e-9


@kernel
def note_turn(slots, g, board, point, color, kind):
    """Append a move to the turns of game g, without any results of a search."""
    slot = slots.slots[g]
    turn = slots.turns[g, slot.n_turns]
    slot.n_turns += 1
    turn.move = _move_index(board, point)
    turn.color = color
    turn.kind = kind
    turn.visits = 0
    turn.n_targets = 0
    turn.weight = np.float32(0)
    turn.value = np.float32(0)
    turn.no_result = np.float32(0)
    turn.score = np.float32(0)
    turn.lead = np.float32(0)


@kernel(inline=True)
def _move_index(board, point):
    """Y * width + x, and width * height for a pass."""
    p = np.int64(point)
    if p == PASS:
        return board.width * board.height
    return (p // board.stride - 1) * board.width + p % board.stride - 1


@kernel
def note_targets(forest, g, slots, turn, weights):
    """Append the targets of game g's last turn: weights[n_tried] of the moves tried at the root.

    The turn's weight becomes how much the targets surprise the policy (their KL divergence).
    Where the values of moves are kept, all moves tried become targets.
    """
    tree, slot, board = forest.trees[g], slots.slots[g], forest.boards[g]
    keeps_values = slots.move_values.shape[1] > 0
    root = forest.nodes[tree.root]
    total, most = np.float32(0), np.float32(0)
    for k in range(root.n_tried):
        total += weights[k]
        most = max(most, weights[k])
    scale = min(_UNITS_PER_VISIT, _MOST / most)
    surprise = 0.0
    for k in range(root.n_tried):
        edge = forest.edges[nth_edge(forest, root, k)]
        point = packed_point(edge.packed)
        weight = np.int64(weights[k] * scale + 0.5)
        if keeps_values:
            child, value = forest.nodes[edge.child], slots.move_values[g, slot.n_targets]
            value.visits = min(child.visits, 65535)
            value.value = child.means[VALUE]
            value.score = child.means[SCORE]
        if weight > 0 or keeps_values:
            target = slots.targets[g, slot.n_targets]
            slot.n_targets += 1
            turn.n_targets += 1
            target.move = _move_index(board, point)
            target.weight = weight
        if weight > 0:
            share = weights[k] / total
            surprise += share * np.log(share / max(forest.policy[g, point], _LEAST_PRIOR))
    turn.weight = np.float32(max(surprise, 0.0))


@kernel
def weigh_by_value(forest, g, weights):
    """Fill weights[n_tried] with the Gumbel root's target: priors improved by the moves' values.

    Moves that were not tried get nothing: there are few visits, and many such moves.
    """
    root = forest.nodes[forest.trees[g].root]
    sign = sign_of(root.to_play)
    scale = (VISITS_SCALE + most_visits(forest, root)) * VALUE_SCALE * 0.5
    top = -np.inf
    for turn in range(2):
        for k in range(root.n_tried):
            edge = forest.edges[nth_edge(forest, root, k)]
            prior = np.log(max(packed_prior(edge.packed), _LEAST_PRIOR))
            logit = prior + scale * sign * forest.nodes[edge.child].means[UTILITY]
            if turn == 0:
                top = max(top, logit)
            else:
                weights[k] = np.float32(_MOST / _UNITS_PER_VISIT * np.exp(logit - top))


@kernel
def record_game(forest, g, slots, game_params, finished, chunk, life):
    """Copy game g, which has ended, to the finished games; returns whether there was room."""
    slot, board = slots.slots[g], forest.boards[g]
    counts = finished.counts[chunk]
    if (
        counts[0] == finished.games.shape[1]
        or counts[1] + slot.n_turns > finished.turns.shape[1]
        or counts[2] + slot.n_targets > finished.targets.shape[1]
    ):
        return False
    _spread_weights(slots, g, game_params.numbers[0].surprise_share)
    game = finished.games[chunk, counts[0]]
    game.number = slot.number
    game.step = slot.step
    game.width = board.width
    game.height = board.height
    game.terms.komi = board.komi
    game.terms.ko_rule = board.ko_rule
    game.terms.suicide_allowed = board.suicide_allowed
    game.terms.territory = board.territory
    game.terms.tax = board.tax
    game.terms.friendly_pass = board.friendly_pass
    game.terms.button = slot.button
    game.move_limit = forest.trees[g].move_limit
    game.n_turns = slot.n_turns
    game.n_targets = slot.n_targets
    game.no_result = board.end == ENDED_BY_REPETITION
    game.end = BY_MOVE_LIMIT
    if board.end == ENDED_BY_PASSES:
        game.end = BY_PASSES
    elif board.end != GOING_ON:
        game.end = BY_REPETITION
    game.score = np.float32(final_score(board, life))
    if game.no_result:
        game.score = np.float32(0)
    owned = finished.ownership[chunk, counts[0]]
    for y in range(board.height):
        for x in range(board.width):
            c = life.owner[point_of(board, x, y)]
            owned[y * board.width + x] = 0 if c == EMPTY or game.no_result else 3 - 2 * c
    for k in range(slot.n_turns):
        finished.turns[chunk, counts[1] + k] = slots.turns[g, k]
    for k in range(slot.n_targets):
        finished.targets[chunk, counts[2] + k] = slots.targets[g, k]
        if slots.move_values.shape[1]:
            finished.move_values[chunk, counts[2] + k] = slots.move_values[g, k]
    counts[0] += 1
    counts[1] += slot.n_turns
    counts[2] += slot.n_targets
    return True


@kernel
def _spread_weights(slots, g, share):
    """Turn surprises into weights with a mean of 1: a share by surprise, the rest evenly."""
    total, n = 0.0, 0
    for k in range(slots.slots[g].n_turns):
        if slots.turns[g, k].n_targets > 0:
            total += slots.turns[g, k].weight
            n += 1
    for k in range(slots.slots[g].n_turns):
        turn = slots.turns[g, k]
        if turn.n_targets > 0:
            weight = 1.0
            if total > 0:
                weight = 1 - share + share * turn.weight * n / total
            turn.weight = np.float32(weight)
