"""Kernels: one step of the fleet, which brings every game to its next leaf.

Each game expands the leaf that the network has evaluated, plays on where a search is finished, and
selects the next leaf to evaluate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import prange
from numba.core import types
from numba.extending import lower_builtin, type_callable

from tengen.game.kernels.moves import GOING_ON
from tengen.jit import kernel
from tengen.search.kernels.descend import BLOCKED, TO_EVALUATE, encode_leaf, enough, find_leaf
from tengen.search.kernels.descent_scratch import descent_scratch_at
from tengen.search.kernels.expand import expand_leaves
from tengen.search.kernels.forest import EXPANDED, reset_tree
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.root import prepare_root
from tengen.selfplay.kernels.new_game import begin_game, draw_opening_move, make_fair
from tengen.selfplay.kernels.prefetch import prefetch_games
from tengen.selfplay.kernels.record import record_game
from tengen.selfplay.kernels.turn import begin_search, finish_search

# A game that has found no leaf to evaluate after so many descents (they ended at ends of games or
# at known positions) waits for the next step.
_DESCENTS = 24

# What is counted, for each chunk.
EVALUATED, MOVED, ENDED = 0, 1, 2
COUNTS = 3


class _Chunk(NamedTuple):
    """The games of one chunk and what a thread steps them with."""

    forest: Any
    slots: Any
    game_params: Any
    finished: Any
    batch: Any  # a row for each game, as in `evaluation`
    evaluation: Any
    settings: Any  # a record
    scratch: Any
    working: Any  # [2, node_room] scratch memory
    tally: Any  # [COUNTS]
    kind: Any  # of the feature set
    number: Any


def claim_next(counter: Any) -> Any:
    """Return counter[0], an int64, and add one to it; no two threads get the same number.

    Numba's own `prange` divides the work beforehand, so that all threads wait for the slowest.
    """
    counter[0] += 1
    return counter[0] - 1


# Not an @intrinsic, which Python could not call: kernels also run as plain Python.
@type_callable(claim_next)
def _type_claim(_):
    return lambda counter: types.int64(counter)


@lower_builtin(claim_next, types.Array)
def _build_claim(context, builder, signature, args):
    data = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.atomic_rmw("add", data.data, ir.IntType(64)(1), "monotonic")


@kernel(parallel=True)
def step_games(
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
    """Step all games. Each free thread claims the next chunk of games from an atomic counter.

    batch and evaluation have a row for each game; settings is an array [1], since Numba's threads
    take no records; working [threads, 2, node_room] is scratch memory; next_chunk [1] is the
    counter; tally [chunks, COUNTS] counts what was done.
    """
    games, chunks = slots.slots.shape[0], tally.shape[0]
    next_chunk[0] = 0
    for thread in prange(working.shape[0]):
        w = np.int64(thread)  # signed; Numba would compile everything for unsigned numbers, too
        scratch = descent_scratch_at(scratches, w)
        number, following = claim_next(next_chunk), claim_next(next_chunk)
        while number < chunks:
            chunk = _Chunk(
                forest,
                slots,
                game_params,
                finished,
                batch,
                evaluation,
                settings[0],
                scratch,
                working[w],
                tally[number],
                kind,
                number,
            )
            end, then = games * (number + 1) // chunks, games * following // chunks
            for g in range(games * number // chunks, end):
                prefetch_games(forest, batch, slots.slots, evaluation.policy, g, end, then)
                _step_game(chunk, g)
            number, following = following, claim_next(next_chunk)


@kernel
def _step_game(chunk, g):
    """Bring one game to its next leaf: expand, play on, select."""
    forest, slots, settings = chunk.forest, chunk.slots, chunk.settings
    slot, tree = slots.slots[g], forest.trees[g]
    if slot.waiting:
        expand_leaves(
            forest, chunk.batch, g, g + 1, chunk.evaluation, settings, chunk.scratch.shares
        )
        slot.waiting = 0
    if slot.begun == 0:
        begin_game(forest, g, slots, chunk.game_params, settings)
    for _ in range(_DESCENTS):
        if slot.over:
            if not _hand_over(chunk, g):
                return
            begin_game(forest, g, slots, chunk.game_params, settings)
        if forest.nodes[tree.root].status == EXPANDED:
            if not tree.prepared and slot.opening > 0:
                _play_on(chunk, g, draw_opening_move(forest, g, slots))
                continue
            if not tree.prepared and slot.fair:
                make_fair(forest, g, slots)
                continue
            if not tree.prepared:
                prepare_root(forest, g, settings)
            if enough(forest, g):
                point = finish_search(
                    forest, g, slots, chunk.game_params, settings, chunk.scratch.shares
                )
                chunk.tally[MOVED] += 1
                _play_on(chunk, g, point)
                continue
        if _select_leaf(chunk, g):
            return


@kernel
def _hand_over(chunk, g):
    """Move a game that has ended to the finished games; False if there is no room for it yet."""
    life = chunk.scratch.features.life[0]
    if not record_game(
        chunk.forest, g, chunk.slots, chunk.game_params, chunk.finished, chunk.number, life
    ):
        return False
    chunk.tally[ENDED] += 1
    return True


@kernel
def _play_on(chunk, g, point):
    """Play a move in game g, and begin the next search or end the game."""
    forest, slots, settings = chunk.forest, chunk.slots, chunk.settings
    slot, tree, board = slots.slots[g], forest.trees[g], forest.boards[g]
    advance(forest, g, point, chunk.working[0], chunk.working[1])
    if board.end != GOING_ON or board.ply >= tree.move_limit:
        slot.over = 1
        return
    begin_search(forest, g, slots, chunk.game_params, settings)
    if not chunk.game_params.numbers[0].keep_tree or tree.gumbel:
        reset_tree(forest, g)
    elif forest.nodes[tree.root].visits:
        recenter_utility(forest, g, settings)


@kernel
def _select_leaf(chunk, g):
    """Descend tree g once; returns whether that found a leaf, which is then in the batch."""
    forest, batch = chunk.forest, chunk.batch
    found = find_leaf(forest, g, batch.paths[g], chunk.settings, chunk.scratch)
    if found == BLOCKED:
        forest.trees[g].target = 0  # the tree is full: end the search
    if found != TO_EVALUATE:
        return False
    encode_leaf(
        forest,
        batch.paths[g],
        chunk.scratch,
        chunk.settings,
        chunk.kind,
        batch.planes[g],
        batch.globals[g],
        batch.caught[g],
    )
    chunk.slots.slots[g].waiting = 1
    chunk.tally[EVALUATED] += 1
    return True
