"""Kernels: replay recorded games and fill the fields of their training rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels.feature_table import SEES_LADDERS, encode_by_kind
from tengen.features.scratch import FeatureScratch
from tengen.game.color import BLACK, EMPTY
from tengen.game.kernels.board import MAIN_PHASE, Boards, point_of
from tengen.game.kernels.clean_up_phases import NOWHERE, block_at
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.kernels.moves import GOING_ON, PASS, play, start_anew, start_game
from tengen.game.kernels.point_sets import MAX_WORDS
from tengen.jit import kernel
from tengen.selfplay.record import BY_AGREEMENT, BY_DECISION, FAST, FULL, UNFINISHED, Records

WIN, LOSS, NO_RESULT, SCORE = 0, 1, 2, 3
HORIZON_SCALES = (0.016, 0.056, 0.176)  # KataGo's; see `short_values` in replay/rows.py
SURE = 100  # the ownership of a point that one side owns for sure
# Columns of `known` in replay/rows.py.
KNOWS_VALUE, KNOWS_SCORE, KNOWS_LEAD, KNOWS_OWNERSHIP = 0, 1, 2, 3

# float16: bits of the fraction that are dropped, and the distance between the exponents' biases.
_DROPPED = np.uint32(13)
_REBIAS = np.uint32((127 - 15) << 10)
_LEAST_NORMAL_HALF = np.float32(2.0**-14)
_SUBNORMAL_STEPS = np.float32(2.0**24)


class GameIndex(NamedTuple):
    """The terms of each game, and where its turns, targets, points and rows begin."""

    # [games] of TERMS, copied out of GAME: Numba takes nested records for another type.
    terms: Records
    turns: NDArray[np.int64]  # [games + 1] the last entry is the end, here and below
    targets: NDArray[np.int64]  # [games + 1]
    points: NDArray[np.int64]  # [games + 1]
    rows: NDArray[np.int64]  # [games + 1]


class EncodeScratch(NamedTuple):
    """Working memory of one thread."""

    boards: Boards  # [1]
    history: NDArray[np.uint64]  # [most turns + 1]
    features: FeatureScratch
    averages: NDArray[np.float64]  # [HORIZONS, 4] win, loss, no result and score


@kernel
def encode_span(played, index, copies, begin, end, kind, scratch, rows):
    """Fill the rows of the games `begin` to `end` - 1; float16 fields are given as uint16.

    Returns `end`, or the first game that plays onto a stone.
    """
    for g in range(begin, end):
        _fill_short_term(played, index, copies, g, scratch.averages, rows)
        if not _replay_game(played, index, copies, g, kind, scratch, rows):
            return g
    return end


@kernel
def _fill_short_term(played, index, copies, g, averages, rows):
    """Fill the averages of later searches, in one pass from the end of the game to its start."""
    game = played.games[g]
    for h in range(averages.shape[0]):
        averages[h, SCORE] = 0.0 if game.no_result else game.score
        for k in range(3):
            averages[h, k] = _final_value(game, BLACK, k)
    area = game.width * game.height
    row = index.rows[g + 1]
    for t in range(index.turns[g + 1] - 1, index.turns[g] - 1, -1):
        turn = played.turns[t]
        if turn.kind == FAST or turn.kind == FULL:
            for h in range(averages.shape[0]):
                now = 1.0 / (1.0 + area * HORIZON_SCALES[h])
                for k in range(3):
                    averages[h, k] += now * (_search_value(turn, BLACK, k) - averages[h, k])
                averages[h, SCORE] += now * (turn.score - averages[h, SCORE])
        for _ in range(copies[t]):
            row -= 1
            for h in range(averages.shape[0]):
                for k in range(3):
                    rows.short_values[row, h, k] = averages[h, _seen_by(turn.color, k)]
                score = averages[h, SCORE]
                rows.short_scores[row, h] = score if turn.color == BLACK else -score


@kernel
def _replay_game(played, index, copies, g, kind, scratch, rows):
    """Replay game g and fill the other fields of its rows; False if it plays onto a stone."""
    game, board, history = played.games[g], scratch.boards[0], scratch.history
    start_game(board, history, game.width, game.height, index.terms[g])
    row, target, last = index.rows[g], index.targets[g], index.turns[g + 1] - 1
    for t in range(index.turns[g], last + 1):
        if row == index.rows[g + 1]:
            break  # no more rows in this game
        turn = played.turns[t]
        if SEES_LADDERS[kind]:
            _keep_ladders(board, copies, t, last, scratch.features)
        start_anew(board, turn.color)
        next_target = target + turn.n_targets
        first = row
        if copies[t]:
            bits, globals_ = rows.planes[first], rows.globals[first]
            encode_by_kind(kind, board, history, scratch.features, bits, globals_)
        for row in range(first, first + copies[t]):
            _copy_inputs(first, row, rows)
            _fill_policy(game, turn, played.targets, target, row, rows.policy, rows.planes)
            if t < last:
                reply = played.turns[t + 1]
                _fill_policy(game, reply, played.targets, next_target, row, rows.reply, rows.planes)
            _fill_values(game, turn, row, rows)
            _fill_ownership(game, turn, played.ownership, index.points[g], row, rows)
        row = first + copies[t]
        target = next_target
        if not play_turn(board, history, turn.move):
            return False
    return True


@kernel(inline=True)
def play_turn(board, history, move):
    """Play a turn of a record, legal or not; False if a stone stands there.

    A move may name a blocked ko stone in a clean-up.
    """
    p = PASS
    if move < board.width * board.height:
        p = point_of(board, move % board.width, move // board.width)
        if board.color[p] != EMPTY and (board.phase == MAIN_PHASE or block_at(board, p) == NOWHERE):
            return False
    board.end = GOING_ON  # records may play on after two passes
    play(board, history, p)
    return True


@kernel(inline=True)
def _keep_ladders(board, copies, t, last, scratch):
    """Shift the ladders of earlier turns; read this turn's only if a later row will show them."""
    for k in range(MAX_WORDS):
        scratch.caught[2, k] = scratch.caught[1, k]
        scratch.caught[1, k] = scratch.caught[0, k]
    is_shown = (t + 1 <= last and copies[t + 1]) or (t + 2 <= last and copies[t + 2])
    if is_shown and not copies[t]:  # else the encoder reads them anyway
        mark_ladders(board, scratch.ladder, scratch.caught[0], scratch.catching)


