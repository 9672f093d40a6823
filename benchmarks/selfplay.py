"""Self-play on the CPU: our fleet against the tutorial's own loop, with the same network.

The tutorial plays one game at a time: a tree of Python objects, a board of lists and sets with
chains found by flood fill, and torch with one position at a time. Ours plays many games at a time
by the tutorial's recipe (`tengen train --preset tutorial`), with OpenVINO and int8 blocks, which is
faster than torch. Both have the same weights, visits, noise and number of threads, and take turns.
Rates are by wall clock, which other users of the cores disturb, and by CPU time, which hides that
ours gains from more cores while a single game hardly does.

A round is shorter than a game, and boards with more stones cost more: so the tutorial's rounds
start at stages spread evenly over a game, after moves drawn from the network's policy, and so do
our games.

The tutorial's legality test plays each move on a copy of the board. A second variant looks at the
neighbours first and rarely needs a copy; the ratio against it is shown too.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

import numba
import numpy as np
import torch

from tengen.game.geometry import Size
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers
from tengen.selfplay.fleet import Fleet
from tengen.tutorial.network import TwoHeadNetwork, initial_network, network_data
from tengen.tutorial.recipe import Recipe
from tengen.tutorial.self_play import player

RECIPE = Recipe(device="cpu")
CLAIM = 20.0
SIDE = RECIPE.side
PASS = SIDE * SIDE
EMPTY, BLACK, WHITE = 0, 1, 2
# Mean length of this network's first games in `tengen train --preset tutorial`.
MOVES_IN_A_GAME = 112.0
# Games have the same length on both sides, so games/s have the ratio of moves/s.
RATES = (
    "evals/s by wall clock",
    "moves/s and games/s by wall clock",
    "evals/s of CPU time",
    "moves/s and games/s of CPU time",
)


# The tutorial's board


class Board:
    """A mutable position."""

    def __init__(self) -> None:
        self.stones = [EMPTY] * (SIDE * SIDE)
        self.to_play = BLACK
        self.ko: int | None = None
        self.moves: list[int] = []

    def copy(self) -> Self:
        board = self.__new__(type(self))
        board.stones = self.stones.copy()
        board.to_play = self.to_play
        board.ko = self.ko
        board.moves = self.moves.copy()
        return board

    def chain_at(self, point: int) -> tuple[set[int], set[int]]:
        """The chain on a point and its liberties."""
        color = self.stones[point]
        chain, liberties, frontier = {point}, set(), [point]
        while frontier:
            for near in NEIGHBORS[frontier.pop()]:
                if self.stones[near] == EMPTY:
                    liberties.add(near)
                elif self.stones[near] == color and near not in chain:
                    chain.add(near)
                    frontier.append(near)
        return chain, liberties

    def play(self, move: int) -> bool:
        """Play a move; returns False, with the board in an invalid state, if it is suicide."""
        opponent = BLACK + WHITE - self.to_play
        self.ko, captured = None, set()
        if move != PASS:
            self.stones[move] = self.to_play
            for near in NEIGHBORS[move]:
                if self.stones[near] == opponent:
                    chain, liberties = self.chain_at(near)
                    if not liberties:
                        captured |= chain
                        for stone in chain:
                            self.stones[stone] = EMPTY
            chain, liberties = self.chain_at(move)
            if not liberties:
                return False
            if len(captured) == 1 and len(chain) == 1 and len(liberties) == 1:
                (self.ko,) = captured
        self.moves.append(move)
        self.to_play = opponent
        return True

    def is_legal(self, move: int) -> bool:
        if move == PASS:
            return True
        if self.stones[move] != EMPTY or move == self.ko:
            return False
        return self.copy().play(move)

    def legal_moves(self) -> list[int]:
        return [move for move in range(PASS + 1) if self.is_legal(move)]

    def is_over(self) -> bool:
        return self.moves[-2:] == [PASS, PASS] or len(self.moves) >= RECIPE.most_moves

    def black_wins(self) -> bool:
        """Area scoring: stones, and regions that touch one colour only."""
        points = {BLACK: 0.0, WHITE: RECIPE.komi}
        seen: set[int] = set()
        for start, color in enumerate(self.stones):
            if color != EMPTY:
                points[color] += 1
            elif start not in seen:
                region, border = self._region(start)
                seen |= region
                if len(border) == 1:
                    points[border.pop()] += len(region)
        return points[BLACK] > points[WHITE]

    def _region(self, start: int) -> tuple[set[int], set[int]]:
        region, border, frontier = {start}, set(), [start]
        while frontier:
            for near in NEIGHBORS[frontier.pop()]:
                if self.stones[near] != EMPTY:
                    border.add(self.stones[near])
                elif near not in region:
                    region.add(near)
                    frontier.append(near)
        return region, border

    def planes(self, legal: list[int]) -> torch.Tensor:
        """[1, 7, side, side] the network's inputs."""
        planes = np.zeros((7, SIDE * SIDE), np.float32)
        stones = np.array(self.stones)
        planes[0] = stones == self.to_play
        planes[1] = stones == BLACK + WHITE - self.to_play
        planes[2] = stones == EMPTY
        for turn, move in enumerate(reversed(self.moves[-2:])):
            if move != PASS:
                planes[3 + turn, move] = 1
        planes[5, [move for move in legal if move != PASS]] = 1
        planes[6] = self.to_play == BLACK
        return torch.from_numpy(planes.reshape(1, 7, SIDE, SIDE))


