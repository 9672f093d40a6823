"""A slow reference board that follows the wording of the rules: sets of points, no cached state."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Point: TypeAlias = tuple[int, int]
Points: TypeAlias = frozenset[Point]
Stones: TypeAlias = dict[Point, int]  # black 1, white 2


class Past(NamedTuple):
    """An earlier position, and who moved into it."""

    stones: frozenset[tuple[Point, int]]
    mover: int


class ReferenceGame:
    def __init__(self, width: int, height: int, ko: str, suicide: bool) -> None:
        self.width, self.height = width, height
        self.ko, self.suicide = ko, suicide
        self.stones: Stones = {}
        self.to_play = 1
        self.captured = {1: 0, 2: 0}
        self.past = [Past(frozenset(), 2)]
        self.near = {point: self._around(*point) for point in self.points()}

    def points(self) -> list[Point]:
        return [(x, y) for y in range(self.height) for x in range(self.width)]

    def around(self, point: Point) -> list[Point]:
        return self.near[point]

    def _around(self, x: int, y: int) -> list[Point]:
        near = [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]
        return [(x, y) for x, y in near if 0 <= x < self.width and 0 <= y < self.height]

    def chain(self, stones: Stones, point: Point) -> tuple[set[Point], set[Point]]:
        """The chain on a point, and its liberties."""
        chain, liberties, todo = {point}, set(), [point]
        while todo:
            for near in self.around(todo.pop()):
                if near not in stones:
                    liberties.add(near)
                elif stones[near] == stones[point] and near not in chain:
                    chain.add(near)
                    todo.append(near)
        return chain, liberties

    def captured_chain(self, stones: Stones, point: Point) -> set[Point]:
        """The chain on a point if it has no liberty, otherwise nothing."""
        chain, todo, color = {point}, [point], stones[point]
        while todo:
            for near in self.near[todo.pop()]:
                if near not in stones:
                    return set()
                if stones[near] == color and near not in chain:
                    chain.add(near)
                    todo.append(near)
        return chain

    def after(self, point: Point) -> Stones:
        """The stones after a move, legal or not."""
        me = self.to_play
        stones = dict(self.stones)
        stones[point] = me
        for near in self.around(point):
            if stones.get(near) == 3 - me:
                for taken in self.captured_chain(stones, near):
                    del stones[taken]
        for taken in self.captured_chain(stones, point):
            del stones[taken]
        return stones

    def is_legal(self, point: Point) -> bool:
        if point in self.stones:
            return False
        after = self.after(point)
        if point not in after:
            alone = self.to_play not in (self.stones.get(near) for near in self.around(point))
            if alone or not self.suicide:
                return False
        position = frozenset(after.items())
        # Simple ko: the position before the opponent's last move must not come back.
        banned = self.past[-2:-1] if self.past[-1].mover != self.to_play else []
        if any(position == past.stones and past.mover == self.to_play for past in banned):
            return False
        if self.ko == "positional":
            return all(position != past.stones for past in self.past)
        if self.ko == "situational":
            return all((position, self.to_play) != past for past in self.past)
        return True

    def play(self, point: Point | None) -> None:
        me = self.to_play
        if point is not None:
            after = self.after(point)
            self.captured[3 - me] += sum(
                stone == 3 - me and point not in after for point, stone in self.stones.items()
            )
            own = sum(stone == me for stone in self.stones.values()) + 1
            self.captured[me] += own - sum(stone == me for stone in after.values())
            self.stones = after
        self.past.append(Past(frozenset(self.stones.items()), me))
        self.to_play = 3 - me

    def area(self) -> int:
        """Black's area minus White's."""
        difference = sum(1 if stone == 1 else -1 for stone in self.stones.values())
        left = set(self.points()) - set(self.stones)
        while left:
            region, todo, border = set(), [left.pop()], set()
            while todo:
                point = todo.pop()
                region.add(point)
                for near in self.around(point):
                    if near in self.stones:
                        border.add(self.stones[near])
                    elif near in left:
                        left.remove(near)
                        todo.append(near)
            if len(border) == 1:
                difference += len(region) if border == {1} else -len(region)
        return difference

    def settled_area(self) -> int:
        """As `area`, but pass-alive areas count whole."""
        stones = np.zeros((self.height, self.width), np.int8)
        for (x, y), stone in self.stones.items():
            stones[y, x] = stone
        owners = list(PlainBoard(stones, self.suicide).settled().values())
        return owners.count(1) - owners.count(2)


class PlayedOutGame(ReferenceGame):
    """A game by territory scoring whose dead stones are captured in two clean-up phases.

    It is counted by area: each stone of the main phase and the first clean-up has cost a point.
    """

    def __init__(self, width: int, height: int, ko: str, suicide: bool, tax: str) -> None:
        super().__init__(width, height, ko, suicide)
        self.tax = tax
        self.phase = self.passes = 0
        self.over = self.no_result = False
        self.cost = {1: 0, 2: 0}
        self.start: Stones = {}  # when the second clean-up began
        self._begin_phase()

    def set_up(self, stones: Stones) -> None:
        """Begin with these stones, which have cost their points, and Black to play."""
        self.stones = dict(stones)
        self.past = [Past(frozenset(stones.items()), 2)]
        self.cost = {color: list(stones.values()).count(color) for color in (1, 2)}
        self._begin_phase()

    def _begin_phase(self) -> None:
        self.passes = 0
        self.blocked: set[Point] = set()  # stones that took a ko
        self.taken: set[tuple[object, ...]] = set()  # position, colour and move of each such stone
        self.passed: set[tuple[object, ...]] = set()  # positions and who passed in them
        self.situations = [self.situation()]

    def situation(self) -> tuple[object, ...]:
        return frozenset(self.stones.items()), frozenset(self.blocked), self.to_play

    def ko_stone(self, point: Point) -> Point | None:
        """The stone that a move takes as a ko: the one it takes is the liberty of the one it is."""
        if point in self.stones:
            return None
        after = self.after(point)
        taken = self.stones.keys() - after.keys()
        if len(taken) != 1 or point not in after:
            return None
        return max(taken) if self.chain(after, point) == ({point}, taken) else None

    def block_at(self, point: Point) -> Point | None:
        """The blocked stone that a move would take as a ko, or is itself."""
        if self.stones.get(point) == 3 - self.to_play:
            chain, liberties = self.chain(self.stones, point)
            return point if len(chain) == len(liberties) == 1 and point in self.blocked else None
        taken = self.ko_stone(point)
        return taken if taken in self.blocked else None

    def is_legal(self, point: Point) -> bool:
        if self.phase == 0:
            return super().is_legal(point)
        if self.block_at(point) is not None:
            return True
        if point in self.stones:
            return False
        if point not in self.after(point):
            alone = self.to_play not in (self.stones.get(near) for near in self.around(point))
            if alone or not self.suicide:
                return False
        return (frozenset(self.stones.items()), self.to_play, point) not in self.taken

    def play(self, point: Point | None) -> None:
        if point is None:
            self._pass()
            return
        me, block = self.to_play, self.block_at(point) if self.phase else None
        self.passes = 0
        if block is not None:
            self.blocked.remove(block)
            self.to_play = 3 - me
        else:
            is_ko = self.phase > 0 and self.ko_stone(point) is not None
            if is_ko:
                self.taken.add((frozenset(self.stones.items()), me, point))
            self.cost[me] += self.phase < 2
            super().play(point)
            self.blocked = {p for p in self.blocked if p in self.stones} | (
                {point} if is_ko else set()
            )
        self.situations.append(self.situation())
        if self.phase > 0 or self.ko == "simple":
            self.no_result = self.over = self.situations.count(self.situation()) >= 3

    def _pass(self) -> None:
        now = self.situation()
        lifts_bans = self.phase > 0 or self.ko == "simple"
        ends = self.passes > 0 or (lifts_bans and now in self.passed)
        self.passed.add(now)
        self.passes += 1
        super().play(None)
        if lifts_bans:
            self.situations.clear()
        self.situations.append(self.situation())
        if ends and self.phase == 2:
            self.over = True
        elif ends:
            self.phase += 1
            self.start = dict(self.stones) if self.phase == 2 else {}
            self._begin_phase()

    def count(self) -> tuple[dict[Point, int], dict[int, int]]:
        """The owner of each point, 0 for nobody's, and the number of living groups by colour."""
        stones = np.zeros((self.height, self.width), np.int8)
        for (x, y), stone in self.stones.items():
            stones[y, x] = stone
        board = PlainBoard(stones, self.suicide)
        owner = board.settled()
        start = self.start if self.phase == 2 else self.stones
        counted, groups = dict.fromkeys(owner, 0), {1: 0, 2: 0}
        for color in (1, 2):
            own = {point for point in owner if owner[point] == color}
            for group in board.connected(own):
                lives = not any(owner[q] == 0 for p in group for q in self.around(p)) and not any(
                    len(self.chain(self.stones, p)[1]) == 1
                    for p in group
                    if self.stones.get(p) == color
                )
                groups[color] += lives
                for point in group:
                    stone = self.stones.get(point, 0)
                    if lives or (self.tax == "NONE" and stone != color):
                        counted[point] = color
                    elif start.get(point) == stone:
                        counted[point] = stone
        return counted, groups

    def score(self) -> int:
        """Black's points minus White's."""
        owner, groups = self.count()
        tax = 2 if self.tax == "ALL" else 0
        black, white = (
            list(owner.values()).count(color) - tax * groups[color] - self.cost[color]
            for color in (1, 2)
        )
        return black - white


