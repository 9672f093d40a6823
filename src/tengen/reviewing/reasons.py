"""Why one move is better than another, in facts that can be checked on the board.

A reason is read off two searches, one after each move: stones that live after the one and die after
the other, groups that are cut or joined, or where the points lie. A reason must hold in both
searches; a move without one is described by its points alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.search.result import SearchResult

Kind: TypeAlias = Literal["captures", "takes", "saves", "cuts", "connects", "area", "points"]
Chain: TypeAlias = frozenset[Point]

SURE = 0.4  # ownership of stones, from -1 to 1, from which on their fate is told
TRUSTED_SHARE, TRUSTED_VISITS = 0.04, 3  # visits of a position from which on a line is believed
STONE_POINTS = 2.0  # that a stone makes by its fate: its own point, and the one it took
ENOUGH = 0.25  # of the difference, that the stones named must make
NEAR = 2  # points between chains of one fate that are told as one group
AROUND = 2  # points around the one by which an area is named
MOST_AREA = 0.6  # of the difference, that lies there


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a search of the position after a move expects."""

    before: Position
    line: tuple[Point | None, ...]  # the move, and what follows as far as it is believed
    lead: float  # Black's, in points
    ownership: NDArray[np.float32]  # [height, width] from -1, White's, to 1, Black's

    @cached_property
    def positions(self) -> list[Position]:
        """The position before the line, and after each of its moves."""
        positions = [self.before]
        for move in self.line:
            try:
                positions.append(positions[-1].play(move))
            except IllegalMoveError:  # a pass of the line ended the game
                break
        return positions

    @cached_property
    def captured(self) -> NDArray[np.bool_]:
        """[height, width]: the stones of the position before that were taken off in the line."""
        there = self.before.stones > 0
        for position in self.positions[1:]:
            there &= position.stones == self.before.stones
        return (self.before.stones > 0) & ~there

    def ahead(self, color: Color) -> float:
        """A colour's lead."""
        return self.lead if color is Color.BLACK else -self.lead

    def owned(self, chain: Iterable[Point], color: Color) -> float:
        """How surely a colour owns the points of a chain, from -1 to 1."""
        mean = float(np.mean([self.ownership[point.y, point.x] for point in chain]))
        return mean if color is Color.BLACK else -mean


class MoveReason(NamedTuple):
    """What a colour gains by the better of two moves."""

    kind: Kind
    gain: float  # points, by the two searches
    stones: int = 0  # whose fate it is
    at: Point | None = None  # one of them, or the middle of the area
    other: Point | None = None  # of the other group that is cut off or joined


def outlook(before: Position, move: Point | None, result: SearchResult) -> Outlook:
    """The outlook after a move, by a search with ownership of the position after it."""
    assert result.ownership is not None
    sign = 1 if result.position.to_play is Color.BLACK else -1
    line: list[Point | None] = [move]
    if result.moves:
        best = result.moves[0]
        least = max(TRUSTED_VISITS, TRUSTED_SHARE * result.visits)
        for each, visits in zip(best.pv, best.pv_visits, strict=True):
            if visits < least:
                break
            line.append(each)
    ownership = (sign * result.ownership).astype(np.float32)
    return Outlook(before, tuple(line), sign * result.lead, ownership)


def reason(better: Outlook, worse: Outlook, color: Color) -> MoveReason:
    """Why a colour is better off with one of two moves in the same position, its own or not."""
    gain = better.ahead(color) - worse.ahead(color)
    fate = _fate(better, worse, color, gain)
    if fate is not None:
        return fate
    return (
        _cut_or_joined(better, worse, color, gain)
        or _area(better, worse, color, gain)
        or MoveReason("points", gain)
    )


def _chains(position: Position) -> list[tuple[Color, Chain]]:
    """The chains of a position with their colours."""
    found: dict[Chain, Color] = {}
    for y, x in np.argwhere(position.stones > 0).tolist():
        color = position.at((x, y))
        assert color is not None
        found[frozenset(position.chain((x, y)))] = color
    return [(color, chain) for chain, color in found.items()]


# Stones that live or die


def _fate(better: Outlook, worse: Outlook, color: Color, gain: float) -> MoveReason | None:
    """The stones that are saved or taken, where they make enough of the difference."""
    fates: dict[Kind, list[Chain]] = {"captures": [], "takes": [], "saves": []}
    for owner, chain in _chains(better.before):
        if owner is color:
            if _lives(better, chain, owner) and _dies(worse, chain, owner):
                fates["saves"].append(chain)
        elif _lives(worse, chain, owner) and _dies(better, chain, owner):
            taken = _is_captured(better, chain)
            fates["captures" if taken else "takes"].append(chain)
    found = [
        MoveReason(kind, gain, sum(map(len, group)), _middle(_largest(group)))
        for kind, chains in fates.items()
        for group in _groups(chains)
    ]
    sufficient = [each for each in found if STONE_POINTS * each.stones >= ENOUGH * gain]
    return max(sufficient, key=lambda each: each.stones, default=None)


