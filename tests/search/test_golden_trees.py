"""The search kernels grow the trees that the slow search grows, visit for visit."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numba
import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator
from tengen.search.kernels.forest import EXPANDED, TERMINAL, Forest, packed_point, packed_prior
from tengen.search.kernels.reuse import advance, recenter_utility
from tengen.search.kernels.utility import expected_atan
from tengen.search.params import SearchParams
from tengen.search.tree_batch import TreeBatch
from tests.search.reference import EVALUATION, STATISTICS, Node, Opinion, ReferenceSearch, play
from tests.search.trees import search_once

OWN, MEANS = "own", "means"  # fields of a node
LEAVES = (1, 3, 8)  # to look for at a time; one game of each at a time in one forest
TOLERANCE = 1e-4  # the kernels compute in single precision and with tables
NEAR_TIE = 5e-5  # scores closer than this may be the other way round in single precision

# What the network says must be the same however the players came to a position.
_PLANES = [
    KATAGO.planes.index(name) for name in ("own stone", "opponent's stone", "ko or superko ban")
]
# Passes come first; komi is shown otherwise where a draw is no half win.
_GLOBALS = [
    k
    for k, name in enumerate(KATAGO.globals)
    if not name.startswith("pass") and name not in ("own komi", "parity of komi")
]


def opinions(batch: Batch) -> Evaluation:
    """Random ones, always the same of the same position."""
    n, _, height, width = batch.planes.shape
    area = height * width
    draws = np.empty((n, area + 8))
    for i in range(n):
        seen = batch.planes[i, _PLANES].tobytes() + batch.globals[i, _GLOBALS].tobytes()
        bits = np.frombuffer(hashlib.shake_128(seen).digest(4 * (area + 8)), np.uint32)
        draws[i] = (bits + 0.5) / 2**32
    draws = draws.astype(np.float32)
    simple_ko = batch.globals[:, KATAGO.globals.index("superko")] == 0
    no_result = np.where(simple_ko, draws[:, 0] * np.float32(0.3), 0).astype(np.float32)
    win = draws[:, 1] * (1 - no_result)
    nothing = np.zeros(n, np.float32)
    return Evaluation(
        # Equal, or too far apart for rounding to change their order.
        policy=np.floor(draws[:, 7:] * np.float32(16)) * np.float32(0.3),
        value=np.stack([win, 1 - no_result - win, no_result], 1),
        score=(draws[:, 2] - np.float32(0.5)) * np.float32(1.5 * area),
        spread=draws[:, 3] * np.float32(math.sqrt(area)) + np.float32(0.3),
        lead=(draws[:, 4] - np.float32(0.5)) * np.float32(area),
        variance_time=nothing,
        value_error=nothing,
        score_error=nothing,
        ownership=np.zeros((n, height, width), np.float32),
    )


def opinion(position: Position) -> Opinion:
    found = opinions(encode(KATAGO, [position]))
    win, loss, no_result = found.value[0].tolist()
    numbers = (found.score, found.spread, found.lead)
    return Opinion(found.policy[0].tolist(), win, loss, no_result, *(float(x[0]) for x in numbers))


def atan_of_kernels(mean: float, spread: float) -> float:
    return float(expected_atan(np.float32(mean), np.float32(spread)))


class Pools:
    """The pools of one tree as lists, which are faster to walk."""

    def __init__(self, forest: Forest, g: int) -> None:
        self.tree = forest.trees[g]
        self.first = g * forest.node_room
        self.first_candidate = g * forest.candidate_room
        nodes = forest.nodes[self.first : self.first + int(self.tree["n_nodes"])]
        edges = forest.edges[self.first : self.first + int(self.tree["n_edges"])]
        self.nodes = {name: nodes[name].tolist() for name in nodes.dtype.names or ()}
        self.edges = {name: edges[name].tolist() for name in edges.dtype.names or ()}
        end = self.first_candidate + int(self.tree["n_candidates"])
        self.packed: list[int] = forest.candidates[self.first_candidate : end].tolist()

    def children(self, node: int) -> Iterator[tuple[int, int, int]]:
        """Edge, visits and node of the moves tried, in their order."""
        begin, edges = self.nodes["block"][node] - self.first_candidate, self.edges
        for edge in self.packed[begin : begin + self.nodes["n_tried"][node]]:
            at = edge - self.first
            assert edges["parent"][at] == node + self.first
            yield edges["packed"][at], edges["visits"][at], edges["child"][at] - self.first

    def candidates(self, node: int) -> list[int]:
        """The edges of all candidates, those tried first and as they were tried."""
        begin = self.nodes["block"][node] - self.first_candidate
        packed = self.packed[begin : begin + self.nodes["n_candidates"][node]]
        tried = self.nodes["n_tried"][node]
        moves = [self.edges["packed"][edge - self.first] for edge in packed[:tried]]
        return moves + sorted(packed[tried:], reverse=True)


@cache
def move_of(packed: int) -> tuple[int, float]:
    return int(packed_point(np.uint32(packed))), float(packed_prior(np.uint32(packed)))


def near(found: float, expected: float, size: float = 1.0) -> bool:
    return abs(found - expected) <= TOLERANCE * size


def difference(pools: Pools, at: int, node: Node) -> str | None:
    """Where a node of the kernels or what is below it is not the reference's; None if equal."""
    columns = pools.nodes
    for name in ("visits", "own_visits", "pending"):
        if columns[name][at] != getattr(node, name):
            return f"{name} {columns[name][at]}, {getattr(node, name)}"
    if 3 - 2 * columns["to_play"][at] != node.sign:
        return "side to play"
    if node.visits == 0:
        return None
    if columns["status"][at] != (TERMINAL if node.is_over else EXPANDED):
        return f"status {columns['status'][at]}"
    if not near(columns["weight"][at], node.weight, node.weight):
        return f"weight {columns['weight'][at]}, {node.weight}"
    area = node.position.size.area
    sizes = {"score": area, "lead": area, "score_square": area**2}
    for which, names, numbers in ((OWN, EVALUATION, node.own), (MEANS, STATISTICS, node.mean)):
        for name, found in zip(names, columns[which][at], strict=True):
            if not near(found, numbers[name], sizes.get(name, 1)):
                return f"{which} {name} {found}, {numbers[name]}"
    return difference_in_moves(pools, at, node)


