"""KataGo's V7 inputs: 22 planes of 0 and 1 and 19 values for the whole board.

Planes 7, 20 and 21 and globals 12 and 13 are for the clean-up phases of territory scoring.
"""

from __future__ import annotations

import numpy as np

from tengen.features.kernels.planes import mark, mark_if
from tengen.game.color import BLACK, EMPTY, WHITE
from tengen.game.kernels.board import (
    END_IS_HIDDEN,
    END_IS_HIDDEN_FROM_LOSERS,
    FIRST_CLEAN_UP,
    MAIN_PHASE,
    POSITIONAL_SUPERKO,
    SECOND_CLEAN_UP,
    SIMPLE_KO,
    TAX_ON_GROUPS,
    is_forbidden_suicide,
    n_points,
    opponent,
    point_of,
)
from tengen.game.kernels.clean_up_phases import is_blocked, is_last_phase, start_color
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.kernels.moves import (
    GOING_ON,
    PASS,
    move_at,
    mover_at,
    pass_would_end,
    passed_here_before,
    repeats,
    took_before,
)
from tengen.game.kernels.point_sets import has_any, has_bit
from tengen.game.kernels.scoring import count, mark_seki, settled_area
from tengen.jit import kernel

TURNS_OF_HISTORY = 5
KOMI_SCALE = 20.0
KOMI_CLIP, OLDER_KOMI_CLIP = 20.0, 1.0  # beyond the points of the board
ADVANTAGE = "advantage in playouts"

PLANES = (
    "on board",
    "own stone",
    "opponent's stone",
    "chain has 1 liberty",
    "chain has 2 liberties",
    "chain has 3 liberties",
    "ko or superko ban",
    "ko recapture block",
    "unused",
    *(f"move {turn} turns ago" for turn in range(1, TURNS_OF_HISTORY + 1)),
    "caught in a ladder",
    "caught in a ladder 1 turn ago",
    "caught in a ladder 2 turns ago",
    "catches in a ladder",
    "own area",
    "opponent's area",
    "own stone at the second clean-up",
    "opponent's stone at the second clean-up",
)
GLOBALS = (
    *(f"pass {turn} turns ago" for turn in range(1, TURNS_OF_HISTORY + 1)),
    "own komi",
    "superko",
    "positional or situational",
    "suicide",
    "territory scoring",
    "tax in seki",
    "tax on groups",
    "clean-up",
    "second clean-up",
    "a pass would end the game",
    "unequal playouts",
    ADVANTAGE,
    "button",
    "parity of komi",
)
_ON_BOARD, _OWN, _OPPONENT, _LIBERTIES = 0, 1, 2, 2  # plane _LIBERTIES + n is n liberties
_KO_BAN = PLANES.index("ko or superko ban")
_BLOCK = PLANES.index("ko recapture block")
_MOVES = PLANES.index("move 1 turns ago")
_CAUGHT = PLANES.index("caught in a ladder")
_CATCHES = PLANES.index("catches in a ladder")
_OWN_AREA = PLANES.index("own area")
_OPPONENT_AREA = PLANES.index("opponent's area")
_OWN_START = PLANES.index("own stone at the second clean-up")
_OPPONENT_START = PLANES.index("opponent's stone at the second clean-up")
_KOMI = GLOBALS.index("own komi")
SUPERKO = GLOBALS.index("superko")
_KIND_OF_SUPERKO = GLOBALS.index("positional or situational")
_SUICIDE = GLOBALS.index("suicide")
TERRITORY = GLOBALS.index("territory scoring")
_TAX = GLOBALS.index("tax in seki")
_TAX_ON_GROUPS = GLOBALS.index("tax on groups")
_CLEAN_UP = GLOBALS.index("clean-up")
_SECOND_CLEAN_UP = GLOBALS.index("second clean-up")
_PASS_ENDS = GLOBALS.index("a pass would end the game")
_UNEQUAL = GLOBALS.index("unequal playouts")
_ADVANTAGE = GLOBALS.index(ADVANTAGE)
_BUTTON = GLOBALS.index("button")
_PARITY = GLOBALS.index("parity of komi")


@kernel
def encode(board, history, scratch, planes, globals_):
    """Fill 22 planes, or their bits, and globals_[19], for the side to play."""
    suicide = board.suicide_allowed
    turns = _encode_all_but_ladders(board, history, scratch, planes, globals_, suicide, KOMI_CLIP)
    _encode_ladders(board, scratch, turns, planes)


