"""Games between two searches, all at once: each network sees the leaves of many games together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tengen.game.color import Color
from tengen.game.geometry import index_point
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator, encode, evaluate, feeding_threads
from tengen.search.driver import Driver, forest_for
from tengen.search.kernels.forest import EXPANDED, reset_tree
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.root import choose_move, prepare_root
from tengen.search.params import SearchParams

_FLATNESS = (1.0, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)  # of the policies that openings are drawn from


@dataclass(frozen=True)
class Player:
    """A network with a search."""

    name: str
    evaluator: Evaluator
    visits: int
    params: SearchParams = field(default_factory=SearchParams)
    leaves: int = 1  # in flight in each game
    gumbel: int = 0  # moves that a Gumbel root considers; 0: no Gumbel root


class Game(NamedTuple):
    """A game that was played to its end."""

    start: Position
    end: Position
    black: int  # which of the two players had Black
    number: int


class _PlayerTrees:
    """One player's trees, a tree for each game."""

    def __init__(self, player: Player, starts: Sequence[Position], seed: int) -> None:
        self.player = player
        area = max(start.size.area for start in starts)
        moves = max(start.move_limit or 0 for start in starts)
        # In a graph a root may lead to more nodes than it has visits.
        self._node_room = (2 if player.params.graph else 1) * player.visits + player.leaves + 16
        self.forest = forest_for(
            player.evaluator,
            len(starts),
            area,
            node_room=self._node_room,
            moves=moves,
            ownership=False,
        )
        threads = feeding_threads(player.evaluator)
        self.driver = Driver(player.evaluator, player.params, self.forest, player.leaves, threads)
        self._weights = np.zeros(self.forest.policy.shape[1], np.float32)
        self._forward = np.zeros(self._node_room, np.int32)
        self._queue = np.zeros(self._node_room, np.int32)
        for g, start in enumerate(starts):
            self.driver.place(g, start, seed)
            self.forest.trees[g]["leaves"] = player.leaves
            self.forest.trees[g]["gumbel"] = player.gumbel

    def think(self, g: int) -> None:
        self.forest.trees[g]["target"] = self.player.visits

    def rest(self, g: int) -> None:
        self.forest.trees[g]["target"] = 0

    def done(self) -> list[int]:
        """The games in which it has thought enough, or has no room to think on."""
        trees = self.forest.trees
        enough = self.forest.nodes[trees["root"]]["visits"] >= trees["target"]
        return np.flatnonzero((trees["target"] > 0) & (enough | (trees["full"] > 0))).tolist()

    def choose(self, g: int) -> int:
        return int(choose_move(self.forest, g, self.driver.settings, self._weights))

    def advance(self, g: int, point: int, position: Position) -> None:
        advance(self.forest, g, point, self._forward, self._queue)
        self.driver.look_back(g, position)
        if self.player.gumbel:
            reset_tree(self.forest, g)  # its rounds begin without visits
        elif self.forest.nodes[self.forest.trees[g]["root"]]["visits"]:
            recenter_utility(self.forest, g, self.driver.settings)

    def prepare(self) -> None:
        """Give roots that were just evaluated, or just became roots, their priors."""
        trees = self.forest.trees
        roots = self.forest.nodes[trees["root"]]
        for g in np.flatnonzero((trees["prepared"] == 0) & (roots["status"] == EXPANDED)):
            prepare_root(self.forest, g, self.driver.settings)


def play_in_lockstep(
    players: tuple[Player, Player],
    starts: Sequence[Position],
    seed: int = 0,
    on_end: Callable[[Game], None] | None = None,
    numbers: Sequence[int] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Game]:
    """Play two games from each position, colours exchanged; every start needs a move limit.

    With numbers, only those games: 2k and 2k + 1 begin at starts[k], the even one with Black for
    the first player. Told to stop, it returns the games that have ended. Raises ValueError.
    """
    if any(start.move_limit is None or start.is_over for start in starts):
        raise ValueError("a game needs a move limit, and must not be over")
    numbers = range(2 * len(starts)) if numbers is None else numbers
    boards = [starts[number // 2] for number in numbers]
    positions = list(boards)
    sides = tuple(_PlayerTrees(player, boards, seed + i) for i, player in enumerate(players))
    games: list[Game] = []

    def to_move(g: int) -> int:
        black = numbers[g] % 2  # the player that has Black
        return black if positions[g].to_play is Color.BLACK else 1 - black

    going = len(boards)
    for g in range(len(boards)):
        sides[to_move(g)].think(g)
    while going and not should_stop():
        flights = [side.driver.start_range(0, len(boards)) for side in sides]
        for side, flight in zip(sides, flights, strict=True):
            side.driver.finish(flight)
            side.prepare()
        for side in sides:
            for g in side.done():
                point = side.choose(g)
                move = None if point == PASS else index_point(point, positions[g].width)
                positions[g] = positions[g].play(move)
                side.rest(g)
                if positions[g].is_over:
                    games.append(Game(boards[g], positions[g], numbers[g] % 2, numbers[g]))
                    if on_end:
                        on_end(games[-1])
                    going -= 1
                    continue
                for each in sides:
                    each.advance(g, point, positions[g])
                sides[to_move(g)].think(g)
    return games


def openings(
    evaluator: Evaluator, empty: Position, moves: int, count: int, seed: int
) -> list[Position]:
    """Positions after some moves drawn from a network's policy, passes left out.

    They differ where they can: games from the same position are the same game, and say nothing
    more. So a policy that is sure of itself is drawn from more freely until enough are found.
    """
    random = np.random.default_rng(seed)
    different: dict[Position, None] = {}
    for flatness in _FLATNESS:
        missing = count - len(different)
        if missing > 0:
            drawn = _drawn(evaluator, [empty] * missing, moves, flatness, random)
            different |= dict.fromkeys(drawn)
    again = _drawn(evaluator, [empty] * (count - len(different)), moves, 1.0, random)
    return [*different, *again]


def _drawn(
    evaluator: Evaluator,
    starts: Sequence[Position],
    moves: int,
    flatness: float,
    random: np.random.Generator,
) -> list[Position]:
    """Each start after so many moves, which are drawn by their chances to the power 1/flatness."""
    positions = list(starts)
    for _ in range(moves if positions else 0):
        policies = evaluate(evaluator, encode(evaluator.features, positions)).policy
        for i, policy in enumerate(policies.astype(float) / flatness):
            chances = np.exp(policy - policy.max()) * positions[i].legal_mask()
            chances[-1] = 0
            if not chances.any():
                continue  # nothing but a pass is left
            place = int(random.choice(len(chances), p=chances / chances.sum()))
            y, x = divmod(place, positions[i].width)
            positions[i] = positions[i].play((x, y))
    return positions
