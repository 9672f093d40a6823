"""Can a chain be captured? Exhaustive search of a small enclosed region, exact but for time.

One side, the attacker, tries to capture the target, a chain of the other one, the defender. Play is
confined to a region of at most 63 cells, a bit each, whose border consists of stones that have
liberties elsewhere and so cannot be captured. This module shares no code with `tengen.game` or any
network, so each can be checked against it.

The defender may pass, the attacker may not: an attacker who passes has given up the target. Suicide
is illegal. A ko may not be retaken at once, except by the side that wins all kos in this search. A
repetition counts as safe.

The search is depth first, with a table of results. A SAFE that relies on a position still on the
search path is assumed only, and dropped if that position proves LOST. LOST never depends on the
path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.jit import kernel
from tengen.kernel_records import record_type

CELLS = 63  # bits of a region; bit 63 marks the side to move
MOST_DEPTH = 400  # positions on the path
MOST_MOVES = CELLS + 1  # of one position, with the pass

_FIGHT_FIELDS = [
    ("area", "u8"),  # the points of the region
    ("target", "u8"),  # the stones in question
    ("wall", "u8"),  # points next to the attacker's stones around the region
    ("home", "u8"),  # points next to the defender's stones around it; they make a target safe
    ("attackers", "u8"),
    ("defenders", "u8"),
    ("ko", "u8"),  # the point that may not be retaken now, or 0
    ("stride", "i8"),  # bits from a point to the one below
    ("attacks", "i8"),  # 1: the attacker is to move
    ("winner", "i8"),  # of all kos: ATTACKER or DEFENDER
]
FIGHT = record_type(f"{__name__}.FIGHT", _FIGHT_FIELDS)
DEFENDER, ATTACKER = 0, 1

# States of a slot of the table: without a position; solved, twice; safe under an assumption; being
# searched; entered without a result, or its result was dropped.
EMPTY, LOST, SAFE, ASSUMED_SAFE, ON_PATH, UNSOLVED = 0, 1, 2, 3, 4, 5
# Besides LOST and SAFE, what the functions below return.
GIVEN_UP = -1  # the search has no room left
UNDECIDED = -2  # its moves have to be searched

NOTHING = np.uint64(0)
ONE = np.uint64(1)
_NEVER = 1 << 30  # the depth that is stored for a result without assumptions


class RegionScratch(NamedTuple):
    """The memory of one search: a table of positions, and the positions on the path."""

    attackers: NDArray[np.uint64]  # [positions]
    defenders: NDArray[np.uint64]
    ko: NDArray[np.uint64]  # with the side to move in bit 63, see `_ko_and_side`
    state: NDArray[np.int8]  # EMPTY, LOST ...
    rests_on: NDArray[np.int32]  # least depth that is assumed safe for a result; ON_PATH: its own
    used: NDArray[np.int64]  # [2] entries of the table, positions searched
    assumed: NDArray[np.int32]  # [positions] places of ASSUMED_SAFE positions, in order
    place: NDArray[np.int32]  # [depth] of the position in the table
    attacks: NDArray[np.int8]  # [depth]
    first_assumed: NDArray[np.int32]  # [depth] the length of that list when its search began
    lowest: NDArray[np.int32]  # [depth] the least depth that its children's results rest on
    listed: NDArray[np.int32]  # [depth] the number of moves to try
    next: NDArray[np.int32]  # [depth] the index of the next one
    child_attackers: NDArray[np.uint64]  # [depth, moves]
    child_defenders: NDArray[np.uint64]
    child_ko: NDArray[np.uint64]
    child_point: NDArray[np.int32]  # [depth, moves] bit, or CELLS for a pass
    worth: NDArray[np.int64]  # [2, cells + 1] by side: how often a move decided


def new_region_scratch(positions: int = 1 << 20) -> RegionScratch:
    """Allocate the memory of searches of at most so many positions, a power of two."""
    deep, moves = MOST_DEPTH, MOST_MOVES
    return RegionScratch(
        attackers=np.zeros(positions, np.uint64),
        defenders=np.zeros(positions, np.uint64),
        ko=np.zeros(positions, np.uint64),
        state=np.zeros(positions, np.int8),
        rests_on=np.zeros(positions, np.int32),
        used=np.zeros(2, np.int64),
        assumed=np.zeros(positions, np.int32),
        place=np.zeros(deep, np.int32),
        attacks=np.zeros(deep, np.int8),
        first_assumed=np.zeros(deep, np.int32),
        lowest=np.zeros(deep, np.int32),
        listed=np.zeros(deep, np.int32),
        next=np.zeros(deep, np.int32),
        child_attackers=np.zeros((deep, moves), np.uint64),
        child_defenders=np.zeros((deep, moves), np.uint64),
        child_ko=np.zeros((deep, moves), np.uint64),
        child_point=np.zeros((deep, moves), np.int32),
        worth=np.zeros((2, CELLS + 1), np.int64),
    )


@kernel
def clear_table(scratch):
    """Forget all positions."""
    for k in range(len(scratch.state)):
        scratch.state[k] = EMPTY
    scratch.worth[:] = 0
    scratch.used[:] = 0


@kernel(inline=True)
def grown(points, stride):
    """The neighbours of points, and bits outside the region."""
    s = np.uint64(stride)
    return (points << ONE) | (points >> ONE) | (points << s) | (points >> s)


@kernel(inline=True)
def lowest_bit(points):
    return points & (~points + ONE)


@kernel(inline=True)
def connected(start, through, stride):
    """The points of `through` that are connected to its subset `start`."""
    found = start
    while True:
        more = (found | grown(found, stride)) & through
        if more == found:
            return found
        found = more


@kernel(inline=True)
def has_liberty(fight, chain, empty, anchors):
    return (grown(chain, fight.stride) & empty) | (chain & anchors) != NOTHING


@kernel
def played(fight, own, other, own_anchors, other_anchors, move):
    """(own stones, other stones, ko, legal) after a move on an empty point.

    Chains on anchors are connected to stones outside, and cannot be captured.
    """
    own |= move
    empty = fight.area & ~(own | other)
    captured = NOTHING
    near = grown(move, fight.stride) & other
    while near:
        chain = connected(lowest_bit(near), other, fight.stride)
        near &= ~chain
        if not has_liberty(fight, chain, empty, other_anchors):
            captured |= chain
    other &= ~captured
    empty |= captured
    chain = connected(move, own, fight.stride)
    if not has_liberty(fight, chain, empty, own_anchors):
        return own, other, NOTHING, False
    ko = NOTHING
    alone = chain == move and captured != NOTHING and captured & (captured - ONE) == NOTHING
    only_liberty = grown(chain, fight.stride) & empty == captured
    if alone and only_liberty and chain & own_anchors == NOTHING:
        ko = captured
    return own, other, ko, True


@kernel
def lives(fight, attackers, defenders):
    """Is the target safe whatever the attacker plays, even if the defender only passes?

    It is connected to safe stones, or Benson's algorithm finds it alive.
    """
    stride = fight.stride
    goal = connected(fight.target, defenders, stride)
    if goal & fight.home:
        return True
    empty = fight.area & ~(attackers | defenders)
    rest = fight.area & ~defenders
    # Regions that only the defender's stones and edges surround, and that may hold eyes.
    enclosed, left = NOTHING, rest
    while left:
        region = connected(lowest_bit(left), rest, stride)
        left &= ~region
        if region & fight.wall == NOTHING:
            enclosed |= region
    alive = defenders
    while True:
        before = alive
        left = alive
        while left:
            chain = connected(lowest_bit(left), defenders, stride)
            left &= ~chain
            if chain & fight.home:
                continue
            eyes, regions = 0, enclosed
            near = grown(chain, stride) & enclosed
            while near and eyes < 2:
                region = connected(lowest_bit(near), regions, stride)
                near &= ~region
                if region & empty & ~grown(chain, stride) == NOTHING:
                    around = grown(region, stride) & defenders
                    if around & ~alive == NOTHING:
                        eyes += 1
            if eyes < 2:
                alive &= ~chain
        if goal & alive == NOTHING:
            return False
        if alive == before:
            return True


@kernel(inline=True)
def _can_be_taken(fight, attackers, defenders, ko):
    """Can the attacker, to move, capture the target at once?"""
    goal = connected(fight.target, defenders, fight.stride)
    if goal & fight.home:
        return False
    empty = fight.area & ~(attackers | defenders)
    liberties = grown(goal, fight.stride) & empty
    return liberties & (liberties - ONE) == NOTHING and liberties & ko == NOTHING


@kernel(inline=True)
def _verdict_without_search(fight, attackers, defenders, ko, attacks):
    """LOST or SAFE where that follows from the board; else UNDECIDED."""
    if defenders & fight.target != fight.target:
        return LOST
    if attacks:
        if _can_be_taken(fight, attackers, defenders, ko):
            return LOST
        if lives(fight, attackers, defenders):
            return SAFE
    return UNDECIDED


@kernel(inline=True)
def _mixed(attackers, defenders, ko):
    h = attackers * np.uint64(0x9E3779B97F4A7C15)
    h ^= (h >> np.uint64(29)) ^ (defenders * np.uint64(0xBF58476D1CE4E5B9))
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    h ^= (ko * np.uint64(0xD6E8FEB86659FD93)) ^ (h >> np.uint64(31))
    return h * np.uint64(0x9E3779B97F4A7C15)


@kernel
def _place_of(scratch, attackers, defenders, ko):
    """The place of a position in the table, where it is entered if it is new; -1 if that is full.

    `ko` is that of `_ko_and_side`.
    """
    mask = np.uint64(len(scratch.state) - 1)
    at = _mixed(attackers, defenders, ko) >> np.uint64(20) & mask
    while scratch.state[at] != EMPTY:
        if (
            scratch.attackers[at] == attackers
            and scratch.defenders[at] == defenders
            and scratch.ko[at] == ko
        ):
            return np.int64(at)
        at = (at + ONE) & mask
    if scratch.used[0] * 4 >= len(scratch.state) * 3:
        return np.int64(-1)
    scratch.used[0] += 1
    scratch.attackers[at] = attackers
    scratch.defenders[at] = defenders
    scratch.ko[at] = ko
    scratch.state[at] = UNSOLVED
    return np.int64(at)


@kernel(inline=True)
def _ko_and_side(ko, attacks):
    """The ko point with the side to move in bit 63."""
    return ko | (np.uint64(attacks) << np.uint64(CELLS))


@kernel
def _list_moves(fight, scratch, depth, attackers, defenders, ko, attacks):
    """List the moves of a position that must be searched, the most promising first.

    Returns LOST or SAFE if one of them, or having none, decides; else UNDECIDED.
    """
    good, bad = (LOST, SAFE) if attacks else (SAFE, LOST)
    may_retake_ko = fight.winner == attacks
    empty = fight.area & ~(attackers | defenders)
    n = 0
    scratch.lowest[depth] = _NEVER
    for k in range(CELLS + 1):
        if k < CELLS:
            move = ONE << np.uint64(k)
            if move & empty == NOTHING or (move == ko and not may_retake_ko):
                continue
            if attacks:
                a, d, banned, legal = played(
                    fight, attackers, defenders, fight.wall, fight.home, move
                )
            else:
                d, a, banned, legal = played(
                    fight, defenders, attackers, fight.home, fight.wall, move
                )
            if not legal:
                continue
        elif attacks:
            continue
        else:
            a, d, banned = attackers, defenders, NOTHING
        if fight.winner == 1 - attacks:
            banned = NOTHING  # the other side may retake
        verdict = _verdict_without_search(fight, a, d, banned, 1 - attacks)
        if verdict == UNDECIDED:
            at = _place_of(scratch, a, d, _ko_and_side(banned, 1 - attacks))
            if at < 0:
                return GIVEN_UP
            state = scratch.state[at]
            if state == LOST or state == SAFE:
                verdict = np.int64(state)
        if verdict == good:
            scratch.worth[attacks, k] += 1
            return good
        if verdict == bad:
            continue
        # Insertion by worth.
        j = n
        worth = scratch.worth[attacks, k]
        while j > 0 and scratch.worth[attacks, scratch.child_point[depth, j - 1]] < worth:
            scratch.child_point[depth, j] = scratch.child_point[depth, j - 1]
            scratch.child_attackers[depth, j] = scratch.child_attackers[depth, j - 1]
            scratch.child_defenders[depth, j] = scratch.child_defenders[depth, j - 1]
            scratch.child_ko[depth, j] = scratch.child_ko[depth, j - 1]
            j -= 1
        scratch.child_point[depth, j] = k
        scratch.child_attackers[depth, j] = a
        scratch.child_defenders[depth, j] = d
        scratch.child_ko[depth, j] = banned
        n += 1
    scratch.listed[depth] = n
    scratch.next[depth] = 0
    return bad if n == 0 else UNDECIDED


@kernel
def _drop_since(scratch, first, n_assumed):
    """Drop the results that were assumed since then."""
    for k in range(first, n_assumed):
        scratch.state[scratch.assumed[k]] = UNSOLVED
    return first


@kernel
def _confirm_since(scratch, first, n_assumed, depth):
    """Make the results assumed since then certain, except those that rest on lower depths."""
    kept = first
    for k in range(first, n_assumed):
        at = scratch.assumed[k]
        if scratch.rests_on[at] >= depth:
            scratch.state[at] = SAFE
        else:
            scratch.assumed[kept] = at
            kept += 1
    return kept


@kernel
def _lower_since(scratch, first, n_assumed, depth):
    """Note that the results assumed since then rest on this depth, too."""
    for k in range(first, n_assumed):
        at = scratch.assumed[k]
        if scratch.rests_on[at] > depth:
            scratch.rests_on[at] = depth


@kernel
def search_region(fight, scratch, most_positions):
    """LOST or SAFE for the target; GIVEN_UP where memory or positions do not suffice.

    The table is kept: it holds for all positions of this region with the same winner of kos.
    """
    verdict = _verdict_without_search(
        fight, fight.attackers, fight.defenders, _banned(fight), np.int64(fight.attacks)
    )
    if verdict != UNDECIDED:
        return verdict
    at = _place_of(
        scratch, fight.attackers, fight.defenders, _ko_and_side(_banned(fight), fight.attacks)
    )
    if at < 0:
        return GIVEN_UP
    if scratch.state[at] == LOST or scratch.state[at] == SAFE:
        return np.int64(scratch.state[at])
    limit = scratch.used[1] + most_positions
    n_assumed = 0
    depth = 0
    scratch.place[0] = at
    scratch.attacks[0] = fight.attacks
    entering, result, rests = True, UNDECIDED, _NEVER
    while True:
        if entering:
            at = scratch.place[depth]
            attacks = np.int64(scratch.attacks[depth])
            scratch.used[1] += 1
            scratch.state[at] = ON_PATH
            scratch.rests_on[at] = depth
            scratch.first_assumed[depth] = n_assumed
            ko = scratch.ko[at] & ~(ONE << np.uint64(CELLS))
            result = _list_moves(
                fight,
                scratch,
                depth,
                scratch.attackers[at],
                scratch.defenders[at],
                ko,
                attacks,
            )
            if result == GIVEN_UP or scratch.used[1] > limit:
                _give_up(scratch, depth, n_assumed)
                return GIVEN_UP
            rests = _NEVER
            entering = False
            if result == UNDECIDED:
                result = _look_deeper(scratch, depth)
                if result == UNDECIDED:
                    depth += 1
                    if depth == MOST_DEPTH:
                        _give_up(scratch, depth - 1, n_assumed)
                        return GIVEN_UP
                    entering = True
                    continue
                rests = scratch.lowest[depth] if result == SAFE else _NEVER
        # The position at `depth` has a result: note it, and go back to the one before.
        at = scratch.place[depth]
        if result == LOST:
            n_assumed = _drop_since(scratch, scratch.first_assumed[depth], n_assumed)
            scratch.state[at] = LOST
        elif rests >= depth:
            n_assumed = _confirm_since(scratch, scratch.first_assumed[depth], n_assumed, depth)
            scratch.state[at] = SAFE
            rests = _NEVER
        else:
            _lower_since(scratch, scratch.first_assumed[depth], n_assumed, rests)
            scratch.state[at] = ASSUMED_SAFE
            scratch.rests_on[at] = rests
            scratch.assumed[n_assumed] = at
            n_assumed += 1
        if depth == 0:
            return result
        depth -= 1
        result = _after_child(scratch, depth, result, rests)
        if result == UNDECIDED:
            result = _look_deeper(scratch, depth)
            if result == UNDECIDED:
                depth += 1
                entering = True
                continue
        rests = scratch.lowest[depth] if result == SAFE else _NEVER


@kernel(inline=True)
def _banned(fight):
    return NOTHING if fight.winner == fight.attacks else fight.ko


@kernel
def _after_child(scratch, depth, result, rests):
    """What a child's result means for the position at this depth: LOST, SAFE or UNDECIDED."""
    attacks = np.int64(scratch.attacks[depth])
    decides = LOST if attacks else SAFE
    if result == decides:
        point = scratch.child_point[depth, scratch.next[depth] - 1]
        scratch.worth[attacks, point] += 1
        scratch.lowest[depth] = rests
        return result
    if result == SAFE and rests < scratch.lowest[depth]:
        scratch.lowest[depth] = rests
    return UNDECIDED


