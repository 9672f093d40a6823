"""A slow reference board that follows the wording of the rules: sets of points, no cached state."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Point: TypeAlias = tuple[int, int]
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

    def points(self) -> list[Point]:
        return [(x, y) for y in range(self.height) for x in range(self.width)]

    def around(self, point: Point) -> list[Point]:
        x, y = point
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

    def after(self, point: Point) -> Stones:
        """The stones after a move, legal or not."""
        me = self.to_play
        stones = dict(self.stones)
        stones[point] = me
        for near in self.around(point):
            if stones.get(near) == 3 - me:
                chain, liberties = self.chain(stones, near)
                if not liberties:
                    for taken in chain:
                        del stones[taken]
        chain, liberties = self.chain(stones, point)
        if not liberties:
            for taken in chain:
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