@kernel
def encode_for_older(board, history, scratch, planes, globals_):
    """As `encode`, with komi clipped as KataGo's networks before version 8 have it."""
    clip = OLDER_KOMI_CLIP
    suicide = board.suicide_allowed
    turns = _encode_all_but_ladders(board, history, scratch, planes, globals_, suicide, clip)
    _encode_ladders(board, scratch, turns, planes)


@kernel
def encode_with_suicide_areas(board, history, scratch, planes, globals_):
    """As `encode`, with pass-alive areas as if suicide were legal, whatever the rules.

    Some of KataGo's networks ask for that.
    """
    turns = _encode_all_but_ladders(board, history, scratch, planes, globals_, 1, KOMI_CLIP)
    _encode_ladders(board, scratch, turns, planes)


@kernel
def encode_without_ladders(board, history, scratch, planes, globals_):
    """As `encode`, with empty ladder planes."""
    suicide = board.suicide_allowed
    _encode_all_but_ladders(board, history, scratch, planes, globals_, suicide, KOMI_CLIP)


@kernel
def _encode_all_but_ladders(board, history, scratch, planes, globals_, suicide_in_areas, komi_clip):
    """Returns how many turns of history are shown."""
    planes[:] = 0
    globals_[:] = 0
    ending = pass_would_end(board, history)
    _encode_stones(board, history, planes)
    hidden = False
    if is_last_phase(board):
        ahead = _encode_area(board, scratch.life[0], planes, suicide_in_areas)
        hidden = ending and (
            board.hides_end == END_IS_HIDDEN
            or (board.hides_end == END_IS_HIDDEN_FROM_LOSERS and ahead + own_komi(board) <= 0)
            or passes_in_friendship(board, history)
        )
    turns = 0 if hidden else _turns_of_history(board, history)
    _encode_moves(board, history, turns, planes, globals_)
    _encode_rules(board, globals_, komi_clip)
    globals_[_PASS_ENDS] = ending and not hidden
    return turns


@kernel(inline=True)
def passes_in_friendship(board, history):
    """Whether a second pass asks for agreement on what is dead, and does not end the game yet."""
    return (
        board.friendly_pass
        and not board.territory
        and board.passes == 1
        and not (board.ko_rule == SIMPLE_KO and passed_here_before(board, history))
    )


@kernel
def _turns_of_history(board, history):
    """How many of the last moves alternated and are not hidden, the opponent's last one first.

    Where two passes ended the game and it went on, the second of them is the last one shown; of
    earlier phases nothing is.
    """
    most = min(max(board.ply - board.hidden, 0), TURNS_OF_HISTORY if board.end == GOING_ON else 1)
    if board.phase != MAIN_PHASE:
        most = min(most, board.ply - board.passes_since)
    mover = opponent(board.to_play)
    passes = False
    for turn in range(most):
        entry = board.ply - turn
        passed_next, passes = passes, move_at(history, entry) == PASS
        ended = passes and passed_next and entry != board.passes_since  # where the button was taken
        if ended or mover_at(history, entry) != mover:
            return turn
        mover = opponent(mover)
    return most


