"""Ladders: diagrams in all symmetries, and a slow reference reader of the same definition."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.game.color import BLACK, WHITE
from tengen.game.geometry import (
    Point,
    Size,
    Symmetry,
    index_point,
    point_index,
    symmetry_points,
)
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import Boards, new_boards
from tengen.game.kernels.ladder import mark_ladders, new_ladder_scratch
from tengen.game.kernels.moves import new_history, start_game
from tengen.game.kernels.point_sets import MAX_WORDS
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tests.game.pictures import pictures
from tests.game.playouts import play_out

pytestmark = pytest.mark.kernel

WITHOUT_COMPILER = "NUMBA_DISABLE_JIT" in os.environ


def turned(picture: str, symmetry: Symmetry) -> str:
    signs = [line.split() for line in picture.splitlines()]
    flat = [sign for row in signs for sign in row]
    size = Size(len(signs[0]), len(signs))
    indices = symmetry_points(symmetry, size).reshape(symmetry.size(size)[::-1])
    return "\n".join(" ".join(flat[index] for index in row) for row in indices)


class Ladders(NamedTuple):
    """The caught stones and catching moves of a board."""

    stones: set[Point]
    moves: dict[Point, int]  # the colours that they catch, as bits


def read_ladders(boards: Boards) -> Ladders:
    """The result of `mark_ladders`."""
    width, area = int(boards[0]["width"]), int(boards[0]["width"] * boards[0]["height"])
    caught, catching = np.zeros(MAX_WORDS, np.uint64), np.zeros((3, MAX_WORDS), np.uint64)
    mark_ladders(boards[0], new_ladder_scratch(), caught, catching)

    def points(words: NDArray[np.uint64]) -> set[Point]:
        return {
            Point(k % width, k // width) for k in range(area) if int(words[k // 64]) >> k % 64 & 1
        }

    black, white = points(catching[BLACK]), points(catching[WHITE])
    moves = {p: BLACK * (p in black) | WHITE * (p in white) for p in black | white}
    return Ladders(points(caught), moves)


def ladder_picture(position: Position) -> str:
    """The stones caught in ladders (!) and the moves that catch them (*)."""
    ladders = read_ladders(position.arrays(0)[0])
    signs = [["."] * position.width for _ in range(position.height)]
    for x, y in ladders.stones:
        signs[y][x] = "!"
    for x, y in ladders.moves:
        signs[y][x] = "*"
    return "\n".join(" ".join(row) for row in signs)


# A board, and on it the stones that are caught (!) and the moves that catch them (*)

LADDERS = {
    "to the far edge": """
        . . . . . . .   . . . . . . .
        . . X . . . .   . . . . . . .
        . X O X . . .   . . ! . . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "not with a friend on the path": """
        . . . . . . .   . . . . . . .
        . . X . . . .   . . . . . . .
        . X O X . . .   . . . . . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . O .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "with a foe on the path": """
        . . . . . . .   . . . . . . .
        . . X . . . .   . . . . . . .
        . X O X . . .   . . ! . . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . X .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "with a friend far from the path": """
        . . . . . . .   . . . . . . .
        . . X . . . O   . . . . . . .
        . X O X . . .   . . ! . . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "not if the defender takes an attacker": """
        . . . . . . .   . . . . . . .
        . . X O . . .   . . . . . . .
        . X O X O . .   . . . . . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "by the one move that leaves no way out": """
        . . . . . . .   . . . . . . .
        . . X . . . .   . . . . . . .
        . X O . . . .   . . ! * . . .
        . X . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "not where only a net could catch": """
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . X . . .   . . . . . . .
        . . X O . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
        . . . . . . .   . . . . . . .
    """,
    "not with three liberties": """
        . . . . .   . . . . .
        . X O . .   . . . . .
        . . . . .   . . . . .
        . . . . .   . . . . .
    """,
    "of two steps, against the edge": """
        . . . . .   . . . . .
        . X O . .   . . ! * .
        . . X . .   . . . . .
        . . . . .   . . . . .
        . . . . .   . . . . .
    """,
    "on the first line by either move": """
        . . O . .   . * ! * .
        . . X . .   . . . . .
        . . . . .   . . . . .
        . . . . .   . . . . .
    """,
    "of both colours, by the same moves": """
        . . X   . * !
        X O .   . ! *
        . X .   . . .
    """,
    "between two kos": """
        O X . X X . X O   . ! * ! ! * ! .
        O O X X X X O O   . . ! ! ! ! . .
        . O O O O O O .   . . . . . . . .
        . . . . . . . .   . . . . . . . .
    """,
}


@pytest.mark.parametrize("boards", LADDERS.values(), ids=LADDERS)
def test_ladders_are_read_the_same_from_every_side(boards: str) -> None:
    board, ladders = pictures(boards)
    for symmetry in (Symmetry.IDENTITY,) if WITHOUT_COMPILER else Symmetry:
        position = Position.from_diagram(turned(board, symmetry))
        assert ladder_picture(position) == turned(ladders, symmetry)
        swapped = turned(board, symmetry).translate(str.maketrans("XO", "OX"))
        assert ladder_picture(Position.from_diagram(swapped)) == turned(ladders, symmetry)


@pytest.mark.parametrize("boards", LADDERS.values(), ids=LADDERS)
def test_a_position_tells_which_chains_are_caught(boards: str) -> None:
    board, ladders = pictures(boards)
    position = Position.from_diagram(board)
    for y, row in enumerate(ladders.splitlines()):
        for x, sign in enumerate(row.split()):
            assert position.is_caught_in_ladder((x, y)) == (sign == "!")


def test_a_move_may_catch_chains_of_both_colours() -> None:
    position = Position.from_diagram(pictures(LADDERS["of both colours, by the same moves"])[0])
    moves = read_ladders(position.arrays(0)[0]).moves
    assert moves == {Point(1, 0): BLACK | WHITE, Point(2, 1): BLACK | WHITE}


def test_a_ladder_that_needs_a_ko_does_not_catch() -> None:
    # Black at D2 takes at C1, White at D3 takes the stone at C3, and that is a ko.
    position = Position.from_diagram("""
        O O X .
        . . O X
        . O . O
    """)
    assert position.liberties("D2") == 1
    assert not position.is_caught_in_ladder("D2")


def test_a_ko_that_was_just_taken_is_no_catching_move() -> None:
    before, ladders = pictures("""
        O . O X X . X O   . ! . ! ! * ! .
        O O X X X X O O   . . ! ! ! ! . .
        . O O O O O O .   . . . . . . . .
        . . . . . . . .   . . . . . . . .
    """)
    position = Position.from_diagram(before).play("B4")
    assert position.ko == (2, 0)
    assert ladder_picture(position) == ladders


@pytest.mark.parametrize("size", [9, 13, 19])
def test_a_ladder_runs_across_the_whole_board_or_into_a_breaker(size: int) -> None:
    start = Position(size).set_up(black=[(2, 1), (1, 2), (1, 3), (3, 2)], white=[(2, 2)])
    far = size - 4
    assert start.is_caught_in_ladder((2, 2))
    assert not start.set_up(white=[(far, far)]).is_caught_in_ladder((2, 2))
    assert start.set_up(black=[(far, far)]).is_caught_in_ladder((2, 2))
    assert start.set_up(white=[(far, 1)]).is_caught_in_ladder((2, 2))


@pytest.mark.skipif(WITHOUT_COMPILER, reason="nothing is compiled")
def test_a_reader_loaded_from_the_cache_reads_as_well() -> None:
    board = pictures(LADDERS["to the far edge"])[0]
    code = (
        "from tengen.game.position import Position\n"
        f"print(Position.from_diagram({board!r}).is_caught_in_ladder('C5'))"
    )
    assert Position.from_diagram(board).is_caught_in_ladder("C5")  # compiled by now, and kept
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (0, "True\n"), process.stderr


# The definition, read slowly

Stones: TypeAlias = dict[Point, int]


class Played(NamedTuple):
    stones: Stones
    ko: Point | None


class SlowReader:
    """Reads one chain. The defender extends or takes attackers, the attacker fills a liberty."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.seen: Counter[str] = Counter()

    def near(self, point: Point) -> list[Point]:
        x, y = point
        around = [Point(x, y - 1), Point(x - 1, y), Point(x + 1, y), Point(x, y + 1)]
        return [p for p in around if 0 <= p.x < self.size.width and 0 <= p.y < self.size.height]

    def chain(self, stones: Stones, point: Point) -> tuple[set[Point], set[Point]]:
        """The stones of a chain, and its liberties."""
        chain, liberties, todo = {point}, set(), [point]
        while todo:
            for p in self.near(todo.pop()):
                if p not in stones:
                    liberties.add(p)
                elif stones[p] == stones[point] and p not in chain:
                    chain.add(p)
                    todo.append(p)
        return chain, liberties

    def liberties(self, stones: Stones, point: Point) -> set[Point]:
        return self.chain(stones, point)[1]

    def play(self, before: Played, point: Point, color: int) -> Played | None:
        """The stones after a move, None if it retakes a ko or is suicide."""
        stones = {**before.stones, point: color}
        taken: set[Point] = set()
        for p in self.near(point):
            if stones.get(p) == 3 - color and not self.liberties(stones, p):
                taken |= self.chain(stones, p)[0]
        for p in taken:
            del stones[p]
        chain, liberties = self.chain(stones, point)
        if point == before.ko or not liberties:
            return None
        is_ko = len(taken) == len(chain) == len(liberties) == 1
        return Played(stones, taken.pop() if is_ko else None)

    def catches(self, board: Played, target: Point) -> tuple[bool, set[Point]]:
        """Whether the chain is caught, and if it has two liberties, by which moves."""
        liberties = self.liberties(board.stones, target)
        if len(liberties) == 1:
            return self.is_caught(board._replace(ko=None), target, 0), set()
        working = set()
        for move in liberties if len(liberties) == 2 else ():
            after = self.play(board, move, 3 - board.stones[target])
            if after and self.is_caught(after._replace(ko=None), target, 0):
                working.add(move)
        return bool(working), working

    def is_caught(self, board: Played, target: Point, depth: int) -> bool:
        """Whether it is caught, with the defender to move at even depths."""
        stones, defender = board.stones, board.stones[target]
        chain, liberties = self.chain(stones, target)
        defending = depth % 2 == 0
        moves = set(liberties)
        if defending:
            if len(liberties) >= 2 or board.ko:
                self.seen["ko"] += bool(board.ko)
                return False
            for p in {
                p for stone in chain for p in self.near(stone) if stones.get(p) == 3 - defender
            }:
                if len(last := self.liberties(stones, p)) == 1:
                    moves |= last
        elif len(liberties) != 2:
            return len(liberties) < 2
        elif all(self.is_ko_eye(stones, p, defender) for p in liberties) and not any(
            stones.get(p) == 3 - defender and len(self.liberties(stones, p)) == 1
            for stone in chain
            for p in self.near(stone)
        ):
            self.seen["double ko"] += 1
            return True
        for move in moves:
            after = self.play(board, move, defender if defending else 3 - defender)
            if after and self.is_caught(after, target, depth + 1) != defending:
                return not defending
        return defending

    def is_ko_eye(self, stones: Stones, point: Point, defender: int) -> bool:
        """Whether the attacker may take a ko there, and the defender gains nothing."""
        if any(stones.get(p) != defender for p in self.near(point)):
            return False
        in_atari = [p for p in self.near(point) if len(self.liberties(stones, p)) == 1]
        return (
            len(in_atari) == 1
            and len(self.chain(stones, in_atari[0])[0]) == 1
            and len(self.liberties({**stones, point: defender}, point)) <= 2
        )