class QuickBoard(Board):
    """A board whose legality test copies the board only for moves without an empty neighbour."""

    def is_legal(self, move: int) -> bool:
        if move != PASS and self.stones[move] == EMPTY and move != self.ko:
            for near in NEIGHBORS[move]:
                if self.stones[near] == EMPTY:
                    return True
        return super().is_legal(move)


def _neighbors(point: int) -> Iterator[int]:
    y, x = divmod(point, SIDE)
    for dy, dx in ((-1, 0), (0, -1), (0, 1), (1, 0)):
        if 0 <= y + dy < SIDE and 0 <= x + dx < SIDE:
            yield (y + dy) * SIDE + x + dx


NEIGHBORS = [list(_neighbors(point)) for point in range(SIDE * SIDE)]


# The tutorial's search


class Node:
    """The statistics of a move, from the view of the side that plays it."""

    __slots__ = ("children", "prior", "value_sum", "visits")

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.visits = 0
        self.value_sum = 0.0
        self.children: dict[int, Node] = {}

    def select(self) -> tuple[int, Node]:
        """The child with the highest PUCT score."""
        explore = RECIPE.exploration * math.sqrt(self.visits)
        best, best_score = None, -math.inf
        for move, child in self.children.items():
            value = child.value_sum / child.visits if child.visits else 0.0
            score = value + explore * child.prior / (1 + child.visits)
            if score > best_score:
                best, best_score = (move, child), score
        assert best is not None
        return best


class Textbook:
    """The tutorial's loop, one game at a time."""

    def __init__(self, network: TwoHeadNetwork, board: type[Board]) -> None:
        self._network, self._kind = network, board
        self._random = np.random.default_rng(1)
        self.evals = self.moves = 0
        self._board = board()

    def begin(self, stage: float) -> None:
        """Start at this stage of a game, from 0 to 1, with moves drawn from the policy."""
        self._board = self._kind()
        while len(self._board.moves) < stage * MOVES_IN_A_GAME:
            node = Node(0.0)
            self._expand(node, self._board)
            if len(node.children) > 1:
                node.children.pop(PASS)
            moves = list(node.children)
            shares = np.array([child.prior for child in node.children.values()])
            self._board.play(int(self._random.choice(moves, p=shares / shares.sum())))

    def run(self, seconds: float) -> None:
        """Search and play for so long; stops after a move."""
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop:
            if self._board.is_over():
                self._board = self._kind()
            self._board.play(self._choose(self._board))
            self.moves += 1

    def _choose(self, board: Board) -> int:
        root = self._search(board)
        moves, visits = zip(*((m, c.visits) for m, c in root.children.items()), strict=True)
        if len(board.moves) >= RECIPE.sampled_moves:
            return int(moves[int(np.argmax(visits))])
        shares = np.array(visits) / sum(visits)
        return int(self._random.choice(moves, p=shares))

    def _search(self, start: Board) -> Node:
        root = Node(0.0)
        for _ in range(RECIPE.visits):
            node, board, path = root, start.copy(), [root]
            while node.children:
                move, node = node.select()
                board.play(move)
                path.append(node)
            if board.is_over():
                value = 1.0 if board.black_wins() == (board.to_play == BLACK) else -1.0
            else:
                value = self._expand(node, board)
                if node is root:
                    self._add_noise(root)
            for node in reversed(path):
                value = -value  # a node's value is for the side that moved into it
                node.visits += 1
                node.value_sum += value
        return root

    def _expand(self, node: Node, board: Board) -> float:
        """Evaluate the position and create the node's children; returns the value."""
        legal = board.legal_moves()
        with torch.inference_mode():
            logits, value = self._network(board.planes(legal))
            priors = torch.softmax(logits[0, legal], 0).tolist()
        self.evals += 1
        node.children = {move: Node(prior) for move, prior in zip(legal, priors, strict=True)}
        return float(value)

    def _add_noise(self, root: Node) -> None:
        noise = self._random.dirichlet([RECIPE.noise_alpha] * len(root.children)).tolist()
        for child, part in zip(root.children.values(), noise, strict=True):
            child.prior += RECIPE.noise_share * (part - child.prior)


