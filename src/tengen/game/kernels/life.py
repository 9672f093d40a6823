"""Ownership of points: area, seki, the score, and pass-alive stones (Benson's algorithm).

Kernels write into a scratch record, one for each thread. They take the board as it is: callers
remove dead stones first (``remove_chain``).

Area, and the test whether anything may be pass-alive, work on rows: a set of points is a uint32
for each row with a bit for each point, plus an empty row above and below the board.
"""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, EMPTY, WALL, WHITE
from tengen.game.geometry import MAX_AREA, MAX_POINTS, MAX_SIDE
from tengen.game.kernels.board import (
    NO_CHAIN,
    NO_TAX,
    TAX_ON_GROUPS,
    n_points,
    neighbours,
    opponent,
    point_of,
)
from tengen.jit import kernel

BUTTON_POINTS = 0.5
MAX_VITAL = 4  # chains vital to a region: all touch its first empty point

_SCRATCH_FIELDS = [
    ("owner", "i1", (MAX_POINTS,)),  # colour that owns the point, EMPTY if none
    ("seki", "u1", (MAX_POINTS,)),  # 1: in a group in seki
    ("stack", "u2", (MAX_POINTS,)),
    ("rows", "u4", (3, MAX_SIDE + 2)),  # by colour: its stones; EMPTY: the empty points
    ("near", "u4", (3, MAX_SIDE + 2)),  # by colour: empty points connected to its stones
    ("far", "u4", (MAX_SIDE + 2,)),  # regions that have points not next to a colour
    ("other", "u4", (MAX_SIDE + 2,)),  # all points without stones of a colour
    ("region", "u2", (MAX_POINTS,)),  # number of the point's region from 1, or 0
    ("healthy", "u1", (MAX_AREA + 1,)),  # by region: all chains at its border may be alive
    ("inner", "i2", (MAX_AREA + 1,)),  # by region: number of points not next to the colour
    ("vital", "u2", (MAX_AREA + 1, MAX_VITAL)),  # by region: heads of chains it is vital to
    ("alive", "u1", (MAX_POINTS,)),  # by head: may be pass-alive
    ("eyes", "i2", (MAX_POINTS,)),  # by head: number of healthy regions vital to it
    ("settled", "i1", (MAX_POINTS,)),  # colour that owns the point pass-alive, or EMPTY
    ("groups", "i4", (3,)),  # by colour like all below: the tallies of `count`
    ("stones", "i4", (3,)),
    ("territory", "i4", (3,)),
    ("prisoners", "i4", (3,)),
    ("tax", "i4", (3,)),
]
SCRATCH = np.dtype((np.record, np.dtype(_SCRATCH_FIELDS, align=True)))


