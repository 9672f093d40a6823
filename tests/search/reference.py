"""A slow tree search, written as it is told: nodes are objects, statistics dictionaries of floats.

Everything is recomputed where it is needed, in double precision. Statistics are Black's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeAlias

from tengen.game.color import Color
from tengen.game.geometry import Point, index_point, point_index, policy_point
from tengen.game.kernels.moves import PASS
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.rules import KoRule
from tengen.search.params import SearchParams

Statistics: TypeAlias = dict[str, float]
Situation: TypeAlias = tuple[object, ...]

EVALUATION = ("value", "no_result", "score", "score_square", "lead", "utility")
STATISTICS = (*EVALUATION, "utility_square")


class Opinion(NamedTuple):
    """What a network says of one position, for the side to play."""

    logits: list[float]  # row by row, pass last
    win: float
    loss: float
    no_result: float
    score: float
    spread: float
    lead: float


class Candidate(NamedTuple):
    point: int  # on the board array, or PASS
    prior: float


@dataclass(eq=False)
class Node:
    position: Position
    own: Statistics = field(default_factory=dict)  # empty until it is evaluated
    own_visits: int = 0
    mean: Statistics = field(default_factory=dict)
    visits: int = 0
    weight: float = 0.0
    pending: int = 0
    candidates: list[Candidate] = field(default_factory=list)  # all of them, as they will be tried
    children: list[Node] = field(default_factory=list)  # by the first so many candidates
    waits: bool = False  # for the network
    pattern: Situation | None = None  # the last two moves and the stones around
    taught: tuple[float, float] = (0.0, 0.0)  # error and weight, to the bias table
    number: int = field(default_factory=count().__next__)  # later nodes have larger ones

    @cached_property
    def sign(self) -> int:
        """1 if Black is to play, otherwise -1."""
        return 1 if self.position.to_play is Color.BLACK else -1

    @cached_property
    def is_over(self) -> bool:
        return self.position.is_over

    @cached_property
    def situation(self) -> Situation:
        return situation(self.position)

    @property
    def below(self) -> float:
        """The weight of its children."""
        return sum(child.weight for child in self.children)

    @property
    def tried_prior(self) -> float:
        return sum(prior for _, prior in self.candidates[: len(self.children)])


class ReferenceSearch:
    """One tree. `evaluate` is the network, `expected_atan(mean, spread)` what scores count."""

    def __init__(
        self,
        position: Position,
        params: SearchParams,
        evaluate: Callable[[Position], Opinion],
        expected_atan: Callable[[float, float], float],
    ) -> None:
        self.params, self.evaluate, self.expected_atan = params, evaluate, expected_atan
        self.root = Node(position)
        self.expanded: dict[Situation, Node] = {}  # in this tree
        self.biases: dict[Situation, list[float]] = {}  # errors and weights by pattern
        self.centre = 0.0
        self.counts = dict.fromkeys(("evaluated", "shared", "terminal", "collisions"), 0)
        self.unfinished = 0  # games that ended without result
        self.closest = math.inf  # by how much the narrowest choice was decided

    # Growing the tree

    def tick(self, leaves: int, target: int) -> None:
        """Look for up to so many leaves, one for each 24 visits, then let the network answer."""
        flights = []
        for _ in range(min(leaves, 1 + self.root.visits // 24)):
            if self.root.visits + self.root.pending >= target:
                break
            path = self.descend()
            leaf = path[-1]
            if leaf.waits:
                self.counts["collisions"] += 1
                break
            if leaf.is_over:
                self.visit_end(path)
            elif (transposition := self.expanded.get(leaf.situation)) is not None:
                self.counts["shared"] += 1
                leaf.own, leaf.candidates = dict(transposition.own), list(transposition.candidates)
                leaf.own_visits = 1
                self.back_up(path)
            else:
                leaf.waits = True
                for node in path:
                    node.pending += 1
                flights.append(path)
        for path in flights:
            for node in path:
                node.pending -= 1
            self.expand(path[-1])
            self.back_up(path)

    def descend(self) -> list[Node]:
        """The nodes from the root to a leaf: one that waits, the end of a game or a new one."""
        path = [self.root]
        while path[-1].own and not path[-1].is_over:
            path.append(self.choose(path[-1]))
        return path

    def choose(self, node: Node) -> Node:
        """The child that a descent goes on to, a new one if none of the tried ones is better."""
        explore, untried = self.exploration(node), self.untried_value(node)
        tried = len(node.children)
        scores = []
        for (_, prior), child in zip(node.candidates, node.children, strict=False):
            weight = child.weight
            value = untried  # while its first evaluation is awaited
            if child.mean:
                value = node.sign * child.mean["utility"]
            if child.pending:
                lost = self.params.virtual_loss * child.pending
                value += (-self.radius - value) * lost / (lost + max(0.25, weight))
                weight += lost
            scores.append(value + explore * prior / (1 + weight))
        if tried < len(node.candidates):
            scores.append(untried + explore * node.candidates[tried].prior)
        best = max(range(len(scores)), key=scores.__getitem__)  # the first of equals
        others = [scores[best] - score for score in scores if score < scores[best]]
        self.closest = min([self.closest, *others])
        if best == tried:
            point = node.candidates[tried].point
            child = Node(play(node.position, point))
            if self.params.value_bias and node.position.move_number and point != PASS:
                child.pattern = pattern(node.position, point)
                self.biases.setdefault(child.pattern, [0.0, 0.0])
            node.children.append(child)
        return node.children[best]

    @property
    def radius(self) -> float:
        """The largest utility."""
        return self.params.win_utility + self.params.static_score + self.params.dynamic_score

    def exploration(self, node: Node) -> float:
        """What a prior of 1 adds to the value of a move without weight."""
        params = self.params
        below = node.below
        base = params.exploration_base
        explore = params.exploration + params.exploration_log * math.log((below + base) / base)
        explore *= math.sqrt(below + 0.01)
        if params.stdev_scale and node.weight > 1:
            usual, trust = params.stdev_prior, params.stdev_prior_weight
            mean = node.mean["utility"]
            square = max(node.mean["utility_square"], mean**2)
            variance = ((mean**2 + usual**2) * trust + square * node.weight) / (
                trust + node.weight - 1
            ) - mean**2
            explore *= 1 + params.stdev_scale * (math.sqrt(max(variance, 0.0)) / usual - 1)
        return explore

    def untried_value(self, node: Node) -> float:
        """The utility that a move not tried is thought to have, for the side to play."""
        params, tried = self.params, node.tried_prior
        at_root = node is self.root
        reduction = params.root_fpu_reduction if at_root else params.fpu_reduction
        parent = node.mean["utility"]
        if params.fpu_trusts_tried:
            trust = min(1.0, tried**2)
            parent = trust * parent + (1 - trust) * node.own["utility"]
        return node.sign * parent - reduction * math.sqrt(tried)

    # Evaluating leaves

    def visit_end(self, path: list[Node]) -> None:
        """Evaluate the end of a game by the rules; every visit counts as the node's own."""
        leaf = path[-1]
        self.counts["terminal"] += 1
        if not leaf.own:
            outcome = leaf.position.outcome()
            unfinished = outcome is not None and outcome.reason is Reason.NO_RESULT
            self.unfinished += unfinished
            score = 0.0 if unfinished else leaf.position.score().margin
            value = float((score > 0) - (score < 0))
            if score == 0 and not unfinished:
                value = 1 - 2 * self.params.white_draw_wins
            if leaf.position.komi.is_integer():
                score -= self.params.white_draw_wins - 0.5
            self.take(leaf, value, float(unfinished), score, 0.0, score)
        leaf.own_visits += 1
        self.back_up(path)

    def expand(self, leaf: Node) -> None:
        """Take in what the network says of a leaf that waits."""
        self.counts["evaluated"] += 1
        opinion, sign = self.evaluate(leaf.position), leaf.sign
        if leaf is self.root:
            self.centre = self.centre_for(sign * opinion.score)
        value = sign * (opinion.win - opinion.loss)
        score, lead = sign * opinion.score, sign * opinion.lead
        self.take(leaf, value, opinion.no_result, score, opinion.spread, lead)
        leaf.candidates = candidates(leaf.position, opinion.logits)
        leaf.own_visits, leaf.waits = 1, False
        self.expanded.setdefault(leaf.situation, leaf)

    def take(
        self, node: Node, value: float, no_result: float, score: float, spread: float, lead: float
    ) -> None:
        """Make this a node's own evaluation."""
        node.own = {"value": value, "no_result": no_result, "score": score, "lead": lead}
        node.own["score_square"] = score**2 + spread**2
        node.own["utility"] = self.utility(node)

    def utility(self, node: Node) -> float:
        """Winning first, then points: around an even game, and around what the root expects."""
        params, root_area = self.params, math.sqrt(node.position.size.area)
        score = node.own["score"]
        spread = math.sqrt(max(node.own["score_square"] - score**2, 0.0))
        static, dynamic = 2 * root_area, params.score_scale * root_area
        points = params.static_score * self.expected_atan(score / static, spread / static)
        points += params.dynamic_score * self.expected_atan(
            (score - self.centre) / dynamic, spread / dynamic
        )
        result = params.win_utility * node.own["value"]
        return result - params.white_no_result_utility * node.own["no_result"] + points

    def centre_for(self, expected: float) -> float:
        """Around which score points count most."""
        reach = self.params.score_scale * math.sqrt(self.root.position.size.area)
        centre = expected * (1 - self.params.centre_to_zero)
        return min(max(centre, expected - reach), expected + reach)

    # Means

    def back_up(self, path: list[Node]) -> None:
        for node in reversed(path):
            self.recompute(node)

    def recompute(self, node: Node) -> None:
        """Visits, weight and means of a node from its own evaluation and its children."""
        tried = zip(node.candidates, node.children, strict=False)
        visited = [(prior, child) for (_, prior), child in tried if child.visits]
        children = [child for _, child in visited]
        weights = self.without_noise(node, visited)
        shares = self.shares(node, children, weights)
        node.visits = node.own_visits + sum(child.visits for child in children)
        node.weight = node.own_visits + sum(weights)
        corrected = node.own["utility"]
        if node.pattern is not None and not node.is_over:
            below = corrected
            if children:
                found = [child.mean["utility"] for child in children]
                below = sum(s * u for s, u in zip(shares, found, strict=True)) / sum(shares)
            corrected += self.params.value_bias * self.learned_bias(node, below - corrected)
        own = node.own | {"utility": corrected, "utility_square": corrected**2}
        for name in STATISTICS:
            total = node.own_visits * own[name]
            for share, child in zip(shares, children, strict=True):
                total += share * child.mean[name]
            node.mean[name] = total / node.weight

    def learned_bias(self, node: Node, error: float) -> float:
        """Enter a node's error in the table; the mean of what is there, each by its weight."""
        assert node.pattern is not None
        entry = self.biases[node.pattern]
        if node.below:
            weight = node.below**self.params.value_bias_exponent
            entry[0] += error * weight - node.taught[0]
            entry[1] += weight - node.taught[1]
            node.taught = error * weight, weight
        return entry[0] / entry[1] if entry[1] > 0.001 else 0.0

    def without_noise(self, node: Node, children: list[tuple[float, Node]]) -> list[float]:
        """The weights of children, without what exploring bad moves put there."""
        if not self.params.noise_pruning:
            return [child.weight for _, child in children]
        kept: list[float] = []
        for k, (prior, child) in enumerate(children):
            weight = child.weight
            if k:
                before = children[:k]
                mean = sum(w * c.mean["utility"] for w, (_, c) in zip(kept, before, strict=True))
                gap = node.sign * (mean / sum(kept) - child.mean["utility"])
                fair = sum(kept) * prior / sum(p for p, _ in before)
                if gap > 0 and weight > 2 * fair:
                    bad = 1 - math.exp(-gap / self.params.noise_pruning_scale)
                    weight -= min((weight - 2 * fair) * bad, self.params.noise_pruning_cap)
            kept.append(weight)
        return kept

    def shares(self, node: Node, children: list[Node], weights: list[float]) -> list[float]:
        """How much each child counts in the mean: its weight, less if it looks bad."""
        if not children or self.params.value_weight == 0:
            return weights
        utilities = [child.mean["utility"] for child in children]
        total = sum(weights)
        average = sum(w * u for w, u in zip(weights, utilities, strict=True)) / total
        adjusted = []
        for weight, utility in zip(weights, utilities, strict=True):
            stdev = math.sqrt(1e-8 + 1 / (1.5 * math.sqrt(weight)))
            chance = 0.0001 + student_t3_cdf(node.sign * (utility - average) / stdev)
            adjusted.append(weight * chance**self.params.value_weight)
        return [weight * total / sum(adjusted) for weight in adjusted]

    # Going on with the game

    def advance(self, point: int) -> None:
        """Play a move and keep what is known of it."""
        points = [point for point, _ in self.root.candidates[: len(self.root.children)]]
        before = self.root
        if point in points and self.root.children[points.index(point)].visits:
            self.root = self.root.children[points.index(point)]
            self.free_biases(set(nodes_below(before)) - set(nodes_below(self.root)))
        else:
            self.root = Node(play(self.root.position, point))
            self.biases = {}
            self.centre = 0.0
        self.expanded = {}
        for node in sorted(nodes_below(self.root), key=lambda node: node.number):
            if node.candidates:
                self.expanded.setdefault(node.situation, node)

    def free_biases(self, dropped: set[Node]) -> None:
        """Take back four fifths of what these nodes taught, and drop entries that nobody uses."""
        for node in dropped:
            if node.pattern is not None:
                self.biases[node.pattern][0] -= 0.8 * node.taught[0]
                self.biases[node.pattern][1] -= 0.8 * node.taught[1]
        used = {node.pattern for node in nodes_below(self.root)}
        self.biases = {key: entry for key, entry in self.biases.items() if key in used}

    def recenter_utility(self) -> None:
        """Centre the score on what the root expects now; all utilities follow, the latest first."""
        if self.root.visits:
            self.centre = self.centre_for(self.root.mean["score"])
            for node in sorted(nodes_below(self.root), key=lambda node: -node.number):
                if node.visits:
                    node.own["utility"] = self.utility(node)
                    self.recompute(node)