def random_boards(seed: int, count: int) -> Iterator[Boards]:
    """Boards in the middle of random games, kos included."""
    choice = np.random.default_rng(seed)
    boards, history = new_boards(1), new_history(100)
    rng = np.array([seed], np.uint64)
    for _ in range(count):
        width, height = (int(side) for side in choice.integers(5, 10, 2))
        start_game(boards[0], history, width, height, terms_of(parse_rules("chinese"), 0))
        play_out(boards[0], history, rng, int(choice.integers(6, width * height)))
        yield boards


def test_the_kernel_agrees_with_the_slow_reader_on_random_boards() -> None:
    count = 20 if WITHOUT_COMPILER else 1200
    seen: Counter[str] = Counter()
    for boards in random_boards(1, count):
        board = boards[0]
        size = Size(int(board["width"]), int(board["height"]))
        points = [Point(x, y) for y in range(size.height) for x in range(size.width)]
        colors = {p: int(board["color"][point_index(p, size.width)]) for p in points}
        stones = {p: color for p, color in colors.items() if color}
        ko = index_point(int(board["ko"]), size.width) if board["ko"] else None
        reader, expected = SlowReader(size), Ladders(set(), {})
        for chain in {frozenset(reader.chain(stones, p)[0]) for p in stones}:
            target = min(chain)
            is_caught, moves = reader.catches(Played(stones, ko), target)
            expected.stones.update(chain if is_caught else ())
            for move in moves:
                expected.moves[move] = expected.moves.get(move, 0) | stones[target]
        assert read_ladders(boards) == expected, (stones, ko)
        seen += reader.seen + Counter(caught=len(expected.stones), moves=len(expected.moves))
    assert seen["caught"] > count
    assert seen["moves"] > count / 2
    assert WITHOUT_COMPILER or min(seen["ko"], seen["double ko"]) > 5
