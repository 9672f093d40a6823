"""Kernels: how games begin: board, komi, handicap, opening moves."""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, WHITE
from tengen.game.kernels.board import point_of
from tengen.game.kernels.moves import PASS, is_legal, play, set_to_play, start_anew, start_game
from tengen.jit import kernel
from tengen.search.kernels.forest import LEAD, nth_candidate, packed_point, packed_prior, reset_tree
from tengen.search.kernels.random_numbers import next_random, normal, uniform
from tengen.selfplay.kernels.record import note_turn
from tengen.selfplay.kernels.turn import begin_search
from tengen.selfplay.record import OPENING, SETUP


@kernel
def begin_game(forest, g, slots, game_params, settings):
    """Begin a new game in slot g, and its first search."""
    slot, tree, numbers = slots.slots[g], forest.trees[g], game_params.numbers[0]
    board, history, rng = forest.boards[g], forest.histories[g], slot.rng
    area = numbers.width * numbers.height
    terms = game_params.terms[next_random(rng, game_params.terms.shape[0])]
    start_game(board, history, numbers.width, numbers.height, terms)
    board.komi = np.float32(_draw_komi(numbers, terms.komi, area, rng))
    slot.number = np.uint64(slot.begun) * numbers.slots + numbers.first + np.uint64(g)
    slot.begun += 1
    slot.step = numbers.step
    slot.button = terms.button
    slot.n_turns = 0
    slot.n_targets = 0
    slot.over = 0
    slot.decided = 0
    slot.played_out = uniform(rng) < numbers.played_out_share
    slot.opening = 0
    if uniform(rng) < numbers.opening_share:
        slot.opening = np.int32(-np.log(uniform(rng)) * numbers.opening_moves * area)
    handicap = uniform(rng) < numbers.handicap_share and numbers.handicap_stones > 0
    if handicap:
        _place_handicap(forest, g, slots, 1 + next_random(rng, np.int64(numbers.handicap_stones)))
    slot.fair = (handicap or slot.opening > 0) and uniform(rng) < numbers.fair_share
    areas = numbers.move_limit + (numbers.clean_up_limit if board.territory else 0.0)
    limit = max(np.int64(8), np.int64(areas * area))
    if slot.begun == 1 and numbers.stagger:
        limit = min(limit, limit // 4 + next_random(rng, limit))
    tree.move_limit = board.ply + limit
    tree.leaves = 1
    reset_tree(forest, g)
    begin_search(forest, g, slots, game_params, settings)


@kernel
def _draw_komi(numbers, mean, area, rng):
    """Draw around the mean komi of the rules, in steps of half a point, up to `_most_komi`."""
    spread = numbers.komi_spread
    if uniform(rng) < numbers.wide_komi_share:
        spread = numbers.wide_komi_spread
    komi = np.rint(2 * (mean + spread * normal(rng))) / 2
    return max(-_most_komi(area), min(_most_komi(area), komi))


@kernel(inline=True)
def _most_komi(area):
    """A point more than the board has, so that a player who owns all of it may still lose."""
    return area + 1.0


@kernel
def _place_handicap(forest, g, slots, stones):
    """Place random black stones before White's first move."""
    board, history = forest.boards[g], forest.histories[g]
    for _ in range(stones + 1):  # one more, since Black would have moved first anyway
        x = next_random(slots.slots[g].rng, board.width)
        y = next_random(slots.slots[g].rng, board.height)
        p = point_of(board, x, y)
        before = board.to_play
        set_to_play(board, BLACK)
        legal = is_legal(board, history, p)
        set_to_play(board, before)
        if legal:
            start_anew(board, BLACK)  # as whoever replays the game does, who knows only its moves
            play(board, history, p)
            note_turn(slots, g, board, p, BLACK, SETUP)
    set_to_play(board, WHITE)


@kernel
def draw_opening_move(forest, g, slots):
    """Record an opening move drawn from the root's policy, and return its point.

    It is a pass only if nothing else is legal.
    """
    slot, board = slots.slots[g], forest.boards[g]
    root = forest.nodes[forest.trees[g].root]
    slot.opening -= 1
    left = 0.0
    for turn in range(2):
        left *= uniform(slot.rng)
        for k in range(root.n_candidates):
            packed = nth_candidate(forest, root, k)
            if packed_point(packed) == PASS:
                continue
            if turn == 0:
                left += packed_prior(packed)
            else:
                left -= packed_prior(packed)
                if left <= 0:
                    note_turn(slots, g, board, packed_point(packed), board.to_play, OPENING)
                    return packed_point(packed)
    note_turn(slots, g, board, PASS, board.to_play, OPENING)
    return np.int64(PASS)


@kernel
def make_fair(forest, g, slots):
    """Change the komi by the lead that the network sees at the root, and reset the tree."""
    board = forest.boards[g]
    slots.slots[g].fair = 0
    most = np.float32(_most_komi(board.width * board.height))
    lead = forest.nodes[forest.trees[g].root].own[LEAD]
    komi = np.rint(np.float32(2) * (board.komi + lead)) / np.float32(2)
    board.komi = max(-most, min(most, komi))
    reset_tree(forest, g)
