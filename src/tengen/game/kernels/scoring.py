"""The owner of each point, seki, and the score by the rules of a game.

Kernels write into the scratch record of ``tengen.game.kernels.life``. They take the board as it
is: callers remove dead stones first (``remove_chain``), but for those in pass-alive areas, and
where they were captured in a clean-up.
"""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, EMPTY, WALL, WHITE
from tengen.game.kernels.board import (
    NO_TAX,
    PLAYED_OUT,
    TAX_ON_GROUPS,
    n_points,
    neighbours,
    opponent,
    point_of,
)
from tengen.game.kernels.clean_up_phases import start_color
from tengen.game.kernels.life import around, find_kept, find_rows, flood_fill
from tengen.jit import kernel

BUTTON_POINTS = 0.5


@kernel
def area(board, scratch):
    """Find the owner of each point; returns Black's points minus White's.

    An empty region belongs to a colour if it touches only stones of that colour.
    """
    find_rows(board, scratch)
    return _area_by_rows(board, scratch)


@kernel
def settled_area(board, scratch):
    """Like `area`, but a colour owns all its pass-alive area, enclosed enemy stones included.

    KataGo counts area this way and feeds it to its networks.
    """
    find_rows(board, scratch)
    any_kept = find_kept(board, scratch, BLACK) | find_kept(board, scratch, WHITE)
    difference = _area_by_rows(board, scratch)
    for p in range(n_points(board)):
        scratch.settled[p] = EMPTY
    if not any_kept:
        return difference
    difference = 0
    for y in range(board.height):
        first = point_of(board, 0, y)
        white = scratch.kept[WHITE, y + 1]
        black = scratch.kept[BLACK, y + 1] & ~white  # nothing is pass-alive for both
        for x in range(board.width):
            c = (black >> np.uint32(x)) & np.uint32(1)
            c |= ((white >> np.uint32(x)) & np.uint32(1)) << np.uint32(1)
            scratch.settled[first + x] = c
            owner = scratch.owner[first + x] if c == EMPTY else np.int8(c)
            scratch.owner[first + x] = owner
            difference += _sign(owner)
    return difference


@kernel
def _area_by_rows(board, scratch):
    """Like `area`, after `find_rows`."""
    rows, near, owner = scratch.rows, scratch.near, scratch.owner
    for c in (BLACK, WHITE):
        near[c, 0] = 0
        near[c, board.height + 1] = 0
        for y in range(1, board.height + 1):
            near[c, y] = around(rows[c], y) & rows[EMPTY, y]
        flood_fill(near[c], rows[EMPTY], board.height)
    for p in range(n_points(board)):
        owner[p] = board.color[p]
    difference = 0
    for y in range(board.height):
        first = point_of(board, 0, y)
        black = near[BLACK, y + 1] & ~near[WHITE, y + 1]
        white = near[WHITE, y + 1] & ~near[BLACK, y + 1]
        for x in range(board.width):
            c = (black >> np.uint32(x)) & np.uint32(1)
            c += ((white >> np.uint32(x)) & np.uint32(1)) << np.uint32(1)
            owner[first + x] |= np.int8(c)
            difference += _sign(owner[first + x])
    return difference


@kernel(inline=True)
def _sign(owner):
    return 1 if owner == BLACK else -1 if owner == WHITE else 0


@kernel
def mark_seki(board, scratch, strict, groups):
    """After `area`: mark the groups in seki, and count the other groups into groups[colour].

    A group is a connected set of points that a colour owns, stones and territory. If `strict`, it
    is in seki if it has dame or a chain in atari, so players must fill dame and connect before
    the count. Players who agree on the score leave dame open; so if not `strict`, a group with
    dame is alive if it has two separate eye spaces, or one of three points or more (no eye of a
    seki is that large).
    """
    owner, seki, stack, region = scratch.owner, scratch.seki, scratch.stack, scratch.region
    for p in range(n_points(board)):
        seki[p] = 0
        region[p] = 0
    for c in range(3):
        groups[c] = 0
    for start in range(n_points(board)):
        c = owner[start]
        if c == EMPTY or c == WALL or region[start] != 0:
            continue
        n, done, open_ends = 1, 0, 0
        stack[0] = start
        region[start] = 1
        while done < n:
            p = stack[done]
            done += 1
            if strict and board.color[p] == c and board.libs[board.head[p]] == 1:
                open_ends += 1
            for q in neighbours(board, p):
                if owner[q] == EMPTY:
                    open_ends += 1
                elif owner[q] == c and region[q] == 0:
                    region[q] = 1
                    stack[n] = q
                    n += 1
        if open_ends == 0 or (not strict and _has_eye_space(board, scratch, n)):
            groups[c] += 1
        else:
            for k in range(n):
                seki[stack[k]] = 1