class PlainBoard:
    """Pass-alive areas by their definition, with sets."""

    def __init__(self, stones: NDArray[np.int8], suicide: bool) -> None:
        height, width = stones.shape
        self.color = {(x, y): int(stones[y, x]) for y in range(height) for x in range(width)}
        self.suicide = suicide

    def near(self, point: Point) -> list[Point]:
        x, y = point
        around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        return [p for p in around if p in self.color]

    def border(self, points: Points) -> set[Point]:
        return {q for p in points for q in self.near(p)} - points

    def connected(self, among: set[Point]) -> list[Points]:
        """The connected components of these points."""
        parts, left = [], set(among)
        while left:
            part, todo = set(), [left.pop()]
            while todo:
                point = todo.pop()
                part.add(point)
                todo += set(self.near(point)) & left
                left -= set(todo)
            parts.append(frozenset(part))
        return parts

    def is_vital(self, region: Points, chain: Points) -> bool:
        must_touch = {p for p in region if self.suicide or self.color[p] == 0}
        return must_touch <= self.border(chain)

    def inner(self, region: Points, color: int) -> int:
        return sum(all(self.color[q] != color for q in self.near(p)) for p in region)

    def benson(self, color: int) -> tuple[list[Points], list[Points], list[Points]]:
        """The alive chains, the regions that only they enclose, and the other regions."""
        own = {p for p, c in self.color.items() if c == color}
        chains, all_regions = self.connected(own), self.connected(set(self.color) - own)
        regions = all_regions if chains else []
        while True:
            alive = [c for c in chains if sum(self.is_vital(r, c) for r in regions) >= 2]
            points = {p for chain in alive for p in chain}
            healthy = [r for r in regions if self.border(r) <= points]
            if (alive, healthy) == (chains, regions):
                return alive, healthy, [r for r in all_regions if r not in healthy]
            chains, regions = alive, healthy

    def pass_alive(self, color: int) -> set[Point]:
        alive, healthy, _ = self.benson(color)
        owned = [*alive, *(r for r in healthy if self.inner(r, color) <= 1)]
        return {p for points in owned for p in points}

    def settled(self) -> dict[Point, int]:
        """The owners of KataGo's area: Black's, then White's over them, then the stones left."""
        owner = dict.fromkeys(self.color, 0)
        for color in (1, 2):
            alive, healthy, others = self.benson(color)
            is_empty = {r: all(self.color[p] == 0 for p in r) for r in healthy + others}
            for points in alive:
                owner |= dict.fromkeys(points, color)
            for region in healthy:
                if self.inner(region, color) <= 1 or is_empty[region]:
                    owner |= dict.fromkeys(region, color)
            for region in others:
                if is_empty[region] and color in self.color.values():
                    owner |= {p: color for p in region if owner[p] == 0}
        return {p: owner[p] or self.color[p] for p in owner}
