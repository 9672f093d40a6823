"""Kernels: one tick of the fleet. Each game takes in its evaluation, plays on where a search is
done, and finds its next leaf.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from tengen.game.kernels.moves import GOING_ON
from tengen.jit import kernel
from tengen.search.kernels.descend import BLOCKED, TO_EVALUATE, encode_leaf, enough, find_leaf
from tengen.search.kernels.descent_scratch import descent_scratch_at
from tengen.search.kernels.expand import expand_leaves
from tengen.search.kernels.forest import EXPANDED, VALUE, reset_tree
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.root import prepare_root
from tengen.selfplay.kernels.begin import begin_game, begin_search, make_fair, play_opening_move
from tengen.selfplay.kernels.claim import claim_chunk
from tengen.selfplay.kernels.prefetch import prefetch_games
from tengen.selfplay.kernels.turn import count_decided_turns, finish_turn, record_game

# A game that finds no leaf to evaluate in so many descents (they ended at ends of games, or at
# positions known already) waits for the next tick.
_DESCENTS = 24

# What is counted in a tick, for each chunk.
EVALUATED, MOVED, ENDED = 0, 1, 2
COUNTS = 3


@kernel(parallel=True)
def tick(
    forest,
    slots,
    game_params,
    finished,
    batch,
    evaluation,
    settings,
    scratches,
    working,
    next_chunk,
    tally,
    kind,
):
    """Step all games: each thread claims chunk after chunk of the games until none is left.

    batch and evaluation have one row for each game. settings is an array [1], since threads take no
    records; working [threads, 2, node_room] is scratch memory; next_chunk [1] is the shared counter
    that threads claim from; tally [chunks, COUNTS] counts what was done.
    """
    games, chunks = slots.slots.shape[0], tally.shape[0]
    next_chunk[0] = 0
    for thread in prange(working.shape[0]):
        w = np.int64(thread)  # signed; Numba would compile everything for unsigned numbers, too
        scratch = descent_scratch_at(scratches, w)
        chunk, following = claim_chunk(next_chunk), claim_chunk(next_chunk)
        while chunk < chunks:
            end, then = games * (chunk + 1) // chunks, games * following // chunks
            for g in range(games * chunk // chunks, end):
                prefetch_games(forest, batch, slots.slots, evaluation.policy, g, end, then)
                _step(
                    forest,
                    g,
                    slots,
                    game_params,
                    finished,
                    chunk,
                    batch,
                    evaluation,
                    settings[0],
                    scratch,
                    working[w],
                    tally[chunk],
                    kind,
                )
            chunk, following = following, claim_chunk(next_chunk)


@kernel
def _step(
    forest,
    g,
    slots,
    game_params,
    finished,
    chunk,
    batch,
    evaluation,
    settings,
    scratch,
    working,
    tally,
    kind,
):
    """Bring one game to its next leaf."""
    slot, tree = slots.slots[g], forest.trees[g]
    if slot.waiting:
        expand_leaves(forest, batch, g, g + 1, evaluation, settings, scratch.shares)
        slot.waiting = 0
    if slot.begun == 0:
        begin_game(forest, g, slots, game_params, settings)
    for _ in range(_DESCENTS):
        if slot.over:
            if not record_game(
                forest, g, slots, game_params, finished, chunk, scratch.features.life[0]
            ):
                return
            tally[ENDED] += 1
            begin_game(forest, g, slots, game_params, settings)
        expanded = forest.nodes[tree.root].status == EXPANDED
        if expanded and not tree.prepared and slot.opening > 0:
            slot.opening -= 1
            point = play_opening_move(forest, g, slots)
            _play_on(forest, g, slots, game_params, point, settings, working)
            continue
        if expanded and not tree.prepared and slot.fair:
            slot.fair = 0
            make_fair(forest, g)
            continue
        if expanded and not tree.prepared:
            prepare_root(forest, g, settings)
        if expanded and enough(forest, g):
            count_decided_turns(
                slot, forest.nodes[tree.root].means[VALUE], game_params.numbers[0].decided_value
            )
            point = finish_turn(forest, g, slots, settings, scratch.shares)
            tally[MOVED] += 1
            _play_on(forest, g, slots, game_params, point, settings, working)
            continue
        found = find_leaf(forest, g, batch.paths[g], settings, scratch)
        if found == TO_EVALUATE:
            encode_leaf(
                forest,
                batch.paths[g],
                scratch,
                kind,
                batch.planes[g],
                batch.globals[g],
                batch.caught[g],
            )
            slot.waiting = 1
            tally[EVALUATED] += 1
            return
        if found == BLOCKED:
            tree.target = 0  # no room for more: what was found must do


@kernel
def _play_on(forest, g, slots, game_params, point, settings, working):
    """Play a move in game g, and begin the next search or end the game."""
    slot, tree, board = slots.slots[g], forest.trees[g], forest.boards[g]
    advance(forest, g, point, working[0], working[1])
    if board.end != GOING_ON or board.ply >= tree.move_limit:
        slot.over = 1
        return
    begin_search(forest, g, slots, game_params, settings)
    if not game_params.numbers[0].keep_tree or tree.gumbel:
        reset_tree(forest, g)
    elif forest.nodes[tree.root].visits:
        recenter_utility(forest, g, settings)
