"""Who owns what: surrounded area, groups in seki, and stones that no play can kill (Benson).

Kernels write into a scratch record of the caller's, one per thread. They judge the board as it
stands: dead stones are taken off first (``remove_chain``), by whoever knows that they are dead.
"""

from __future__ import annotations

import numpy as np

from tengen.game.board import (
    NO_CHAIN,
    NO_TAX,
    TAX_ON_GROUPS,
    n_points,
    neighbours,
    opponent,
)
from tengen.game.color import BLACK, EMPTY, WALL, WHITE
from tengen.game.geometry import MAX_AREA, MAX_POINTS
from tengen.jit import kernel

UNKNOWN = 4  # an owner not found yet
BUTTON_POINTS = 0.5
MAX_VITAL = 4  # a chain vital to a region touches its first empty point, which has four neighbours

_SCRATCH_FIELDS = [
    ("owner", "i1", (MAX_POINTS,)),  # colour that owns the point, EMPTY if neither
    ("seki", "u1", (MAX_POINTS,)),  # 1: the point belongs to a group in seki
    ("stack", "u2", (MAX_POINTS,)),
    ("region", "u2", (MAX_POINTS,)),  # number of the point's region, from 1
    ("healthy", "u1", (MAX_AREA + 1,)),  # by region: no chain at its border has been given up
    ("inner", "i2", (MAX_AREA + 1,)),  # by region: points with no stone of the colour next to them
    ("vital", "u2", (MAX_AREA + 1, MAX_VITAL)),  # by region: chains that touch all of it
    ("alive", "u1", (MAX_POINTS,)),  # by head: not given up
    ("eyes", "i2", (MAX_POINTS,)),  # by head: healthy regions it is vital to
    ("settled", "i1", (MAX_POINTS,)),
    ("groups", "i4", (3,)),  # by colour, as all that follow: what `count` found
    ("stones", "i4", (3,)),
    ("territory", "i4", (3,)),
    ("prisoners", "i4", (3,)),
    ("tax", "i4", (3,)),
]
SCRATCH = np.dtype((np.record, np.dtype(_SCRATCH_FIELDS, align=True)))


def new_life_scratch(count: int) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """[count] working memories, one for each thread."""
    return np.zeros(count, SCRATCH)


@kernel
def area(board, scratch):
    """Find the owner of each point by flood fill; returns Black's points minus White's.

    An empty region belongs to a colour if its whole border is of that colour.
    """
    owner, stack = scratch.owner, scratch.stack
    for p in range(n_points(board)):
        owner[p] = board.color[p]
    for i in range(board.n_empty):
        owner[board.empties[i]] = UNKNOWN
    for i in range(board.n_empty):
        start = board.empties[i]
        if owner[start] != UNKNOWN:
            continue
        n, done, border = 1, 0, 0
        stack[0] = start
        owner[start] = EMPTY
        while done < n:
            for q in neighbours(board, stack[done]):
                c = board.color[q]
                if c == EMPTY:
                    if owner[q] == UNKNOWN:
                        owner[q] = EMPTY
                        stack[n] = q
                        n += 1
                elif c != WALL:
                    border |= c
            done += 1
        if border != BLACK | WHITE:
            for k in range(n):
                owner[stack[k]] = border
    difference = 0
    for p in range(n_points(board)):
        difference += _sign(owner[p])
    return difference


@kernel
def settled_area(board, scratch):
    """As `area`, but what is pass-alive for a colour is its own, the stones it holds dead included.

    This is how KataGo counts area, and what its networks see of it.
    """
    pass_alive(board, scratch, BLACK)
    for p in range(n_points(board)):
        scratch.settled[p] = scratch.owner[p]
    pass_alive(board, scratch, WHITE)
    for p in range(n_points(board)):
        if scratch.owner[p] != EMPTY:
            scratch.settled[p] = WHITE
    area(board, scratch)
    difference = 0
    for p in range(n_points(board)):
        if scratch.settled[p] != EMPTY:
            scratch.owner[p] = scratch.settled[p]
        difference += _sign(scratch.owner[p])
    return difference


@kernel(inline=True)
def _sign(owner):
    return 1 if owner == BLACK else -1 if owner == WHITE else 0