def nodes_below(node: Node) -> list[Node]:
    """A node and all nodes below it."""
    return [node, *(each for child in node.children for each in nodes_below(child))]


def play(position: Position, point: int) -> Position:
    return position.play(None if point == PASS else index_point(point, position.width))


def situation(position: Position) -> Situation:
    """What lies before the players, and what they may do."""
    return (
        position.stones.tobytes(),
        position.to_play,
        position.ko,
        position.passes,
        tuple(position.legal_mask().tolist()),
        pass_would_end(position),
    )


def pattern(position: Position, point: int) -> Situation:
    """What a move has in common with others: see `local_key`."""
    last = position.last_move
    key = (position.to_play, last, position.ko, point)
    x0, y0 = index_point(point, position.width)
    around = []
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            at = Point(x0 + dx, y0 + dy)
            if 0 <= at.x < position.width and 0 <= at.y < position.height:
                color = position.at(at)
                atari = color is not None and position.liberties(at) == 1
                around.append((dx, dy, color, atari))
    return (*key, tuple(around))


def pass_would_end(position: Position) -> bool:
    """Would the game end if the side to play passed? For rules without a button."""
    if position.passes:
        return True
    if position.rules.ko is not KoRule.SIMPLE:
        return False
    earlier: Position | None = position
    while earlier is not None and (last := earlier.last_move) is not None:
        if last == (position.to_play, None) and earlier.stones_hash == position.stones_hash:
            return True
        earlier = earlier.previous
    return False


def candidates(position: Position, logits: list[float]) -> list[Candidate]:
    """The legal moves with their priors, the likeliest first, of equals the smaller point."""
    legal = position.legal_mask().tolist()
    most = max(logit for logit, may in zip(logits, legal, strict=True) if may)
    odds = {}
    for place, (logit, may) in enumerate(zip(logits, legal, strict=True)):
        if may:
            at = policy_point(place, position.size)
            odds[PASS if at is None else point_index(at, position.width)] = math.exp(logit - most)
    total = sum(odds.values())
    found = [Candidate(point, truncated(share / total)) for point, share in odds.items()]
    return sorted(found, key=lambda candidate: (-candidate.prior, candidate.point))


def truncated(prior: float) -> float:
    """A prior as a float32 without its last 8 bits."""
    (bits,) = struct.unpack("<I", struct.pack("<f", prior))
    (short,) = struct.unpack("<f", struct.pack("<I", bits >> 8 << 8))
    return float(short)


def student_t3_cdf(z: float) -> float:
    """Student's t distribution with 3 degrees of freedom."""
    x = z / math.sqrt(3)
    return 0.5 + (x / (1 + x * x) + math.atan(x)) / math.pi
