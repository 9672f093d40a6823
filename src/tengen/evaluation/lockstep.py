"""Games between two searches, all at once: each network sees the leaves of many games together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np

from tengen.evaluation.elo import WinDrawLoss
from tengen.game.color import Color
from tengen.game.geometry import index_point
from tengen.game.kernels.moves import PASS
from tengen.game.outcome import Outcome
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator, encode, evaluate, feeding_threads
from tengen.search.kernels.root import choose_move
from tengen.search.params import SearchParams
from tengen.search.request import RootOptions
from tengen.search.tree_batch import TreeBatch

_SPARE_NODES = 16
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


class Played(NamedTuple):
    """A finished game."""

    number: int  # even: the first player had Black
    start: Position
    end: Position
    outcome: Outcome
    remark: str = ""  # what went wrong, if something did

    @property
    def points(self) -> float:
        """The first player's points: 1, 0.5 or 0."""
        winner = self.outcome.winner
        return 0.5 if winner is None else float((winner is Color.BLACK) == (self.number % 2 == 0))


def tally_of(games: Iterable[Played]) -> WinDrawLoss:
    """The results of games, the first player's view."""
    return reduce(WinDrawLoss.plus, (game.points for game in games), WinDrawLoss())


class _PlayerTrees:
    """One player's trees, a tree for each game."""

    def __init__(self, player: Player, starts: Sequence[Position], seed: int) -> None:
        self.player = player
        # In a graph a root may lead to more nodes than it has visits.
        visits = (2 if player.params.graph else 1) * player.visits
        self.trees = TreeBatch(
            player.evaluator,
            player.params,
            trees=len(starts),
            area=max(start.size.area for start in starts),
            node_room=visits + player.leaves + _SPARE_NODES,
            moves=max(start.move_limit or 0 for start in starts),
            leaves=player.leaves,
            threads=feeding_threads(player.evaluator),
        )
        self._weights = np.zeros(self.trees.forest.policy.shape[1], np.float32)
        root = RootOptions(gumbel=player.gumbel)
        for g, start in enumerate(starts):
            self.trees.set_root(g, start, root, seed=(seed, g))

    def think(self, g: int) -> None:
        """Search the position of game g from now on."""
        self.trees.prepare(np.array([g]))
        self.trees.forest.trees[g]["target"] = self.player.visits

    def moves(self) -> Iterator[tuple[int, int]]:
        """Games whose search has its visits or has filled its memory, and the points to play."""
        forest = self.trees.forest
        trees = forest.trees
        enough = forest.nodes[trees["root"]]["visits"] >= trees["target"]
        done = np.flatnonzero((trees["target"] > 0) & (enough | (trees["full"] > 0)))
        for g in done.tolist():
            trees[g]["target"] = 0
            yield g, int(choose_move(forest, g, self.trees.settings, self._weights))


def play_in_lockstep(
    players: tuple[Player, Player],
    starts: Sequence[Position],
    seed: int = 0,
    on_end: Callable[[Played], object] = lambda _: None,
    numbers: Sequence[int] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Played]:
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
    games: list[Played] = []

    def to_move(g: int) -> int:
        black = numbers[g] % 2  # the player that has Black
        return black if positions[g].to_play is Color.BLACK else 1 - black

    going, everywhere = len(boards), np.arange(len(boards))
    for g in range(len(boards)):
        sides[to_move(g)].think(g)
    while going and not should_stop():
        flights = [side.trees.start(everywhere) for side in sides]
        for side, flight in zip(sides, flights, strict=True):
            side.trees.finish(flight)
        for side in sides:
            for g, point in side.moves():
                move = None if point == PASS else index_point(point, positions[g].width)
                positions[g] = positions[g].play(move)
                if positions[g].is_over:
                    outcome = positions[g].outcome()
                    assert outcome is not None
                    games.append(Played(numbers[g], boards[g], positions[g], outcome))
                    on_end(games[-1])
                    going -= 1
                    continue
                for each in sides:
                    each.trees.follow(g, [move], positions[g])
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