@kernel
def _encode_stones(board, history, planes):
    me, enemy = board.to_play, opponent(board.to_play)
    for y in range(board.height):
        for x in range(board.width):
            p = np.uint32(point_of(board, x, y))
            color = board.color[p]
            liberties = board.libs[board.head[p]]
            few = (color != EMPTY) & (liberties <= 3)
            mark(planes, _ON_BOARD, y, x)
            mark_if(color == me, planes, _OWN, y, x)
            mark_if(color == enemy, planes, _OPPONENT, y, x)
            mark_if(few, planes, _LIBERTIES + (liberties if few else 1), y, x)
    if board.phase != MAIN_PHASE:
        _encode_clean_up(board, history, planes)
        return
    for i in range(board.n_empty):
        p = np.int64(board.empties[i])
        if p == board.ko or (repeats(board, history, p) and not is_forbidden_suicide(board, p)):
            mark(planes, _KO_BAN, p // board.stride - 1, p % board.stride - 1)


@kernel
def _encode_clean_up(board, history, planes):
    me, enemy = board.to_play, opponent(board.to_play)
    for y in range(board.height):
        for x in range(board.width):
            p = np.uint32(point_of(board, x, y))
            mark_if(took_before(board, history, p), planes, _KO_BAN, y, x)
            mark_if(is_blocked(board, p), planes, _BLOCK, y, x)
            if board.phase == SECOND_CLEAN_UP:
                mark_if(start_color(board, p) == me, planes, _OWN_START, y, x)
                mark_if(start_color(board, p) == enemy, planes, _OPPONENT_START, y, x)


@kernel
def _encode_moves(board, history, turns, planes, globals_):
    for turn in range(turns):
        p = np.int64(move_at(history, board.ply - turn))
        if p == PASS:
            globals_[turn] = 1
        else:
            mark(planes, _MOVES + turn, p // board.stride - 1, p % board.stride - 1)


@kernel
def _encode_ladders(board, scratch, turns, planes):
    mark_ladders(board, scratch.ladder, scratch.caught[0], scratch.catching)
    before = 1 if turns >= 1 else 0
    long_before = 2 if turns >= 2 else before
    _mark_places(board, scratch.caught[0], planes, _CAUGHT)
    _mark_places(board, scratch.caught[before], planes, _CAUGHT + 1)
    _mark_places(board, scratch.caught[long_before], planes, _CAUGHT + 2)
    _mark_places(board, scratch.catching[opponent(board.to_play)], planes, _CATCHES)


@kernel
def _mark_places(board, words, planes, plane):
    if not has_any(words):
        return
    place = 0
    for y in range(board.height):
        for x in range(board.width):
            mark_if(has_bit(words, place), planes, plane, y, x)
            place += 1


@kernel
def _encode_area(board, life, planes, suicide):
    """Returns by how many points the side to play is ahead on the board."""
    allowed = board.suicide_allowed
    board.suicide_allowed = suicide  # by which pass-alive areas are found
    if board.territory:
        count(board, life)
    else:
        settled_area(board, life)
    board.suicide_allowed = allowed
    if board.tax and not board.territory:
        mark_seki(board, life, True, life.groups)
    me, enemy = board.to_play, opponent(board.to_play)
    ahead = 0
    for y in range(board.height):
        for x in range(board.width):
            p = point_of(board, x, y)
            owner = life.owner[p]
            if board.tax and not board.territory and life.seki[p] and board.color[p] != owner:
                continue
            mark_if(owner == me, planes, _OWN_AREA, y, x)
            mark_if(owner == enemy, planes, _OPPONENT_AREA, y, x)
            ahead += np.int64(owner == me) - np.int64(owner == enemy)
    if board.tax == TAX_ON_GROUPS:
        ahead -= 2 * (life.groups[me] - life.groups[enemy])
    return ahead


@kernel
def _encode_rules(board, globals_, komi_clip):
    area = board.width * board.height
    most = area + komi_clip
    komi = max(-most, min(most, own_komi(board)))
    globals_[_KOMI] = komi / KOMI_SCALE
    if board.ko_rule != SIMPLE_KO:
        globals_[SUPERKO] = 1
        globals_[_KIND_OF_SUPERKO] = 0.5 if board.ko_rule == POSITIONAL_SUPERKO else -0.5
    globals_[_SUICIDE] = board.suicide_allowed
    globals_[TERRITORY] = board.territory > 0
    globals_[_TAX] = board.tax > 0
    globals_[_TAX_ON_GROUPS] = board.tax > 1
    globals_[_CLEAN_UP] = board.phase >= FIRST_CLEAN_UP
    globals_[_SECOND_CLEAN_UP] = board.phase >= SECOND_CLEAN_UP
    globals_[_BUTTON] = board.button
    if is_last_phase(board):
        globals_[_PARITY] = _parity_wave(komi, area % 2)


@kernel
def own_komi(board):
    """Komi for the side to play, as KataGo adjusts it to the rules.

    Territory scoring is expressed as area scoring: prisoners are added, and stones on the board,
    which area scoring counts, are taken off. Stones cost nothing in the second clean-up.
    """
    white = board.komi
    if board.button_owner:
        white += 0.5 if board.button_owner == WHITE else -0.5
    if board.territory:
        white += board.captured[BLACK] - board.captured[WHITE]
        for p in range(n_points(board)):
            color = start_color(board, p)
            if color == BLACK:
                white += 1
            elif color == WHITE:
                white -= 1
    return white if board.to_play == WHITE else -white


@kernel(inline=True)
def _parity_wave(komi, odd_area):
    """A triangle wave of period 2 that is 0 where this komi makes a draw possible."""
    above = (komi - odd_area) % 2.0
    if above < 0.5:
        return above
    return 1.0 - above if above < 1.5 else above - 2.0


@kernel(inline=True)
def encode_advantage(globals_, advantage):
    """Say that the side to play has 2^advantage times the opponent's playouts."""
    globals_[_UNEQUAL] = 1
    globals_[_ADVANTAGE] = np.float32(0.5) * advantage