@kernel
def _look_deeper(scratch, depth):
    """Prepare the next child that must be searched: UNDECIDED if there is one, else the result.

    Children may have been solved since they were listed.
    """
    attacks = np.int64(scratch.attacks[depth])
    decides = LOST if attacks else SAFE
    while scratch.next[depth] < scratch.listed[depth]:
        k = scratch.next[depth]
        scratch.next[depth] += 1
        at = _place_of(
            scratch,
            scratch.child_attackers[depth, k],
            scratch.child_defenders[depth, k],
            _ko_and_side(scratch.child_ko[depth, k], 1 - attacks),
        )
        state = np.int64(scratch.state[at])
        if state == UNSOLVED:
            scratch.place[depth + 1] = at
            scratch.attacks[depth + 1] = 1 - attacks
            return UNDECIDED
        rests = _NEVER
        if state == ON_PATH or state == ASSUMED_SAFE:
            rests = scratch.rests_on[at]
            state = SAFE
        if state == decides:
            scratch.lowest[depth] = rests
            return decides
        if state == SAFE and rests < scratch.lowest[depth]:
            scratch.lowest[depth] = rests
    return SAFE if attacks else LOST


@kernel
def _give_up(scratch, depth, n_assumed):
    """Drop what is on the path or assumed, so that the table can be used by the next search."""
    _drop_since(scratch, 0, n_assumed)
    for k in range(depth + 1):
        if scratch.state[scratch.place[k]] == ON_PATH:
            scratch.state[scratch.place[k]] = UNSOLVED
