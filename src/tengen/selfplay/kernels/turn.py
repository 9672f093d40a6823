"""Kernels: what a finished search leaves behind: targets, a move, and at last a game."""

from __future__ import annotations

import numpy as np

from tengen.game.color import EMPTY
from tengen.game.kernels.board import point_of
from tengen.game.kernels.moves import ENDED_BY_PASSES, ENDED_BY_REPETITION, GOING_ON
from tengen.game.kernels.scoring import final_score
from tengen.jit import kernel
from tengen.search.kernels.forest import (
    LEAD,
    NO_RESULT,
    SCORE,
    UTILITY,
    VALUE,
    nth_edge,
    packed_point,
    packed_prior,
    sign_of,
)
from tengen.search.kernels.gumbel import VALUE_SCALE, VISITS_SCALE, most_visits
from tengen.search.kernels.root import draw, move_temperature, play_weights
from tengen.selfplay.kernels.begin import note_turn, place_of
from tengen.selfplay.record import BY_MOVE_LIMIT, BY_PASSES, BY_REPETITION, FULL

_FINENESS = 16.0  # parts of a visit in a target
_MOST = 65535.0
_LEAST_PRIOR = 1e-9


@kernel
def finish_turn(forest, g, slots, settings, weights):
    """Write down what the search of tree g found; returns the point of the move to be played."""
    tree, slot, board = forest.trees[g], slots.slots[g], forest.boards[g]
    root = forest.nodes[tree.root]
    if root.n_tried == 0:
        # One visit: the policy decides.
        point = packed_point(forest.candidates[root.block])
    else:
        best = play_weights(forest, g, settings, weights)
        k = draw(weights, root.n_tried, best, move_temperature(board, settings), slot.rng)
        if tree.gumbel:
            k = best  # its noise is in the choice already
        point = packed_point(forest.edges[nth_edge(forest, root, k)].packed)
    note_turn(slots, g, board, point, board.to_play, slot.kind)
    turn = slots.turns[g, slot.n_turns - 1]
    turn.visits = min(root.visits, 65535)
    turn.value = root.means[VALUE]
    turn.no_result = root.means[NO_RESULT]
    turn.score = root.means[SCORE]
    turn.lead = root.means[LEAD]
    if slot.kind == FULL and root.n_tried > 0:
        if tree.gumbel:
            _weigh_by_value(forest, g, weights)
        _note_targets(forest, g, slots, turn, weights)
    return point


@kernel
def _note_targets(forest, g, slots, turn, weights):
    """Write down what the tried moves deserve, and how much that surprises the policy."""
    tree, slot, board = forest.trees[g], slots.slots[g], forest.boards[g]
    root = forest.nodes[tree.root]
    total, most = np.float32(0), np.float32(0)
    for k in range(root.n_tried):
        total += weights[k]
        most = max(most, weights[k])
    fineness = min(_FINENESS, _MOST / most)
    surprise = 0.0
    for k in range(root.n_tried):
        point = packed_point(forest.edges[nth_edge(forest, root, k)].packed)
        weight = np.int64(weights[k] * fineness + 0.5)
        if weight > 0:
            target = slots.targets[g, slot.n_targets]
            slot.n_targets += 1
            turn.n_targets += 1
            target.place = place_of(board, point)
            target.weight = weight
            share = weights[k] / total
            surprise += share * np.log(share / max(forest.policy[g, point], _LEAST_PRIOR))
    turn.weight = np.float32(max(surprise, 0.0))


@kernel
def _weigh_by_value(forest, g, weights):
    """The Gumbel root's target: the priors of the moves tried, raised by what they turned out to be
    worth. Moves that were not tried get nothing: there are few visits, and many such moves.
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
                weights[k] = np.float32(_MOST / _FINENESS * np.exp(logit - top))


@kernel
def count_decided_turns(slot, value, decided_value):
    """Count consecutive turns in which the outcome was decided."""
    slot.decided = slot.decided + 1 if abs(value) >= decided_value else 0


@kernel
def record_game(forest, g, slots, game_params, finished, chunk, life):
    """Put a game that has ended onto the finished; returns whether there was room."""
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
    counts[0] += 1
    counts[1] += slot.n_turns
    counts[2] += slot.n_targets
    return True


@kernel
def _spread_weights(slots, g, share):
    """Turn surprises into weights that are 1 on average: a share by surprise, the rest alike."""
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
