"""Kernels: one tick of the fleet. Each game takes in its evaluation, plays on where a search is
done, and finds its next leaf.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from tengen.game.moves import GOING_ON
from tengen.jit import kernel
from tengen.search.absorb import absorb
from tengen.search.ahead import fetch_ahead
from tengen.search.descend import BLOCKED, TO_EVALUATE, encode_leaf, enough, find_leaf
from tengen.search.forest import EXPANDED, VALUE, plant
from tengen.search.keep import advance, centre_again
from tengen.search.root import prepare_root
from tengen.search.walker import walker_at
from tengen.selfplay.begin import begin_game, begin_search, make_fair, play_opening_move
from tengen.selfplay.tickets import take_ticket
from tengen.selfplay.turn import count_doubt, finish_turn, hand_over

# A game that finds no leaf to evaluate in so many descents (they ended at ends of games, or at
# positions known already) waits for the next tick.
_DESCENTS = 24

# What is counted in a tick, for each shard.
EVALUATED, MOVED, ENDED = 0, 1, 2
COUNTS = 3


@kernel(parallel=True)
def tick(
    forest, seats, menu, tray, rows, evaluation, settings, walkers, working, tickets, tally, kind
):
    """Step all games: each walker has a thread, and takes shard after shard until all are done.

    rows and evaluation have one row for each game. settings is an array [1], for threads take no
    records; working [walkers, 2, node_room] is memory to work with; tickets [1] is for the walkers
    among themselves; tally [shards, COUNTS] tells what was done.
    """
    games, shards = seats.seats.shape[0], tally.shape[0]
    tickets[0] = 0
    for thread in prange(working.shape[0]):
        w = np.int64(thread)  # signed; Numba would compile everything for unsigned numbers, too
        walker = walker_at(walkers, w)
        shard, following = take_ticket(tickets), take_ticket(tickets)
        while shard < shards:
            end, then = games * (shard + 1) // shards, games * following // shards
            for g in range(games * shard // shards, end):
                fetch_ahead(forest, rows, seats.seats, evaluation.policy, g, end, then)
                _step(
                    forest,
                    g,
                    seats,
                    menu,
                    tray,
                    shard,
                    rows,
                    evaluation,
                    settings[0],
                    walker,
                    working[w],
                    tally[shard],
                    kind,
                )
            shard, following = following, take_ticket(tickets)


@kernel
def _step(
    forest, g, seats, menu, tray, shard, rows, evaluation, settings, walker, working, tally, kind
):
    """Bring one game to its next leaf."""
    seat, tree = seats.seats[g], forest.trees[g]
    if seat.waiting:
        absorb(forest, rows, g, g + 1, evaluation, settings, walker.shares)
        seat.waiting = 0
    if seat.begun == 0:
        begin_game(forest, g, seats, menu, settings)
    for _ in range(_DESCENTS):
        if seat.over:
            if not hand_over(forest, g, seats, menu, tray, shard, walker.scratch.life[0]):
                return
            tally[ENDED] += 1
            begin_game(forest, g, seats, menu, settings)
        expanded = forest.nodes[tree.root].status == EXPANDED
        if expanded and not tree.prepared and seat.opening > 0:
            seat.opening -= 1
            point = play_opening_move(forest, g, seats)
            _play_on(forest, g, seats, menu, point, settings, working)
            continue
        if expanded and not tree.prepared and seat.fair:
            seat.fair = 0
            make_fair(forest, g)
            continue
        if expanded and not tree.prepared:
            prepare_root(forest, g, settings)
        if expanded and enough(forest, g):
            count_doubt(seat, forest.nodes[tree.root].means[VALUE], menu.numbers[0].decided_value)
            point = finish_turn(forest, g, seats, settings, walker.shares)
            tally[MOVED] += 1
            _play_on(forest, g, seats, menu, point, settings, working)
            continue
        found = find_leaf(forest, g, rows.rows[g], settings, walker)
        if found == TO_EVALUATE:
            encode_leaf(
                forest, rows.rows[g], walker, kind, rows.planes[g], rows.globals[g], rows.caught[g]
            )
            seat.waiting = 1
            tally[EVALUATED] += 1
            return
        if found == BLOCKED:
            tree.target = 0  # no room for more: what was found must do


@kernel
def _play_on(forest, g, seats, menu, point, settings, working):
    """Play a move in game g, and begin the next search or end the game."""
    seat, tree, board = seats.seats[g], forest.trees[g], forest.boards[g]
    advance(forest, g, point, working[0], working[1])
    if board.end != GOING_ON or board.ply >= tree.move_limit:
        seat.over = 1
        return
    begin_search(forest, g, seats, menu, settings)
    if not menu.numbers[0].keep_tree or tree.gumbel:
        plant(forest, g)
    elif forest.nodes[tree.root].visits:
        centre_again(forest, g, settings)
