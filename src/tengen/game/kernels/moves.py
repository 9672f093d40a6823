"""Legal moves, the history of a game, repetition, and the end of a game.

A history is an array of uint64. Entry i describes the position after i moves: the upper bits of
its hash, then the colour and the point of the last move, so that one fast scan finds repetitions.
In a clean-up the lower bits of the hash are those of the ko stones that are blocked.
Entry 0 is the first position, with a PASS by the opponent of the side to play as its last move.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import EMPTY
from tengen.game.kernels.board import (
    MAIN_PHASE,
    PLAYED_OUT,
    POSITIONAL_SUPERKO,
    SIMPLE_KO,
    clear,
    hash_after,
    is_forbidden_suicide,
    is_suicide,
    opponent,
    play_stone,
    point_of,
)
from tengen.game.kernels.clean_up_phases import (
    NOWHERE,
    begin_clean_up,
    block_at,
    is_last_phase,
    ko_stone,
    play_in_clean_up,
)
from tengen.jit import kernel

PASS = 0  # the point index of a pass: index 0 is border, where no stone can be

LEGAL, OCCUPIED, SUICIDE, KO, SUPERKO = 0, 1, 2, 3, 4

GOING_ON, ENDED_BY_PASSES, ENDED_BY_REPETITION = 0, 1, 2
REPETITIONS_TO_END = 3  # under simple ko, which has no other rule against long cycles

_MOVE_BITS = np.uint64(2**9 - 1)
_MOVER_SHIFT = np.uint64(9)
_MOVER_BITS = np.uint64(3 << 9)
_HASH_BITS = ~(_MOVER_BITS | _MOVE_BITS)
_BLOCK_BITS = np.uint64(2**32 - 1) & _HASH_BITS  # in a clean-up
_STONE_BITS = np.uint64(2**64 - 2**32)  # in a clean-up


@kernel(inline=True)
def move_at(history, i):
    """The point of the move that led to entry i, or PASS."""
    return np.uint32(history[i] & _MOVE_BITS)


@kernel(inline=True)
def mover_at(history, i):
    """The colour that made the move that led to entry i."""
    return np.int32((history[i] & _MOVER_BITS) >> _MOVER_SHIFT)


@kernel(inline=True)
def _entry(h, color, p):
    return (h & _HASH_BITS) | (np.uint64(color) << _MOVER_SHIFT) | np.uint64(p)


@kernel(inline=True)
def _situation(board):
    """What the history keeps of a position: its hash, and in a clean-up that of the blocks."""
    if board.phase == MAIN_PHASE:
        return board.hash
    return (board.hash & _STONE_BITS) | ((board.blocks >> np.uint64(32)) & _BLOCK_BITS)


@kernel(inline=True)
def _matches(board, history, until, entry, bits):
    """Count the entries from `board.since` up to `until` that equal `entry` in these bits."""
    n = 0
    for i in range(np.uint64(board.since), np.uint64(until)):
        n += (history[i] ^ entry) & bits == 0
    return n


def new_history(moves: int) -> NDArray[np.uint64]:
    """[moves + 1] history entries, for a game of up to this many moves."""
    return np.zeros(moves + 1, np.uint64)


@kernel
def start_game(board, history, width, height, terms):
    """Clear the board for a game with these terms, and start its history."""
    clear(board, width, height, terms)
    start_history(board, history, board.to_play)


@kernel
def start_history(board, history, to_play):
    """Make the current board the first position of its history."""
    board.to_play = to_play
    board.ko = 0
    board.passes = 0
    board.ply = 0
    board.since = 0
    board.passes_since = 0
    board.passed = 0
    board.hidden = 0
    board.hides_end = 0
    board.end = GOING_ON
    history[0] = _entry(board.hash, opponent(to_play), PASS)


@kernel
def set_to_play(board, color):
    """Make this colour the side to play. A change lifts the ko ban, which binds one side only."""
    if board.to_play != color:
        board.to_play = color
        board.ko = 0


@kernel
def start_anew(board, color):
    """Make this colour the side to play; a change starts the game anew on this board.

    As KataGo has it: no ban, no pass and no earlier position counts any more, and a button that was
    taken is back.
    """
    if board.to_play != color:
        set_to_play(board, color)
        board.passes = 0
        board.since = board.ply
        board.passes_since = board.ply
        if board.button_owner:
            board.button, board.button_owner = 1, 0


@kernel
def legality(board, history, p):
    """LEGAL, or the reason why the side to play may not play p (a point on the board or PASS)."""
    if p == PASS:
        return LEGAL
    if board.phase != MAIN_PHASE and block_at(board, p) != NOWHERE:
        return LEGAL
    if board.color[p] != EMPTY:
        return OCCUPIED
    if is_forbidden_suicide(board, p):
        return SUICIDE
    if p == board.ko:
        return KO
    if board.phase != MAIN_PHASE:
        return SUPERKO if took_before(board, history, p) else LEGAL
    if repeats(board, history, p):
        return SUPERKO
    return LEGAL


@kernel
def took_before(board, history, p):
    """In a clean-up: whether the side to play took a ko by playing on p in this position before.

    Since the position is the same, a move on p takes the ko now, too.
    """
    if ko_stone(board, p) == NOWHERE:
        return False
    for i in range(board.passes_since + 1, board.ply + 1):
        if (
            move_at(history, i) == p
            and mover_at(history, i) == board.to_play
            and (history[i - 1] ^ board.hash) & _STONE_BITS == 0
            and (history[i] ^ board.hash) & _STONE_BITS != 0  # not a pass for the ko
        ):
            return True
    return False


@kernel(inline=True)
def repeats(board, history, p):
    """In the main phase: whether superko forbids a stone on p; False under simple ko.

    Unless it is suicide, a stone can only repeat a position in which its colour was on p before.
    """
    return (
        board.ko_rule != SIMPLE_KO
        and (board.seen[p] & board.to_play != 0 or (board.suicide_allowed and is_suicide(board, p)))
        and _in_history(board, history, p)
    )


@kernel
def _in_history(board, history, p):
    after = _entry(hash_after(board, p), board.to_play, PASS)
    bits = _HASH_BITS if board.ko_rule == POSITIONAL_SUPERKO else _HASH_BITS | _MOVER_BITS
    return _matches(board, history, board.ply + 1, after, bits) > 0


@kernel
def is_legal(board, history, p):
    """Whether the side to play may play p."""
    return legality(board, history, p) == LEGAL


@kernel
def legal_moves(board, history, out):
    """Fill out[area + 1] with the legal moves of the side to play, by policy index."""
    for y in range(board.height):
        for x in range(board.width):
            out[y * board.width + x] = is_legal(board, history, point_of(board, x, y))
    out[board.width * board.height] = True


@kernel(inline=True)
def play(board, history, p):
    """Play a legal move or PASS: update the board, its history and `board.end`."""
    me = board.to_play
    if p == PASS:
        _play_pass(board, history, me)
        return
    if board.phase != MAIN_PHASE:
        _play_in_clean_up(board, history, p, me)
        return
    stood_here = board.seen[p] & me
    play_stone(board, p, me)
    board.to_play = opponent(me)
    board.passes = 0
    board.ply += 1
    history[board.ply] = _entry(board.hash, me, p)
    # Only a stone where its colour was before, or a suicide, can repeat a position.
    if board.ko_rule == SIMPLE_KO and (stood_here or board.color[p] == EMPTY):
        _end_long_cycle(board, history)


@kernel
def _play_in_clean_up(board, history, p, me):
    play_in_clean_up(board, p)
    board.to_play = opponent(me)
    board.passes = 0
    board.ply += 1
    history[board.ply] = _entry(_situation(board), me, p)
    _end_long_cycle(board, history)


@kernel
def _play_pass(board, history, me):
    """Pass, take the button if it is there, and add the pass to the history.

    The pass that ends a phase begins the next one, if the game has one more.
    """
    ends = pass_would_end(board, history)
    board.ply += 1
    board.passed = 1
    board.to_play = opponent(me)
    board.ko = 0
    history[board.ply] = _entry(_situation(board), me, PASS)
    if board.button:
        board.button = 0
        board.button_owner = me
        board.since = board.ply
        board.passes_since = board.ply
        return
    board.passes += 1
    if board.ko_rule == SIMPLE_KO or board.phase != MAIN_PHASE:
        board.since = board.ply
    if ends and board.territory == PLAYED_OUT and not is_last_phase(board):
        begin_clean_up(board)
        board.passes = 0
        board.since = board.ply
        board.passes_since = board.ply
        history[board.ply] = _entry(_situation(board), me, PASS)
    elif ends:
        board.end = ENDED_BY_PASSES


@kernel
def pass_would_end(board, history):
    """Whether the game, or its phase, would end if the side to play passed now."""
    if board.button or not board.passed:
        return False
    lifts_bans = board.ko_rule == SIMPLE_KO or board.phase != MAIN_PHASE
    return board.passes >= 1 or (lifts_bans and passed_here_before(board, history))


@kernel
def passed_here_before(board, history):
    """Whether the side to play has passed in this position before."""
    passing = _entry(_situation(board), board.to_play, PASS)
    for i in range(board.passes_since + 1, board.ply + 1):
        if history[i] == passing:
            return True
    return False


@kernel
def _end_long_cycle(board, history):
    """End the game if this position with this side to play occurred REPETITIONS_TO_END times."""
    now = history[board.ply]
    before = _matches(board, history, board.ply, now, _HASH_BITS | _MOVER_BITS)
    if before + 1 >= REPETITIONS_TO_END:
        board.end = ENDED_BY_REPETITION


@kernel
def try_play(board, history, p, color, strict):
    """Play for this colour if the rules allow it; returns LEGAL or the reason for refusing.

    Unless `strict`, only occupied points are refused, neither ko nor suicide, and a move out of
    turn starts the game anew.
    """
    if strict:
        set_to_play(board, color)
    else:
        start_anew(board, color)
    verdict = legality(board, history, p)
    if verdict == LEGAL or not (strict or verdict == OCCUPIED):
        board.end = GOING_ON  # a move after the end resumes the game
        play(board, history, p)
        return LEGAL
    return verdict
