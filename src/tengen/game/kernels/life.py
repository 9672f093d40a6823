"""Pass-alive stones (Benson's algorithm), eyes, and the scratch memory of life and scoring.

Kernels write into a scratch record, one for each thread. Flood fills, and the test whether
anything may be pass-alive, work on rows: a set of points is a uint32 for each row with a bit for
each point, plus an empty row above and below the board.
"""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, EMPTY, WALL, WHITE
from tengen.game.geometry import MAX_AREA, MAX_POINTS, MAX_SIDE
from tengen.game.kernels.board import (
    NO_CHAIN,
    diagonals,
    n_points,
    neighbours,
    opponent,
    point_of,
)
from tengen.jit import kernel
from tengen.kernel_records import record_type

MAX_VITAL = 4  # chains vital to a region: all touch its first empty point

_SCRATCH_FIELDS = [
    ("owner", "i1", (MAX_POINTS,)),  # colour that owns the point, EMPTY if none
    ("seki", "u1", (MAX_POINTS,)),  # 1: in a group in seki
    ("stack", "u2", (MAX_POINTS,)),
    ("rows", "u4", (3, MAX_SIDE + 2)),  # by colour: its stones; EMPTY: the empty points
    ("near", "u4", (3, MAX_SIDE + 2)),  # by colour: empty points connected to its stones
    ("far", "u4", (MAX_SIDE + 2,)),  # regions that have points not next to a colour
    ("other", "u4", (MAX_SIDE + 2,)),  # all points without stones of a colour
    ("dead", "u4", (MAX_SIDE + 2,)),  # stones of a colour that are not pass-alive
    ("inner", "u4", (MAX_SIDE + 2,)),  # points not next to a colour, in regions it may keep
    ("filled", "u4", (MAX_SIDE + 2,)),  # one of these regions
    ("kept", "u4", (3, MAX_SIDE + 2)),  # by colour: points that it owns pass-alive
    ("region", "u2", (MAX_POINTS,)),  # number of the point's region from 1, or 0
    ("ends", "i2", (MAX_AREA + 1,)),  # by region: where its points end in `stack`
    ("healthy", "u1", (MAX_AREA + 1,)),  # by region: all chains at its border may be alive
    ("vital", "u2", (MAX_AREA + 1, MAX_VITAL)),  # by region: heads of chains it is vital to
    ("eyes", "i2", (MAX_POINTS,)),  # by head: number of healthy regions vital to it
    ("settled", "i1", (MAX_POINTS,)),  # colour that owns the point pass-alive, or EMPTY
    ("groups", "i4", (3,)),  # by colour like all below: the tallies of `count`
    ("stones", "i4", (3,)),
    ("territory", "i4", (3,)),
    ("prisoners", "i4", (3,)),
    ("tax", "i4", (3,)),
]
SCRATCH = record_type(f"{__name__}.SCRATCH", _SCRATCH_FIELDS)


