"""Kernels: a turn of a game: how it is searched, and the move that its search chooses."""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, WHITE
from tengen.game.kernels.moves import PASS
from tengen.jit import kernel
from tengen.search.kernels.forest import (
    EARLY_PASSES,
    LEAD,
    NO_RESULT,
    SCORE,
    VALUE,
    nth_edge,
    packed_point,
)
from tengen.search.kernels.random_numbers import uniform
from tengen.search.kernels.root import draw, move_temperature, play_weights
from tengen.selfplay.kernels.record import note_targets, note_turn, weigh_by_value
from tengen.selfplay.record import FAST, FULL


@kernel
def begin_search(forest, g, slots, game_params, settings):
    """Decide how many visits the next turn of game g gets, and whether it is learned from."""
    slot, tree, numbers = slots.slots[g], forest.trees[g], game_params.numbers[0]
    board = forest.boards[g]
    decided = slot.decided >= numbers.decided_turns and not slot.played_out
    share = numbers.decided_full_share if decided else numbers.full_share
    full = uniform(slot.rng) < share
    slot.kind = FULL if full else FAST
    visits = numbers.visits if full else numbers.fast_visits
    if decided and not full:
        visits = min(numbers.decided_visits, visits)
    tree.target = np.int32(visits)
    tree.gumbel = np.int32(numbers.gumbel) if full else 0
    tree.noisy = full and not tree.gumbel  # a Gumbel root has noise of its own
    tree.forced = settings.forced_playouts if full and not tree.gumbel else np.float32(0)
    _forbid_early_passes(forest, g, np.int64(numbers.pass_from * board.width * board.height))


@kernel
def _forbid_early_passes(forest, g, first):
    """Allow passes from this move of the game on."""
    depth = min(max(first - np.int64(forest.boards[g].ply), 0), 255)
    forest.trees[g].avoids = EARLY_PASSES if depth > 0 else 0
    for color in (BLACK, WHITE):
        forest.avoid[g, color, PASS] = depth


@kernel
def finish_search(forest, g, slots, game_params, settings, weights):
    """Record the turn that game g's search has decided; returns the point of its move.

    weights [MAX_POINTS] is scratch memory.
    """
    tree, slot, board = forest.trees[g], slots.slots[g], forest.boards[g]
    root = forest.nodes[tree.root]
    is_decided = abs(root.means[VALUE]) >= game_params.numbers[0].decided_value
    slot.decided = slot.decided + 1 if is_decided else 0
    if root.n_tried == 0:
        # One visit: the policy decides.
        point = packed_point(forest.candidates[root.block])
    else:
        best = play_weights(forest, g, settings, weights)
        k = draw(weights, root.n_tried, best, move_temperature(board, settings), slot.rng)
        if tree.gumbel:
            k = best  # which is random already
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
            weigh_by_value(forest, g, weights)
        note_targets(forest, g, slots, turn, weights)
    return point