@kernel(inline=True)
def _copy_inputs(first, row, rows):
    """Copy the inputs of the first row of this turn to another."""
    for y in range(rows.planes.shape[1]):
        for x in range(rows.planes.shape[2]):
            rows.planes[row, y, x] = rows.planes[first, y, x]
    for k in range(rows.globals.shape[1]):
        rows.globals[row, k] = rows.globals[first, k]


@kernel(inline=True)
def _fill_policy(game, turn, targets, begin, row, policies, planes):
    """Fill a turn's target: the search's move weights or, without any, the move played."""
    total = np.int64(0)
    for i in range(begin, begin + turn.n_targets):
        total += targets[i].weight
    if total == 0:
        policies[row, _tensor_index(game, turn.move, planes)] = half_bits(np.float32(1.0))
        return
    for i in range(begin, begin + turn.n_targets):
        share = np.float32(targets[i].weight / total)
        policies[row, _tensor_index(game, targets[i].move, planes)] = half_bits(share)


@kernel(inline=True)
def _tensor_index(game, move, planes):
    """Index of a move on the game's board in a row's moves; the pass is last."""
    height, width = planes.shape[1], planes.shape[2]
    if move == game.width * game.height:
        return height * width
    return move // game.width * width + move % game.width


@kernel(inline=True)
def half_bits(x):
    """The bits of a number from 0 to 1 as float16, rounded to even; Numba has no float16."""
    if x < _LEAST_NORMAL_HALF:
        return np.uint16(np.rint(x * _SUBNORMAL_STEPS))
    bits = np.float32(x).view(np.uint32)
    odd = (bits >> _DROPPED) & np.uint32(1)
    return np.uint16(((bits + np.uint32(0xFFF) + odd) >> _DROPPED) - _REBIAS)


@kernel(inline=True)
def _fill_values(game, turn, row, rows):
    """Fill the final result and the search's values, for the side to play."""
    sign = np.float32(1 if turn.color == BLACK else -1)
    for k in range(3):
        rows.value[row, k] = _final_value(game, turn.color, k)
        rows.search_value[row, k] = _search_value(turn, turn.color, k)
    rows.score[row] = np.float32(0) if game.no_result else sign * game.score
    # The search's score, not its lead: a lead learned from itself alone would stay at 0.
    rows.lead[row] = sign * turn.score
    counted = np.float32(1 - game.no_result)
    has_score = counted * (game.end != BY_DECISION and game.end != UNFINISHED)
    rows.known[row, KNOWS_VALUE] = game.end != UNFINISHED
    rows.known[row, KNOWS_SCORE] = has_score
    rows.known[row, KNOWS_LEAD] = has_score
    rows.known[row, KNOWS_OWNERSHIP] = has_score * (game.end != BY_AGREEMENT)


@kernel(inline=True)
def _fill_ownership(game, turn, ownership, begin, row, rows):
    sign = np.int8(SURE if turn.color == BLACK else -SURE)
    for y in range(game.height):
        for x in range(game.width):
            rows.ownership[row, y, x] = sign * ownership[begin + y * game.width + x]


@kernel(inline=True)
def _final_value(game, color, k):
    """The final chance of a win, a loss or no result (k) for a colour; a draw is half and half."""
    if game.no_result:
        return 1.0 if k == NO_RESULT else 0.0
    if k == NO_RESULT:
        return 0.0
    if game.score == 0:
        return 0.5
    return 1.0 if (game.score > 0) == (_seen_by(color, k) == WIN) else 0.0


@kernel(inline=True)
def _search_value(turn, color, k):
    """The chance of a win, a loss or no result (k) that the search found, for a colour."""
    if k == NO_RESULT:
        return np.float64(turn.no_result)
    margin = np.float64(turn.value)
    if _seen_by(color, k) == LOSS:
        margin = -margin
    return 0.5 * (1.0 - turn.no_result + margin)


@kernel(inline=True)
def _seen_by(color, k):
    """Turn Black's index k into a colour's: Black's win is White's loss."""
    return k if color == BLACK or k == NO_RESULT else WIN + LOSS - k