def new_life_scratch(count: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """[count] scratch records, one for each thread."""
    return np.zeros(count, SCRATCH)


@kernel
def area(board, scratch):
    """Find the owner of each point; returns Black's points minus White's.

    An empty region belongs to a colour if it touches only stones of that colour.
    """
    _find_rows(board, scratch)
    return _area_by_rows(board, scratch)


@kernel
def settled_area(board, scratch):
    """Like `area`, but a colour owns all its pass-alive area, enclosed enemy stones included.

    KataGo counts area this way and feeds it to its networks.
    """
    _find_rows(board, scratch)
    for p in range(n_points(board)):
        scratch.settled[p] = EMPTY
    owned = 0
    for color in (BLACK, WHITE):
        found = _pass_alive_by_rows(board, scratch, color)
        owned += found
        if found:
            for p in range(n_points(board)):
                if scratch.owner[p] != EMPTY:
                    scratch.settled[p] = color
    difference = _area_by_rows(board, scratch)
    if owned == 0:
        return difference
    difference = 0
    for p in range(n_points(board)):
        if scratch.settled[p] != EMPTY:
            scratch.owner[p] = scratch.settled[p]
        difference += _sign(scratch.owner[p])
    return difference


@kernel
def _find_rows(board, scratch):
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
def _around(rows, y):
    """The neighbours in row y of the points in these rows."""
    return (rows[y] << np.uint32(1)) | (rows[y] >> np.uint32(1)) | rows[y - 1] | rows[y + 1]


@kernel(inline=True)
def _spread_in_row(start, through):
    """Flood fill in one row: the bits of `through` connected to its subset `start`."""
    # Towards higher bits by the carry of an addition, towards lower bits by doubling shifts.
    found = (((through + start) ^ through) | start) & through
    for k in range(5):
        found |= through & (found >> np.uint32(1 << k))
        through &= through >> np.uint32(1 << k)
    return found


@kernel
def _spread(reached, through, height):
    """Flood fill: add to the rows `reached` all points of `through` connected to them."""
    changed, down = True, True
    while changed:
        changed = False
        for k in range(height):
            y = 1 + k if down else height - k
            start = (reached[y] | _around(reached, y)) & through[y]
            if start & ~reached[y]:
                reached[y] = _spread_in_row(start, through[y])
                changed = True
        down = not down


@kernel
def _area_by_rows(board, scratch):
    """Like `area`, after `_find_rows`."""
    rows, near, owner = scratch.rows, scratch.near, scratch.owner
    for c in (BLACK, WHITE):
        near[c, 0] = 0
        near[c, board.height + 1] = 0
        for y in range(1, board.height + 1):
            near[c, y] = _around(rows[c], y) & rows[EMPTY, y]
        _spread(near[c], rows[EMPTY], board.height)
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
    area(board, scratch)
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
        if board.color[p] != EMPTY:
            scratch.stones[c] += not board.territory
        elif board.tax != NO_TAX and scratch.seki[p]:
            scratch.owner[p] = EMPTY
        else:
            scratch.territory[c] += 1
    return _points(scratch, BLACK) - _points(scratch, WHITE)


@kernel
def final_score(board, scratch):
    """Black's points minus White's with komi and button, on the board as it is.

    A button that nobody took goes to the side to play.
    """
    margin = count(board, scratch) - board.komi
    owner = board.to_play if board.button else board.button_owner
    return margin + BUTTON_POINTS * _sign(owner)


@kernel(inline=True)
def _points(scratch, c):
    return scratch.stones[c] + scratch.territory[c] + scratch.prisoners[c] - scratch.tax[c]


@kernel
def pass_alive(board, scratch, color):
    """Mark in `owner` the points that a colour keeps even if it always passes; returns how many.

    These are the chains that Benson's algorithm finds alive, and the regions they enclose in
    which the opponent cannot make an eye, enemy stones included. All other points become EMPTY.
    """
    _find_rows(board, scratch)
    return _pass_alive_by_rows(board, scratch, color)


@kernel
def _pass_alive_by_rows(board, scratch, color):
    """Like `pass_alive`, after `_find_rows`; exits early where nothing can be alive."""
    if _may_have_eyes(board, scratch, color):
        regions = _find_small_regions(board, scratch, color)
        if _find_alive_chains(board, scratch, color, regions):
            return _mark_alive(board, scratch, color)
    for p in range(n_points(board)):
        scratch.owner[p] = EMPTY
    return 0


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
        far[y] = asked & ~_around(mine, y)
    _spread(far, other, height)
    for y in range(1, height + 1):
        if other[y] & ~far[y]:
            return True
    return False


@kernel
def _find_alive_chains(board, scratch, color, regions):
    """Benson's algorithm: drop chains with fewer than two eyes until all remaining ones have two.

    Fills `alive`; returns whether any chain remains.
    """
    for p in range(n_points(board)):
        scratch.alive[p] = board.color[p] == color
    for r in range(regions + 1):
        scratch.healthy[r] = True
    while _count_eyes(board, scratch, regions):
        if not _drop_chains(board, scratch, color):
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
def _drop_chains(board, scratch, color):
    """Drop chains with fewer than two eyes, and the regions next to them; returns if any was."""
    changed = False
    for p in range(n_points(board)):
        if board.color[p] != color:
            continue
        head = board.head[p]
        if scratch.alive[head] and scratch.eyes[head] < 2:
            scratch.alive[head] = False
            changed = True
        if not scratch.alive[head]:
            _drop_regions(board, scratch, p)
    return changed


@kernel(inline=True)
def _drop_regions(board, scratch, p):
    """Mark the regions next to p as not healthy."""
    for q in neighbours(board, p):
        scratch.healthy[scratch.region[q]] = False


@kernel
def _mark_alive(board, scratch, color):
    """Mark the alive chains and the regions they enclose in `owner`; returns how many points."""
    regions = _find_regions(board, scratch, color)
    for r in range(regions + 1):
        scratch.healthy[r] = True
    for p in range(n_points(board)):
        if board.color[p] == color and not scratch.alive[board.head[p]]:
            _drop_regions(board, scratch, p)
    owned = 0
    for p in range(n_points(board)):
        c, r = board.color[p], scratch.region[p]
        if c == color:
            mine = scratch.alive[board.head[p]]
        else:
            mine = c != WALL and scratch.healthy[r] and scratch.inner[r] <= 1
        scratch.owner[p] = color if mine else EMPTY
        owned += mine
    return owned


@kernel
def _find_regions(board, scratch, color):
    """Number and describe the regions without stones of a colour; returns how many there are."""
    for p in range(n_points(board)):
        scratch.region[p] = 0
    regions = 0
    for i in range(board.n_empty):  # every region has an empty point
        start = np.int64(board.empties[i])
        if scratch.region[start] == 0:
            regions += 1
            _describe_region(board, scratch, color, start, regions)
    return regions


@kernel
def _find_small_regions(board, scratch, color):
    """Like `_find_regions`, but without the regions in `far`."""
    for p in range(n_points(board)):
        scratch.region[p] = 0
    regions = 0
    for y in range(board.height):
        left = scratch.rows[EMPTY, y + 1] & ~scratch.far[y + 1]
        start = np.int64(point_of(board, 0, y))
        while left:
            if left & np.uint32(1) and scratch.region[start] == 0:
                regions += 1
                _describe_region(board, scratch, color, start, regions)
            left >>= np.uint32(1)
            start += 1
    return regions


@kernel
def _describe_region(board, scratch, color, start, number):
    """Flood fill a region from an empty point; count its inner points and find its vital chains.

    A region is vital to a chain if all its empty points are liberties of the chain; where suicide
    is allowed, all its points must touch the chain, since stones in it may be removed.
    """
    region, stack = scratch.region, scratch.stack
    _start_vital(board, scratch.vital[number], start, color)
    scratch.inner[number] = 0
    n, done, any_vital = 1, 0, True
    stack[0] = start
    region[start] = number
    while done < n:
        p = stack[done]
        done += 1
        inner = True
        for q in neighbours(board, p):
            c = board.color[q]
            if c == color:
                inner = False
            elif c != WALL and region[q] == 0:
                region[q] = number
                stack[n] = q
                n += 1
        scratch.inner[number] += inner
        if any_vital and (board.color[p] == EMPTY or board.suicide_allowed):
            any_vital = _keep_vital(board, scratch.vital[number], p)


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