def new_life_scratch(count: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """[count] scratch records, one for each thread."""
    return np.zeros(count, SCRATCH)


@kernel
def find_rows(board, scratch):
    """Fill `rows` from the board."""
    rows = scratch.rows
    everywhere = np.uint32((1 << board.width) - 1)
    for c in range(3):
        rows[c, 0] = 0
        rows[c, board.height + 1] = 0
    for y in range(board.height):
        first = point_of(board, 0, y)
        black, white = np.uint32(0), np.uint32(0)
        for x in range(board.width):
            c = np.uint32(board.color[first + x])
            black |= (c & np.uint32(BLACK)) << np.uint32(x)
            white |= (c >> np.uint32(1)) << np.uint32(x)
        rows[BLACK, y + 1] = black
        rows[WHITE, y + 1] = white
        rows[EMPTY, y + 1] = everywhere & ~(black | white)


@kernel(inline=True)
def around(rows, y):
    """The neighbours in row y of the points in these rows."""
    return (rows[y] << np.uint32(1)) | (rows[y] >> np.uint32(1)) | rows[y - 1] | rows[y + 1]


@kernel(inline=True)
def _fill_row(start, through):
    """Flood fill within one row: the bits of `through` connected to its subset `start`."""
    # Towards higher bits by the carry of an addition, towards lower bits by doubling shifts.
    found = (((through + start) ^ through) | start) & through
    for k in range(5):
        found |= through & (found >> np.uint32(1 << k))
        through &= through >> np.uint32(1 << k)
    return found


@kernel
def flood_fill(reached, through, height):
    """Add to the rows `reached` all points of `through` connected to them."""
    changed, down = True, True
    while changed:
        changed = False
        for k in range(height):
            y = 1 + k if down else height - k
            start = (reached[y] | around(reached, y)) & through[y]
            if start & ~reached[y]:
                reached[y] = _fill_row(start, through[y])
                changed = True
        down = not down


@kernel
def pass_alive(board, scratch, color):
    """Mark in `owner` the points that a colour keeps even if it always passes; returns how many.

    These are the chains that Benson's algorithm finds alive, and the regions they enclose in
    which the opponent cannot make an eye, enemy stones included. All other points become EMPTY.
    """
    find_rows(board, scratch)
    find_kept(board, scratch, color)
    owned = 0
    for p in range(n_points(board)):
        scratch.owner[p] = EMPTY
    for y in range(board.height):
        first, kept = point_of(board, 0, y), scratch.kept[color, y + 1]
        for x in range(board.width):
            mine = (kept >> np.uint32(x)) & np.uint32(1)
            scratch.owner[first + x] = color * mine
            owned += mine
    return owned


@kernel
def find_kept(board, scratch, color):
    """Fill `kept` of a colour, after `find_rows`; returns whether it keeps anything.

    Exits early where nothing can be alive.
    """
    if _may_have_eyes(board, scratch, color):
        regions = _find_regions(board, scratch, color)
        if regions >= 2 and _find_alive_chains(board, scratch, color, regions):
            _find_enclosed(board, scratch, color)
            return True
    for y in range(board.height + 2):
        scratch.kept[color, y] = 0
    return False


@kernel
def _may_have_eyes(board, scratch, color):
    """Whether any region has all its points next to a stone of the colour, as vital ones have.

    Fills `far` with all other regions.
    """
    rows, far, other = scratch.rows, scratch.far, scratch.other
    mine, height = rows[color], board.height
    everywhere = np.uint32((1 << board.width) - 1)
    far[0] = 0
    far[height + 1] = 0
    for y in range(1, height + 1):
        other[y] = everywhere & ~mine[y]
        asked = other[y] if board.suicide_allowed else rows[EMPTY, y]
        far[y] = asked & ~around(mine, y)
    flood_fill(far, other, height)
    for y in range(1, height + 1):
        if other[y] & ~far[y]:
            return True
    return False


@kernel
def _find_alive_chains(board, scratch, color, regions):
    """Benson's algorithm: drop regions next to chains with fewer than two eyes until none is.

    Returns whether any chain remains: those with two `eyes` or more.
    """
    for r in range(regions + 1):
        scratch.healthy[r] = True
    while _count_eyes(board, scratch, regions):
        if not _drop_regions(board, scratch, color, regions):
            return True
    return False


@kernel
def _count_eyes(board, scratch, regions):
    """Count each chain's vital healthy regions; returns whether any chain has two."""
    for p in range(n_points(board)):
        scratch.eyes[p] = 0
    found = False
    for r in range(1, regions + 1):
        if scratch.healthy[r]:
            for k in range(MAX_VITAL):
                head = scratch.vital[r, k]
                scratch.eyes[head] += 1
                found |= head != NO_CHAIN and scratch.eyes[head] == 2
    return found


@kernel
def _drop_regions(board, scratch, color, regions):
    """Drop the regions next to chains with fewer than two eyes; returns whether any was."""
    changed, first = False, 0
    for r in range(1, regions + 1):
        end = scratch.ends[r]
        if scratch.healthy[r] and _touches_dead(board, scratch, color, first, end):
            scratch.healthy[r] = False
            changed = True
        first = end
    return changed


@kernel(inline=True)
def _touches_dead(board, scratch, color, first, end):
    """Whether a point of stack[first:end] is next to a chain with fewer than two eyes."""
    for k in range(first, end):
        for q in neighbours(board, scratch.stack[k]):
            if board.color[q] == color and scratch.eyes[board.head[q]] < 2:
                return True
    return False


@kernel
def _find_enclosed(board, scratch, color):
    """Fill `kept` with the chains that are alive and what they enclose.

    A region is kept if no other chain of the colour borders it and at most one of its points is not
    next to the colour: with two such points the opponent may live there.
    """
    rows, kept, dead, other = scratch.rows[color], scratch.kept[color], scratch.dead, scratch.other
    lost, inner, height = scratch.far, scratch.inner, board.height
    for y in range(height + 2):
        kept[y] = 0
        dead[y] = 0
    for y in range(height):
        first = point_of(board, 0, y)
        for x in range(board.width):
            p = np.uint32(first + x)
            alive = (board.color[p] == color) & (scratch.eyes[board.head[p]] >= 2)
            kept[y + 1] |= np.uint32(alive) << np.uint32(x)
        dead[y + 1] = rows[y + 1] & ~kept[y + 1]
    for y in range(1, height + 1):
        lost[y] = around(dead, y) & other[y]
    flood_fill(lost, other, height)
    for y in range(1, height + 1):
        inner[y] = other[y] & ~lost[y] & ~around(rows, y)
    for y in range(1, height + 1):
        while inner[y]:
            _judge_region(board, scratch, y)
    for y in range(1, height + 1):
        kept[y] |= other[y] & ~lost[y]


@kernel
def _judge_region(board, scratch, y):
    """Remove from `inner` the region that contains its first point in row y.

    If the region has two or more points of `inner`, it is added to the lost regions in `far`.
    """
    inner, filled, lost = scratch.inner, scratch.filled, scratch.far
    for k in range(board.height + 2):
        filled[k] = 0
    filled[y] = inner[y] & (~inner[y] + np.uint32(1))
    flood_fill(filled, scratch.other, board.height)
    points = 0
    for k in range(1, board.height + 1):
        found = inner[k] & filled[k]
        if found:
            points += 2 if found & (found - np.uint32(1)) else 1  # two stand for more
        inner[k] &= ~filled[k]
    if points > 1:
        for k in range(1, board.height + 1):
            lost[k] |= filled[k]


@kernel
def _find_regions(board, scratch, color):
    """Number and describe the regions without stones of a colour that are not in `far`.

    Returns how many there are; every region has an empty point.
    """
    for p in range(n_points(board)):
        scratch.region[p] = 0
    regions, end = 0, 0
    for y in range(board.height):
        left = scratch.rows[EMPTY, y + 1] & ~scratch.far[y + 1]
        start = np.int64(point_of(board, 0, y))
        while left:
            if left & np.uint32(1) and scratch.region[start] == 0:
                regions += 1
                end = _describe_region(board, scratch, color, start, regions, end)
                scratch.ends[regions] = end
            left >>= np.uint32(1)
            start += 1
    return regions


@kernel
def _describe_region(board, scratch, color, start, number, first):
    """Flood fill a region from an empty point, and find its vital chains.

    Its points go to `stack` from place `first` on; returns where they end. A region is vital to a
    chain if all its empty points are liberties of the chain; where suicide is allowed, all its
    points must touch the chain, since stones in it may be removed.
    """
    region, stack = scratch.region, scratch.stack
    _start_vital(board, scratch.vital[number], start, color)
    end, done, any_vital = first + 1, first, True
    stack[first] = start
    region[start] = number
    while done < end:
        p = stack[done]
        done += 1
        for q in neighbours(board, p):
            c = board.color[q]
            if c != color and c != WALL and region[q] == 0:
                region[q] = number
                stack[end] = q
                end += 1
        if any_vital and (board.color[p] == EMPTY or board.suicide_allowed):
            any_vital = _keep_vital(board, scratch.vital[number], p)
    return end


@kernel(inline=True)
def _start_vital(board, vital, p, color):
    """Start with the distinct chains of the colour next to one point."""
    k = 0
    for q in neighbours(board, p):
        head = board.head[q] if board.color[q] == color else NO_CHAIN
        for j in range(k):
            if vital[j] == head:
                head = NO_CHAIN
        vital[k] = head
        k += 1


@kernel(inline=True)
def _keep_vital(board, vital, p):
    """Drop the chains that are not next to this point; returns whether any remains."""
    left = False
    for k in range(MAX_VITAL):
        if vital[k] != NO_CHAIN:
            near = False
            for q in neighbours(board, p):
                near |= board.head[q] == vital[k]
            if not near:
                vital[k] = NO_CHAIN
            left |= near
    return left


@kernel(inline=True)
def is_own_eye(board, p):
    """Whether p is surrounded by own stones and at most one diagonal (none at the edge) is lost."""
    me = board.to_play
    for q in neighbours(board, p):
        if board.color[q] != me and board.color[q] != WALL:
            return False
    enemy, wall = 0, 0
    for q in diagonals(board, p):
        if board.color[q] == opponent(me):
            enemy += 1
        elif board.color[q] == WALL:
            wall = 1
    return enemy + wall < 2


@kernel
def find_own_eyes(board, eyes):
    """Fill eyes[height, width] with the own eyes of the side to play."""
    for y in range(board.height):
        for x in range(board.width):
            p = point_of(board, x, y)
            eyes[y, x] = board.color[p] == EMPTY and is_own_eye(board, p)
