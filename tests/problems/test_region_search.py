"""The exhaustive search against a slow one, which keeps no table and has the rules elsewhere."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.region import Region, region_around
from tengen.problems.solver import Fate, Question, RegionSolver
from tests.game.reference import ReferenceGame

pytestmark = pytest.mark.kernel

Stones: TypeAlias = frozenset[tuple[tuple[int, int], int]]
MOST_STATES = 1_000  # of a fight; larger ones are left out


class State(NamedTuple):
    stones: Stones
    attacks: bool
    banned: Stones | None  # a position that must not come back at once


class SlowSearch:
    """All positions that can arise, and which of them are lost, found backwards from captures."""

    def __init__(self, question: Question, position: Position, *, attacker_wins_kos: bool) -> None:
        self.question, self.attacker_wins_kos = question, attacker_wins_kos
        self.game = ReferenceGame(position.width, position.height, "simple", suicide=False)
        self.attacker = int(question.defender.opponent)

    def is_lost(self, start: State) -> bool:
        graph: dict[State, list[State]] = {}
        todo = [start]
        while todo:
            state = todo.pop()
            if state in graph:
                continue
            if len(graph) > MOST_STATES:
                raise MemoryError
            graph[state] = [] if self.is_captured(state) else self.following(state)
            todo += graph[state]
        lost = {state for state in graph if self.is_captured(state)}
        while True:
            more = {
                state
                for state, next_ones in graph.items()
                if state not in lost
                and next_ones
                and (any if state.attacks else all)(each in lost for each in next_ones)
            }
            if not more:
                return start in lost
            lost |= more

    def is_captured(self, state: State) -> bool:
        stones = dict(state.stones)
        return any(stones.get(each) != self.question.defender for each in self.question.stones)

    def following(self, state: State) -> list[State]:
        """The positions after all moves; after a pass, too, if the defender is to move."""
        game, color = self.game, self.attacker if state.attacks else 3 - self.attacker
        game.stones, game.to_play = dict(state.stones), color
        found = [] if state.attacks else [State(state.stones, True, None)]
        wins_kos = not self.attacker_wins_kos if state.attacks else self.attacker_wins_kos
        for point in self.question.region.points:
            if point in game.stones:
                continue
            after = game.after(point)
            stones = frozenset(after.items())
            if point not in after or stones == state.banned:
                continue
            banned = None if wins_kos else self.retakable(state, stones)
            found.append(State(stones, not state.attacks, banned))
        return found

    def retakable(self, before: State, stones: Stones) -> Stones | None:
        """The position before, if the other side could bring it back at once."""
        gone = [point for point, _ in before.stones - stones]
        return before.stones if len(gone) == 1 else None


def random_fight(seed: int) -> tuple[Position, Question] | None:
    """Stones in the corner of a board, with a wall around them that cannot be captured."""
    random = np.random.default_rng(seed)
    wide, high = (int(each) for each in random.integers(2, 5, 2))
    stones = {Color.BLACK: set[Point](), Color.WHITE: set[Point]()}
    for y in range(high):
        for x in range(wide):
            kind = random.choice(3, p=(0.45, 0.35, 0.2))
            if kind:
                stones[Color(int(kind))].add(Point(x, y))
    # White around it, with a gap of Black's now and then, that may be connected to.
    for x, y in [*((x, high) for x in range(wide + 1)), *((wide, y) for y in range(high))]:
        stones[Color.BLACK if random.random() < 0.1 else Color.WHITE].add(Point(x, y))
    board = Position((wide + 2, high + 2), "chinese")
    try:
        position = board.set_up(stones[Color.BLACK], stones[Color.WHITE], to_play=Color.BLACK)
    except ValueError:
        return None
    inside = [each for each in stones[Color.BLACK] if each.x < wide and each.y < high]
    if not inside:
        return None
    target = inside[int(random.integers(len(inside)))]
    region = region_around(position, target, lambda at: at.x >= wide or at.y >= high, 14)
    if region is None:
        return None
    return position, Question(region, frozenset(position.chain(target)), Color.BLACK)


def compare_fights(seeds: range) -> dict[Fate, int]:
    """Compare both searches on random fights; how many had which fate."""
    solver, compared = RegionSolver(table=1 << 14), dict.fromkeys(Fate, 0)
    for position, question in filter(None, map(random_fight, seeds)):
        stones: Stones = frozenset(
            ((int(x), int(y)), int(position.stones[y, x]))
            for y, x in np.argwhere(position.stones > 0)
        )
        for color in Color:
            start = State(stones, color is Color.WHITE, None)
            try:
                if_attacker_wins_kos, if_defender_does = (
                    SlowSearch(question, position, attacker_wins_kos=wins).is_lost(start)
                    for wins in (True, False)
                )
            except MemoryError:
                continue
            wanted = Fate.KO if if_attacker_wins_kos else Fate.SAFE
            if if_defender_does:
                wanted = Fate.CAPTURED
            assert solver.fate(question, position, color) is wanted, position.diagram()
            compared[wanted] += 1
    return compared


def test_fates_are_those_that_a_slow_search_finds() -> None:
    compared = compare_fights(range(90))
    assert min(compared[Fate.CAPTURED], compared[Fate.SAFE]) >= 10
    assert compared[Fate.KO] >= 1


@pytest.mark.long
def test_fates_of_many_fights_are_those_that_a_slow_search_finds() -> None:
    assert min(compare_fights(range(2_000)).values()) >= 10


def test_moves_are_those_of_the_rules() -> None:
    """Captures and suicide in regions, and kos, as `Position` has them."""
    from tengen.problems.kernels.region_search import played

    random = np.random.default_rng(5)
    moves = 0
    for seed in range(60):
        made = random_fight(seed)
        if made is None:
            continue
        position, question = made
        region = question.region
        for _ in range(8):
            empty = [each for each in region.points if position.at(each) is None]
            if not empty or region.why_open(position):
                break
            move = empty[int(random.integers(len(empty)))]
            color = Color(int(random.integers(1, 3)))
            record = region.record(position, question.stones, Color.BLACK, color)
            black, white = record["defenders"], record["attackers"]
            own, other = (black, white) if color is Color.BLACK else (white, black)
            home, wall = record["home"], record["wall"]
            anchors = (home, wall) if color is Color.BLACK else (wall, home)
            free = position.set_up(to_play=color)
            own, other, ko, legal = played(record, own, other, *anchors, region.mask([move]))
            assert legal == free.is_legal(move)
            moves += 1
            if not legal:
                continue
            position = free.play(move)
            both = {color: own, color.opponent: other}
            for each in Color:
                there = [at for at in region.points if position.at(at) is each]
                assert both[each] == region.mask(there)
            banned = position.ko
            assert ko == (region.mask([banned]) if banned in region.points and banned else 0)
    assert moves > 100


def test_the_bits_of_a_region_have_gaps_between_rows() -> None:
    region = Region(Position(9).size, frozenset(Point(x, y) for x in range(3, 9) for y in (0, 1)))
    bits = {region.bit(point): point for point in region.points}
    assert len(bits) == 12
    across = bits.keys() & {bit + 1 for bit in bits}
    for bit in across:
        one, other = bits[bit - 1], bits[bit]
        assert abs(one.x - other.x) + abs(one.y - other.y) == 1