def _is_captured(outlook: Outlook, chain: Chain) -> bool:
    return all(outlook.captured[point.y, point.x] for point in chain)


def _lives(outlook: Outlook, chain: Chain, owner: Color) -> bool:
    return not _is_captured(outlook, chain) and outlook.owned(chain, owner) >= SURE


def _dies(outlook: Outlook, chain: Chain, owner: Color) -> bool:
    return outlook.owned(chain, owner) <= -SURE


def _groups(chains: Sequence[Chain]) -> list[list[Chain]]:
    """Chains that lie together."""
    groups: list[list[Chain]] = []
    for chain in chains:
        near = [group for group in groups if any(_are_near(chain, each) for each in group)]
        groups = [group for group in groups if group not in near]
        groups.append([chain, *(each for group in near for each in group)])
    return groups


def _largest(chains: Sequence[Chain]) -> Chain:
    return max(chains, key=lambda each: (len(each), sorted(each)))


def _are_near(one: Chain, other: Chain) -> bool:
    return any(max(abs(a.x - b.x), abs(a.y - b.y)) <= NEAR for a in one for b in other)


def _middle(points: Iterable[Point]) -> Point:
    """The one of some points that is nearest to their middle."""
    listed = sorted(points)
    x, y = (sum(each[axis] for each in listed) / len(listed) for axis in (0, 1))
    return min(listed, key=lambda each: (each.x - x) ** 2 + (each.y - y) ** 2)


# Groups that are cut or joined


def _cut_or_joined(better: Outlook, worse: Outlook, color: Color, gain: float) -> MoveReason | None:
    """What the colour's first move does between two groups, where the other line undoes it."""
    key = _first_move(better, color)
    if key is None:
        return None
    before, point = key
    for owner in (color.opponent, color):
        chains = [
            each
            for each in _chains_next_to(before, point, owner)
            # Only stones that were there when the moves were chosen.
            if all(better.before.at(stone) is owner for stone in each)
        ]
        if len(chains) < 2:
            continue
        one, other = sorted(chains, key=lambda each: (-len(each), sorted(each)))[:2]
        joined = owner is color
        if _are_joined(better, one, other) is not joined:
            continue
        # The other line has to undo it by a stone on the same point: a line that only ended
        # before that says nothing.
        taken = worse.positions[-1].at(point) is color.opponent
        if taken and _are_joined(worse, one, other) is (not joined):
            kind: Kind = "connects" if joined else "cuts"
            return MoveReason(kind, gain, len(other), _middle(other), _middle(one))
    return None


def _first_move(outlook: Outlook, color: Color) -> tuple[Position, Point] | None:
    """The colour's first move of a line, and the position before it."""
    for position, move in zip(outlook.positions, outlook.line, strict=False):
        if position.to_play is color:
            return None if move is None else (position, move)
    return None


def _chains_next_to(position: Position, point: Point, owner: Color) -> list[Chain]:
    stones = [each for each in neighbours(point, position.size) if position.at(each) is owner]
    return list({frozenset(position.chain(each)) for each in stones})


def _are_joined(outlook: Outlook, one: Chain, other: Chain) -> bool | None:
    """Are two chains one at the end of a line? None if taken, or if one more stone joins them."""
    if any(_is_captured(outlook, chain) for chain in (one, other)):
        return None
    end = outlook.positions[-1]
    groups = [frozenset(end.chain(next(iter(chain)))) for chain in (one, other)]
    if groups[0] == groups[1]:
        return True
    shared = _liberties(end, groups[0]) & _liberties(end, groups[1])
    return None if shared else False


def _liberties(position: Position, chain: Chain) -> set[Point]:
    around = {each for stone in chain for each in neighbours(stone, position.size)}
    return {each for each in around if position.at(each) is None}


# Points


def _area(better: Outlook, worse: Outlook, color: Color, gain: float) -> MoveReason | None:
    """Where most of the difference lies, if it lies in one place."""
    sign = 1 if color is Color.BLACK else -1
    gained = np.clip(sign * (better.ownership - worse.ownership), 0, None)
    padded = np.pad(gained, AROUND)
    window = 2 * AROUND + 1
    sums = np.lib.stride_tricks.sliding_window_view(padded, (window, window)).sum((2, 3))
    y, x = np.unravel_index(int(sums.argmax()), sums.shape)
    if sums[y, x] < MOST_AREA * max(gain, float(gained.sum())):
        return None
    return MoveReason("area", gain, at=Point(int(x), int(y)))