@kernel
def _has_eye_space(board, scratch, n):
    """Whether the group stack[:n] has two eye spaces, or one of three points or more."""
    stack, region = scratch.stack, scratch.region
    spaces = 0
    for k in range(n):
        start = stack[k]
        if board.color[start] != EMPTY or region[start] == 2:
            continue
        spaces += 1
        region[start] = 2
        # Two steps from the first point are enough to tell two points from three.
        size = 1
        for q in neighbours(board, start):
            if board.color[q] == EMPTY:
                region[q] = 2
                size += 1
                for r in neighbours(board, q):
                    if board.color[r] == EMPTY and r != start:
                        size += 1
        if size >= 3:
            return True
    return spaces >= 2


@kernel
def count(board, scratch):
    """Score both sides by the rules of the game into the tallies of the scratch record.

    Fills `owner`; points that count for nobody are EMPTY. Returns Black's points minus White's,
    without komi and button.
    """
    if board.territory == PLAYED_OUT:
        return _count_played_out(board, scratch)
    _find_owners(board, scratch)
    if board.tax != NO_TAX:
        mark_seki(board, scratch, not board.territory, scratch.groups)
    for c in range(3):
        scratch.stones[c] = 0
        scratch.territory[c] = 0
        scratch.prisoners[c] = board.captured[opponent(c)] if board.territory and c else 0
        scratch.tax[c] = 2 * scratch.groups[c] if board.tax == TAX_ON_GROUPS else 0
    for p in range(n_points(board)):
        c = scratch.owner[p]
        if c == EMPTY or c == WALL:
            continue
        if board.color[p] == c:
            scratch.stones[c] += not board.territory
        elif board.tax != NO_TAX and scratch.seki[p]:
            scratch.owner[p] = EMPTY
        else:
            scratch.territory[c] += 1
    return _points(scratch, BLACK) - _points(scratch, WHITE)


@kernel(inline=True)
def _find_owners(board, scratch):
    """The area by the rules of the game; returns Black's points minus White's."""
    if board.settled and not board.territory:
        return settled_area(board, scratch)
    return area(board, scratch)


@kernel
def _count_played_out(board, scratch):
    """As `count`, where dead stones were captured in the phases after the main one.

    A living group owns its stones and what it surrounds. A group in seki has its stones, of those
    that were there when the second clean-up began, and no territory unless there is no tax. The
    stones at that time which their colour does not own in the end are prisoners.
    """
    settled_area(board, scratch)
    mark_seki(board, scratch, True, scratch.groups)
    for c in range(3):
        scratch.stones[c] = 0
        scratch.territory[c] = 0
        scratch.prisoners[c] = board.captured[opponent(c)] if c else 0
        scratch.tax[c] = 2 * scratch.groups[c] if board.tax == TAX_ON_GROUPS else 0
    for p in range(n_points(board)):
        color, c = board.color[p], scratch.owner[p]
        if color == WALL:
            continue
        start = start_color(board, p)
        if scratch.seki[p] and (color == c or board.tax != NO_TAX):
            c = color if color == start else np.int8(EMPTY)
            scratch.owner[p] = c
        if c != EMPTY and c != start:
            scratch.territory[c] += 1
        if start != EMPTY and c != start:
            scratch.prisoners[opponent(start)] += 1
    return _points(scratch, BLACK) - _points(scratch, WHITE)


@kernel
def final_score(board, scratch):
    """Black's points minus White's with komi and button, on the board as it is.

    A button that nobody took goes to the side to play.
    """
    if board.territory or board.tax != NO_TAX:
        margin = count(board, scratch) - board.komi
    else:  # who owns what is all there is to count
        margin = _find_owners(board, scratch) - board.komi
    owner = board.to_play if board.button else board.button_owner
    return margin + BUTTON_POINTS * _sign(owner)


@kernel(inline=True)
def _points(scratch, c):
    return scratch.stones[c] + scratch.territory[c] + scratch.prisoners[c] - scratch.tax[c]