@kernel
def mark_seki(board, scratch, strict, groups):
    """After an area was found: mark the groups in seki and count the others into groups[colour].

    A group is the connected points that a colour owns, stones and what they surround. By the
    letter (`strict`) it is in seki if it has dame or a chain in atari: whoever wants to count it
    must have filled and connected. Players who count by agreement leave dame open; then
    (`strict` false) a group with dame is alive all the same if it surrounds two separate places,
    or one of three points or more: nothing smaller is the eye of a seki.
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
    """Does the group stack[:n] surround two places, or one of three points or more?"""
    stack, region = scratch.stack, scratch.region
    places = 0
    for k in range(n):
        start = stack[k]
        if board.color[start] != EMPTY or region[start] == 2:
            continue
        places += 1
        region[start] = 2
        # A place of up to two points is all found from its first point.
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
    return places >= 2


@kernel
def count(board, scratch):
    """Count both sides on the game's terms into the scratch's tallies; fills `owner` with who
    counts what. Returns Black's points minus White's, without komi and button.
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
    """Black's points minus White's with komi and button; an untaken button is for the side to play.

    Counts the board as it stands.
    """
    margin = count(board, scratch) - board.komi
    owner = board.to_play if board.button else board.button_owner
    return margin + BUTTON_POINTS * _sign(owner)


@kernel(inline=True)
def _points(scratch, c):
    return scratch.stones[c] + scratch.territory[c] + scratch.prisoners[c] - scratch.tax[c]


@kernel
def pass_alive(board, scratch, color):
    """Mark in `owner` what a colour keeps even if it only passes; returns how many points.

    These are the chains that Benson's algorithm finds alive, and the regions they enclose in
    which the opponent cannot make an eye, its stones there included. All else becomes EMPTY.
    """
    regions = _find_regions(board, scratch, color)
    if not _has_two_eyes_somewhere(board, scratch, regions):
        for p in range(n_points(board)):
            scratch.owner[p] = EMPTY
        return 0
    has_stones = False
    for p in range(n_points(board)):
        scratch.alive[p] = board.color[p] == color
        has_stones |= board.color[p] == color
    for r in range(1, regions + 1):
        scratch.healthy[r] = has_stones
    while _give_up_chains(board, scratch, color, regions):
        pass
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


@kernel(inline=True)
def _has_two_eyes_somewhere(board, scratch, regions):
    """Could any chain be alive? Mostly none could, and that is soon seen."""
    for p in range(n_points(board)):
        scratch.eyes[p] = 0
    for r in range(1, regions + 1):
        for k in range(MAX_VITAL):
            head = scratch.vital[r, k]
            scratch.eyes[head] += 1
            if head != NO_CHAIN and scratch.eyes[head] == 2:
                return True
    return False


@kernel
def _find_regions(board, scratch, color):
    """Number the connected regions without a colour, from 1, and describe each; returns how many.

    A chain is vital to a region if each of its empty points is a liberty of the chain; where
    suicide is allowed each point must be next to it, for stones may vanish there.
    """
    region, stack = scratch.region, scratch.stack
    for p in range(n_points(board)):
        region[p] = 0
    regions = 0
    for i in range(board.n_empty):  # every region has an empty point
        start = board.empties[i]
        if region[start] != 0:
            continue
        regions += 1
        _start_vital(board, scratch.vital[regions], start, color)
        scratch.inner[regions] = 0
        n, done, any_vital = 1, 0, True
        stack[0] = start
        region[start] = regions
        while done < n:
            p = stack[done]
            done += 1
            inner = True
            for q in neighbours(board, p):
                c = board.color[q]
                if c == color:
                    inner = False
                elif c != WALL and region[q] == 0:
                    region[q] = regions
                    stack[n] = q
                    n += 1
            scratch.inner[regions] += inner
            if any_vital and (board.color[p] == EMPTY or board.suicide_allowed):
                any_vital = _keep_vital(board, scratch.vital[regions], p)
    return regions


@kernel(inline=True)
def _start_vital(board, vital, p, color):
    """At first the chains next to one point may be vital, each named once."""
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
    """Drop the chains that are not next to this point; returns whether any is left."""
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


@kernel
def _give_up_chains(board, scratch, color, regions):
    """One round of Benson's algorithm: did any chain with fewer than two eyes lose its claim?"""
    for p in range(n_points(board)):
        scratch.eyes[p] = 0
    for r in range(1, regions + 1):
        if scratch.healthy[r]:
            for k in range(MAX_VITAL):
                scratch.eyes[scratch.vital[r, k]] += 1
    changed = False
    for p in range(n_points(board)):
        if board.color[p] != color:
            continue
        head = board.head[p]
        if scratch.alive[head] and scratch.eyes[head] < 2:
            scratch.alive[head] = False
            changed = True
        if not scratch.alive[head]:
            for q in neighbours(board, p):
                if board.color[q] != color and board.color[q] != WALL:
                    scratch.healthy[scratch.region[q]] = False
    return changed