def difference_in_moves(pools: Pools, at: int, node: Node) -> str | None:
    edges = [] if node.is_over else pools.candidates(at)
    moves = [move_of(packed) for packed in edges]
    expected = [candidate.point for candidate in node.candidates]
    if [point for point, _ in moves] != expected:
        return f"moves {moves}, {node.candidates}"
    for (_, prior), candidate in zip(moves, node.candidates, strict=True):
        if not near(prior, candidate.prior, candidate.prior):
            return f"prior {prior}, {candidate.prior}"
    children = list(pools.children(at))
    if len(children) != len(node.children):
        return f"moves tried {len(children)}, {len(node.children)}"
    for packed, move, (tried, visits, index), child in zip(
        edges, moves, children, node.children, strict=False
    ):
        if packed != tried or visits != child.visits:
            return f"edge {move}: {visits}, {child.visits}"
        below = difference(pools, index, child)
        if below is not None:
            return f"{move[0]} > {below}"
    return None


class Game:
    """One game, searched by the kernels as tree g and by the reference."""

    def __init__(
        self, driver: TreeBatch, g: int, position: Position, leaves: int, seed: str
    ) -> None:
        self.driver, self.forest, self.g, self.leaves = driver, driver.forest, g, leaves
        self.reference = ReferenceSearch(position, driver.params, opinion, atan_of_kernels)
        self.choice = random.Random(seed)
        self.seed, self.state = seed, "goes on"
        self.target = 0
        driver.set_root(g, position, seed=(g, g))

    def aim(self, visits: int) -> None:
        """Let the next search add up to so many visits to what is known."""
        self.target = self.reference.root.visits + self.choice.randint(visits // 3, visits)
        tree = self.forest.trees[self.g]
        tree["target"], tree["leaves"] = self.target, self.leaves
        self.reference.closest = math.inf

    @property
    def is_searching(self) -> bool:
        return self.state == "goes on" and self.reference.root.visits < self.target

    def compare(self) -> None:
        """Fails where the trees differ, unless a choice was too narrow: then the game is left."""
        pools, reference = Pools(self.forest, self.g), self.reference
        root = reference.root
        found = difference(pools, int(pools.tree["root"]) - pools.first, root)
        centre, area = float(pools.tree["centre"]), root.position.size.area
        if root.visits and not near(centre, reference.centre, area):
            found = found or f"centre {centre}, {reference.centre}"
        for name, count in reference.counts.items():
            if pools.tree[name] != count:
                found = found or f"{name} {pools.tree[name]}, {count}"
        if found is not None and reference.closest < NEAR_TIE:
            self.state = "skipped"
            return
        where = f"{self.seed}, {self.driver.params}\n{root.position}"
        assert found is None, f"{found}\n{where}\nnarrowest choice {reference.closest}"

    def move(self) -> None:
        """Play the most visited move, one that was tried, or any that is legal."""
        root, choice = self.reference.root, self.choice
        tried = [candidate.point for candidate in root.candidates[: len(root.children)]]
        kind = choice.random()
        if kind < 0.1 or not tried:
            point = choice.choice(root.candidates).point
        elif kind < 0.5:
            point = choice.choice(tried)
        else:
            point = max(zip(root.children, tried, strict=True), key=lambda pair: pair[0].visits)[1]
        if play(root.position, point).is_over:
            self.state = "over"
            return
        room = self.forest.node_room
        advance(self.forest, self.g, point, np.zeros(room, np.int32), np.zeros(room, np.int32))
        self.reference.advance(point)
        self.compare()
        recenter_utility(self.forest, self.g, self.driver.settings)
        self.reference.recenter_utility()
        self.compare()


def play_games(
    seed: str, size: tuple[int, int], rules: Rules, params: SearchParams, visits: int, moves: int
) -> Counter[str]:
    """Play a game for each number of leaves, in one forest; counts what happened."""
    choice = random.Random(seed)
    area = size[0] * size[1]
    openings = [random_opening(choice, size, rules) for _ in LEAVES]
    driver = TreeBatch(
        FakeEvaluator(opinions),
        params,
        trees=len(LEAVES),
        area=area,
        node_room=visits * moves + 2,
        moves=moves + max(opening.move_number for opening in openings),
        leaves=sum(LEAVES),
    )
    games = [
        Game(driver, g, opening, leaves, f"{seed}, tree {g}")
        for g, (opening, leaves) in enumerate(zip(openings, LEAVES, strict=True))
    ]
    for _ in range(moves):
        for game in games:
            game.aim(visits)
        while any(game.is_searching for game in games):
            search_once(driver)
            for game in games:
                if game.is_searching:
                    game.reference.tick(game.leaves, game.target)
        for game in games:
            if game.state == "goes on":
                game.compare()
            if game.state == "goes on":
                game.move()
    happened = Counter(game.state for game in games)
    for game in games:
        happened.update(game.reference.counts)
        happened["unfinished"] += game.reference.unfinished
    return happened


def random_opening(choice: random.Random, size: tuple[int, int], rules: Rules) -> Position:
    """A game that goes on, after some random moves."""
    komi = choice.choice([-3.5, -1, 0, 0.5, 2, 3.5, 7])
    limit = choice.choice([None, None, None, choice.randint(20, 30)])
    position = Position(size, rules, komi, move_limit=limit)
    for _ in range(choice.choice([0, 0, choice.randint(1, size[0] * size[1])])):
        after = position.play(choice.choice([None, *position.legal_moves() * 3]))
        position = position if after.is_over else after
    return position


def random_params(choice: random.Random) -> SearchParams:
    return SearchParams(
        exploration=choice.uniform(0.3, 2.5),
        exploration_log=choice.uniform(0, 1),
        exploration_base=choice.uniform(10, 1000),
        stdev_scale=choice.choice([0, 0.85, choice.uniform(0, 1)]),
        stdev_prior=choice.uniform(0.2, 0.6),
        stdev_prior_weight=choice.uniform(0.5, 4),
        fpu_reduction=choice.uniform(0, 0.5),
        root_fpu_reduction=choice.uniform(0, 0.5),
        fpu_trusts_tried=choice.random() < 0.5,
        static_score=choice.choice([0, choice.uniform(0, 0.5)]),
        dynamic_score=choice.choice([0, choice.uniform(0, 0.5)]),
        score_scale=choice.uniform(0.3, 1.5),
        centre_to_zero=choice.uniform(0, 1),
        value_weight=choice.choice([0, 0.25, choice.uniform(0, 1)]),
        virtual_loss=choice.uniform(0.1, 2),
        win_utility=choice.uniform(0.5, 1.5),
        white_no_result_utility=choice.choice([0, choice.uniform(-0.5, 0.5)]),
        white_draw_wins=choice.choice([0.5, choice.random()]),
        noise_pruning=choice.random() < 0.7,
        noise_pruning_scale=choice.uniform(0.05, 0.4),
        noise_pruning_cap=choice.choice([1e30, choice.uniform(0, 5)]),
        value_bias=choice.choice([0, choice.uniform(0.1, 0.9)]),
        value_bias_exponent=choice.uniform(0.5, 1),
    )


RULES = (
    Rules(),
    Rules(ko=KoRule.SIMPLE, suicide=False),
    Rules(ko=KoRule.SIMPLE),
    Rules(ko=KoRule.SITUATIONAL, suicide=False),
)


def agree(name: str, size: tuple[int, int], groups: int, visits: int, moves: int) -> Counter[str]:
    """Play this many groups of games, every third one with the usual parameters."""
    happened: Counter[str] = Counter()
    for number in range(groups):
        seed = f"{name} {size} {number}"
        params = random_params(random.Random(seed)) if number % 3 else SearchParams()
        rules = RULES[number % len(RULES)]
        happened += play_games(seed, size, rules, params, visits, moves)
    assert happened["skipped"] <= 1 + groups * len(LEAVES) // 30
    return happened


@pytest.mark.parametrize(
    ("size", "groups", "visits", "moves"),
    [
        ((2, 2), 24, 50, 6),
        ((3, 3), 20, 50, 6),
        ((4, 3), 16, 60, 6),
        ((5, 5), 12, 60, 6),
        ((6, 7), 1, 400, 2),
    ],
)
def test_kernels_and_reference_grow_the_same_trees(
    size: tuple[int, int], groups: int, visits: int, moves: int
) -> None:
    happened = agree("golden", size, groups, visits, moves)
    for event in ("evaluated", "shared", "terminal", "collisions"):
        assert happened[event] or size == (6, 7)
    assert happened["unfinished"] or size != (2, 2)


@pytest.mark.kernel
@pytest.mark.parametrize("size", [(2, 2), (4, 3)])
def test_few_visits_agree(size: tuple[int, int]) -> None:
    happened = agree("few", size, 1 if numba.config.DISABLE_JIT else 3, 10, 2)
    assert not happened["skipped"]


@pytest.mark.kernel
def test_the_table_of_expected_scores_agrees_with_an_integral() -> None:
    z = np.linspace(-9, 9, 4001)
    density = np.exp(-z * z / 2)
    density /= density.sum()
    choice = np.random.default_rng(3)
    for widest, tolerance in ((0, 2e-4), (1, 5e-4), (3, 2e-3)):
        for _ in range(300):
            mean, spread = choice.uniform(-1, 1) * 20 ** choice.uniform(), choice.uniform(0, widest)
            expected = float((2 / np.pi * np.arctan(mean + spread * z)) @ density)
            assert abs(atan_of_kernels(mean, spread) - expected) < tolerance