# Ours


class Ours:
    """Our fleet with the tutorial's recipe."""

    def __init__(self, evaluator: Evaluator, games: int) -> None:
        half = BufferShape(Size(SIDE, SIDE), games // 2)
        buffers = [EvaluatorBuffers(evaluator, half) for _ in range(2)]
        self._games = games
        stage = MOVES_IN_A_GAME / SIDE**2 / 2  # on average
        params = replace(RECIPE.selfplay(), opening_share=1.0, opening_moves=stage)
        self._fleet = Fleet(buffers, params, RECIPE.search(), seed=1)

    @property
    def evals(self) -> int:
        return self._fleet.counts.rows

    @property
    def moves(self) -> int:
        return self._fleet.counts.moves

    def run(self, seconds: float) -> None:
        """Search and play for so long; stops after a move of each game, since all move together."""
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop:
            moves = self.moves + self._games
            while self.moves < moves:
                self._fleet.tick()
            self._fleet.take_games()


class Rates(NamedTuple):
    """Evaluations and moves per second in one round."""

    evals: float  # by wall clock
    moves: float
    evals_of_cpu: float  # by CPU time of all threads
    moves_of_cpu: float


def measured(side: Textbook | Ours, seconds: float) -> Rates:
    evals, moves = side.evals, side.moves
    clock, cpu = time.perf_counter(), time.process_time()
    side.run(seconds)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    evals, moves = side.evals - evals, side.moves - moves
    return Rates(evals / clock, moves / clock, evals / cpu, moves / cpu)


def show_rates(name: str, turns: list[Rates]) -> None:
    middle = Rates(*map(statistics.median, zip(*turns, strict=True)))
    print(
        f"{name}: {middle.evals:,.0f} evals/s, {middle.moves:,.2f} moves/s, "
        f"{60 * middle.moves / MOVES_IN_A_GAME:,.3f} games/min; by CPU time "
        f"{middle.evals_of_cpu:,.0f} evals/s, {middle.moves_of_cpu:,.2f} moves/s"
    )


def show_ratios(name: str, ours: list[Rates], theirs: list[Rates]) -> None:
    print(f"ours against {name}:")
    for which, rate in enumerate(RATES):
        ratios = [mine[which] / other[which] for mine, other in zip(ours, theirs, strict=True)]
        ratio = statistics.median(ratios)
        verdict = "at least" if ratio >= CLAIM else "less than"
        print(
            f"  {rate}: {ratio:.1f} x ({min(ratios):.1f} to {max(ratios):.1f}), "
            f"{verdict} {CLAIM:.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=128, help="games of ours at a time")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a round, at least")
    parser.add_argument("--threads", type=int, default=1, help="threads of each side")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    numba.set_num_threads(options.threads)
    network = initial_network(RECIPE.side, RECIPE.blocks, RECIPE.channels, seed=1)
    evaluator = player(network_data(network, "initial", {}), "cpu", options.threads)
    ours = Ours(evaluator, options.games)
    textbooks = {
        "the tutorial": Textbook(network, Board),
        "the tutorial with a quicker legality test": Textbook(network, QuickBoard),
    }
    sides: dict[str, Textbook | Ours] = {"ours": ours, **textbooks}
    print(
        f"{SIDE}x{SIDE}, {RECIPE.blocks}x{RECIPE.channels}, {RECIPE.visits} visits, "
        f"{options.threads} threads of {os.cpu_count()} cores; ours {options.games} games at a "
        f"time, {evaluator.device}",
        flush=True,
    )
    turns: dict[str, list[Rates]] = {name: [] for name in sides}
    for side in sides.values():
        side.run(1.0)  # compiles the kernels
    for turn in range(options.rounds):
        for name, side in sides.items():
            if isinstance(side, Textbook):
                side.begin((turn + 0.5) / options.rounds)
            turns[name].append(measured(side, options.seconds))
    for name, rates in turns.items():
        show_rates(name, rates)
    for name in textbooks:
        show_ratios(name, turns["ours"], turns[name])


if __name__ == "__main__":
    main()
