"""Kernels: how games begin, and what each search is asked for."""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, WHITE
from tengen.game.kernels.board import point_of
from tengen.game.kernels.moves import PASS, is_legal, play, set_to_play, start_game
from tengen.game.kernels.playout import next_random
from tengen.jit import kernel
from tengen.search.kernels.forest import LEAD, nth_candidate, packed_point, packed_prior, reset_tree
from tengen.search.kernels.random_numbers import normal, uniform
from tengen.selfplay.record import FAST, FULL, OPENING, SETUP


@kernel
def begin_game(forest, g, slots, game_params, settings):
    """Start a new game in slot g: its board, its komi, its first stones."""
    slot, tree, numbers = slots.slots[g], forest.trees[g], game_params.numbers[0]
    board, history, rng = forest.boards[g], forest.histories[g], slot.rng
    kind = _draw_size(game_params, rng)
    side = game_params.sizes[kind]
    terms = game_params.terms[next_random(rng, game_params.terms.shape[0])]
    start_game(board, history, side, side, terms)
    board.komi = np.float32(_draw_komi(game_params.komi[kind], side, numbers, rng))
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
        slot.opening = np.int32(-np.log(uniform(rng)) * numbers.opening_moves * side * side)
    handicap = uniform(rng) < numbers.handicap_share and numbers.handicap_stones > 0
    if handicap:
        _place_handicap(forest, g, slots, 1 + next_random(rng, np.int64(numbers.handicap_stones)))
    slot.fair = (handicap or slot.opening > 0) and uniform(rng) < numbers.fair_share
    limit = max(np.int64(8), np.int64(numbers.move_limit * side * side))
    if slot.begun == 1 and numbers.stagger:
        limit = min(limit, limit // 4 + next_random(rng, limit))
    tree.move_limit = board.ply + limit
    tree.leaves = 1
    reset_tree(forest, g)
    begin_search(forest, g, slots, game_params, settings)


@kernel
def _draw_size(game_params, rng):
    chance = uniform(rng)
    for k in range(game_params.sizes.shape[0]):
        if chance < game_params.size_chances[k]:
            return k
    return game_params.sizes.shape[0] - 1


@kernel
def _draw_komi(fair, side, numbers, rng):
    """Around the fair one, in steps of half a point, and hardly beyond the board."""
    spread = numbers.komi_spread
    if uniform(rng) < numbers.wide_komi_share:
        spread = numbers.wide_komi_spread
    komi = np.rint(2 * (fair + spread * normal(rng))) / 2
    return max(-most_komi(side * side), min(most_komi(side * side), komi))


@kernel(inline=True)
def most_komi(area):
    """A point more than the board has: where all of it is fair, games must be lost by it, too."""
    return area + 1.0


@kernel
def _place_handicap(forest, g, slots, stones):
    """Let Black play first so many times, anywhere."""
    board, history = forest.boards[g], forest.histories[g]
    for _ in range(stones + 1):  # one more, for the first move would be Black's anyway
        x = next_random(slots.slots[g].rng, board.width)
        y = next_random(slots.slots[g].rng, board.height)
        p = point_of(board, x, y)
        set_to_play(board, BLACK)
        if is_legal(board, history, p):
            play(board, history, p)
            note_turn(slots, g, board, p, BLACK, SETUP)
    set_to_play(board, WHITE)


@kernel
def note_turn(slots, g, board, point, color, kind):
    """Write down a move that was played; returns its turn, to be filled by who knows more."""
    slot = slots.slots[g]
    turn = slots.turns[g, slot.n_turns]
    slot.n_turns += 1
    turn.place = place_of(board, point)
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
def place_of(board, point):
    """Y * width + x, and width * height for a pass."""
    p = np.int64(point)
    if p == PASS:
        return board.width * board.height
    return (p // board.stride - 1) * board.width + p % board.stride - 1


@kernel
def begin_search(forest, g, slots, game_params, settings):
    """Decide how the turn to come is searched."""
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
    tree.noisy = full and not tree.gumbel  # Gumbel's noise is enough; its target wants none
    tree.forced = settings.forced_playouts if full and not tree.gumbel else np.float32(0)
    _forbid_early_passes(forest, g, np.int64(numbers.pass_from * board.width * board.height))


@kernel
def _forbid_early_passes(forest, g, first):
    """Let nobody pass before this many moves."""
    depth = min(max(first - np.int64(forest.boards[g].ply), 0), 255)
    forest.trees[g].avoids = depth > 0
    for color in (BLACK, WHITE):
        forest.avoid[g, color, PASS] = depth


@kernel
def make_fair(forest, g):
    """Give White the komi with which the network thinks the game even; the root starts anew."""
    board = forest.boards[g]
    most = np.float32(most_komi(board.width * board.height))
    lead = forest.nodes[forest.trees[g].root].own[LEAD]
    komi = np.rint(np.float32(2) * (board.komi + lead)) / np.float32(2)
    board.komi = max(-most, min(most, komi))
    reset_tree(forest, g)


@kernel
def play_opening_move(forest, g, slots):
    """Play a move drawn from the policy of the root, which was just evaluated; never a pass."""
    board, rng = forest.boards[g], slots.slots[g].rng
    root = forest.nodes[forest.trees[g].root]
    left = 0.0
    for turn in range(2):
        left *= uniform(rng)
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
