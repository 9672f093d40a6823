"""Random playouts per second of the kernels, against the prototype and against plain Python.

All three play uniformly random legal moves that fill no own eye, under positional superko, on one
core. The plain Python board uses lists, copies and flood fills, as in tutorials.
"""

from __future__ import annotations

import copy
import importlib
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from tests.game.playouts import playouts

from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import new_boards
from tengen.game.kernels.moves import new_history
from tengen.game.rules import KoRule, Rules

PROTOTYPE = Path(__file__).parents[2] / "shared" / "prototype"
ROUNDS = 15
Grid: TypeAlias = list[list[int]]
Point: TypeAlias = tuple[int, int]
Player: TypeAlias = Callable[[int, int], None]  # (board size, number of games)


class PlainBoard:
    def __init__(self, size: int) -> None:
        self.size = size
        self.grid = [[0] * size for _ in range(size)]
        self.to_play = 1
        self.seen = {str(self.grid)}

    def neighbours(self, point: Point) -> list[Point]:
        y, x = point
        near = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
        return [(y, x) for y, x in near if 0 <= y < self.size and 0 <= x < self.size]

    def group(self, grid: Grid, point: Point) -> tuple[set[Point], set[Point]]:
        color = grid[point[0]][point[1]]
        stones, liberties, todo = set(), set(), [point]
        while todo:
            here = todo.pop()
            if here in stones:
                continue
            stones.add(here)
            for y, x in self.neighbours(here):
                if grid[y][x] == 0:
                    liberties.add((y, x))
                elif grid[y][x] == color:
                    todo.append((y, x))
        return stones, liberties

    def after(self, point: Point) -> Grid | None:
        if self.grid[point[0]][point[1]] != 0:
            return None
        grid = copy.deepcopy(self.grid)
        grid[point[0]][point[1]] = self.to_play
        for y, x in self.neighbours(point):
            if grid[y][x] == 3 - self.to_play:
                stones, liberties = self.group(grid, (y, x))
                if not liberties:
                    for captured in stones:
                        grid[captured[0]][captured[1]] = 0
        if not self.group(grid, point)[1] or str(grid) in self.seen:
            return None
        return grid

    def is_own_eye(self, point: Point) -> bool:
        if any(self.grid[y][x] != self.to_play for y, x in self.neighbours(point)):
            return False
        y, x = point
        corners = [(y - 1, x - 1), (y - 1, x + 1), (y + 1, x - 1), (y + 1, x + 1)]
        inside = [(a, b) for a, b in corners if 0 <= a < self.size and 0 <= b < self.size]
        enemies = sum(self.grid[a][b] == 3 - self.to_play for a, b in inside)
        return enemies + (len(inside) < 4) < 2

    def play_out(self, choice: random.Random) -> int:
        moves = passes = 0
        while passes < 2 and moves < 3 * self.size * self.size:
            points = [(y, x) for y in range(self.size) for x in range(self.size)]
            choice.shuffle(points)
            passes += 1
            for point in points:
                if self.grid[point[0]][point[1]] == 0 and not self.is_own_eye(point):
                    grid = self.after(point)
                    if grid is not None:
                        self.grid, passes = grid, 0
                        self.seen.add(str(grid))
                        break
            self.to_play = 3 - self.to_play
            moves += 1
        return moves


def plain(size: int, count: int) -> None:
    choice = random.Random(1)
    for _ in range(count):
        PlainBoard(size).play_out(choice)


def kernels(size: int, count: int, ko: KoRule = KoRule.POSITIONAL) -> None:
    board, history = new_boards(1)[0], new_history(3 * size * size)
    rng = np.array([12345], np.uint64)
    terms = terms_of(Rules(ko, suicide=False), 0)
    playouts(board, history, size, size, terms, count, rng, 3 * size * size)


def prototype(module: Any, size: int, count: int, superko: bool = True) -> None:
    games, hist = module.new_games(1, size)
    module.playouts(games, hist, size, count, np.array([12345], np.uint64), superko)


def rate(play: Player, size: int, count: int) -> float:
    """Playouts per second of processor time."""
    start = time.process_time()
    play(size, count)
    return count / (time.process_time() - start)


def contenders() -> dict[str, Player]:
    """The contenders that are available, by name."""
    found: dict[str, Player] = {
        "plain Python": plain,
        "tengen": kernels,
        "tengen, simple ko": partial(kernels, ko=KoRule.SIMPLE),
    }
    if (PROTOTYPE / "board.py").exists():
        sys.path.insert(0, str(PROTOTYPE))
        module = importlib.import_module("board")
        found["prototype"] = partial(prototype, module)
        found["prototype, simple ko"] = partial(prototype, module, superko=False)
    else:
        print("no prototype found: skipped")
    return found


def main() -> None:
    players = contenders()
    for size, count, plain_count in ((9, 2000, 2), (19, 300, 1)):
        for play in players.values():
            play(size, 1)  # compile
        rates = {"plain Python": rate(plain, size, plain_count)}
        for _ in range(ROUNDS):  # in turns, so that a slow moment of the machine affects all alike
            for name, play in players.items():
                if play is not plain:
                    rates[name] = max(rates.get(name, 0), rate(play, size, count))
        board = f"{size}x{size}".rjust(5)
        for name, best in rates.items():
            print(f"{board}  {name:22} {best:12,.1f} playouts/s")
        print(f"{board}  tengen / plain Python: {rates['tengen'] / rates['plain Python']:,.0f}")
        for variant in ("", ", simple ko"):
            if f"prototype{variant}" in rates:
                ratio = rates[f"tengen{variant}"] / rates[f"prototype{variant}"]
                print(f"{board}  tengen / prototype{variant}: {ratio:.2f}")


if __name__ == "__main__":
    main()
