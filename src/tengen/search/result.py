"""What a search found, for people and programs; always for the side to play."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, index_point
from tengen.game.moves import PASS
from tengen.game.position import Position
from tengen.search.backup import link_weight
from tengen.search.doubts import Doubt
from tengen.search.forest import (
    LEAD,
    MAX_DEPTH,
    NO_RESULT,
    SCORE,
    SCORE_SQUARE,
    UTILITY,
    VALUE,
    Forest,
    edge_point,
    edge_prior,
)
from tengen.search.read import STACK, average_ownership, principal_line
from tengen.search.root import lower_bound, play_weights

# Winrate and points that a pass may cost: what is worth playing is worth a point or more.
_PASS_TOLERANCE = 0.005, 0.5

Ownership: TypeAlias = NDArray[np.float32]  # [height, width] from -1, the opponent's, to 1


@dataclass(frozen=True, eq=False)
class Judgement:
    """What is thought of a position or of a move, for the side to play at the root."""

    visits: int
    weight: float
    winrate: float  # a draw and no result count half
    no_result: float
    score: float  # expected points at the end
    spread: float  # standard deviation of these points
    lead: float  # points that would make the game fair
    utility: float


@dataclass(frozen=True, eq=False)
class RawJudgement(Judgement):
    """What the network itself thinks of a position, and how unsure it is."""

    doubt: Doubt | None  # None if it is not known any more


@dataclass(frozen=True, eq=False)
class MoveResult(Judgement):
    """A move that was tried; None is a pass."""

    move: Point | None
    order: int  # 0: the move to play
    prior: float
    edge_visits: int  # that came by this move; visits may have come to its position otherwise
    lcb: float  # lower bound of the winrate
    utility_lcb: float
    play_weight: float  # how much it deserves to be played
    pv: tuple[Point | None, ...]  # the line expected, this move first
    pv_visits: tuple[int, ...]  # of the position after each move,
    pv_edge_visits: tuple[int, ...]  # and those of them that came by this move
    symmetry_of: Point | None = None  # searched in the place of this move
    ownership: Ownership | None = None
    ownership_stdev: Ownership | None = None


@dataclass(frozen=True, eq=False)
class SearchResult(Judgement):
    """What a search found in a position, for the side to play."""

    position: Position
    moves: tuple[MoveResult, ...]  # the best first; empty if nothing was tried
    policy: NDArray[np.float32]  # [area + 1] the network's own, 0 where illegal; pass last
    raw: RawJudgement  # the network's own judgement of the position
    ownership: Ownership | None  # averaged over the tree
    ownership_stdev: Ownership | None
    reused: int  # visits kept from the search before
    evaluated: int  # leaves that the network saw in this search
    shared: int  # leaves that an equal position in the tree had an evaluation for
    seconds: float
    stopped_by: str  # which limit ended it; "running" for a look at a search under way

    @property
    def move(self) -> Point | None:
        """The move to play, None for a pass; without any visit to a move, the policy's first."""
        if self.moves:
            return self.moves[0].move
        if not self.policy.any():
            return None
        place = int(self.policy.argmax())
        if place == self.position.size.area:
            return None
        return Point(place % self.position.width, place // self.position.width)

    @property
    def pv(self) -> tuple[Point | None, ...]:
        """The line expected from here."""
        return self.moves[0].pv if self.moves else ()

    @property
    def score_lead(self) -> float:
        """Points by which the side to play leads."""
        return self.lead


@dataclass(frozen=True)
class Wanted:
    """What of a result is worth its time."""

    ownership: bool = False
    moves_ownership: bool = False
    pv_length: int = 15

    def within(self, *, ownership: bool) -> Wanted:
        """What of it a tree can tell, which may not remember who owns what."""
        return self if ownership else replace(self, ownership=False, moves_ownership=False)


THE_USUAL = Wanted()


class Start(NamedTuple):
    """Where a search began, to tell what it did itself."""

    time: float
    visits: int
    evaluated: int
    shared: int


def start_of(forest: Forest, g: int) -> Start:
    """Where a search of tree g begins that begins now."""
    tree = forest.trees[g]
    visits = int(forest.nodes[tree["root"]]["visits"])
    return Start(time.monotonic(), visits, int(tree["evaluated"]), int(tree["shared"]))


def read_result(
    forest: Forest,
    g: int,
    settings: Any,
    position: Position,
    wanted: Wanted,
    start: Start,
    reason: str,
) -> SearchResult:
    """What tree g knows of the position it stands at; how unsure the network was it does not."""
    tree = forest.trees[g]
    root = forest.nodes[tree["root"]]
    sign = 3 - 2 * int(position.to_play)
    ownership = stdev = None
    if wanted.ownership and root["visits"]:
        ownership, stdev = tree_ownership(forest, int(tree["root"]), sign, position)
    return SearchResult(
        position=position,
        moves=_with_sensible_pass(read_moves(forest, g, settings, position, wanted)),
        policy=root_policy(forest, g, position),
        raw=RawJudgement(**judgement(root, sign, own=True), doubt=None),
        ownership=ownership,
        ownership_stdev=stdev,
        reused=start.visits,
        evaluated=int(tree["evaluated"]) - start.evaluated,
        shared=int(tree["shared"]) - start.shared,
        seconds=time.monotonic() - start.time,
        stopped_by=reason,
        **judgement(root, sign),
    )


def _with_sensible_pass(moves: tuple[MoveResult, ...]) -> tuple[MoveResult, ...]:
    """The moves with a pass first, if nothing is lost by it: finished games should end."""
    if not moves or moves[0].move is None:
        return moves
    best = moves[0]
    for k, each in enumerate(moves):
        if (
            each.move is None
            and each.winrate >= best.winrate - _PASS_TOLERANCE[0]
            and each.lead >= best.lead - _PASS_TOLERANCE[1]
        ):
            reordered = (each, *moves[:k], *moves[k + 1 :])
            return tuple(replace(move, order=i) for i, move in enumerate(reordered))
    return moves


def judgement(node: Any, sign: int, own: bool = False) -> dict[str, Any]:
    """The fields of a Judgement from a node's statistics, turned by the sign."""
    means = node["own"] if own else node["means"]
    value, score = sign * float(means[VALUE]), sign * float(means[SCORE])
    return {
        "visits": int(node["own_visits"] if own else node["visits"]),
        "weight": float(node["own_weight"] if own else node["weight"]),
        "winrate": (1 + value) / 2,
        "no_result": float(means[NO_RESULT]),
        "score": score,
        "spread": float(np.sqrt(max(0.0, float(means[SCORE_SQUARE]) - score * score))),
        "lead": sign * float(means[LEAD]),
        "utility": sign * float(means[UTILITY]),
    }


def links_of(forest: Forest, index: int) -> Iterator[Any]:
    """The links from a node to the children that were tried."""
    node = forest.nodes[index]
    for tried in forest.candidates[node["block"] : node["block"] + node["n_tried"]]:
        yield forest.links[tried]


def child_by(forest: Forest, index: int, move: Point | None, width: int) -> int | None:
    """The child of a node by a move, None if it was not tried."""
    for link in links_of(forest, index):
        if _point(edge_point(link["edge"]), width) == move:
            return int(link["child"])
    return None


def read_moves(
    forest: Forest, g: int, settings: Any, position: Position, wanted: Wanted
) -> tuple[MoveResult, ...]:
    """The moves tried at the root of tree g, the best first."""
    root = forest.nodes[forest.trees[g]["root"]]
    n = int(root["n_tried"])
    if n == 0:
        return ()
    sign = 3 - 2 * int(position.to_play)
    weights = np.zeros(n, np.float32)
    best = play_weights(forest, g, settings, weights)
    links = enumerate(links_of(forest, int(forest.trees[g]["root"])))
    found = [(k, link) for k, link in links if link["visits"]]
    found.sort(key=lambda each: (each[0] != best, -weights[each[0]], -int(each[1]["edge"])))
    return tuple(
        _move(forest, link, order, float(weights[k]), sign, settings, position, wanted)
        for order, (k, link) in enumerate(found)
    )


def read_moves_below(
    forest: Forest, index: int, settings: Any, position: Position, wanted: Wanted
) -> tuple[MoveResult, ...]:
    """The moves tried at any node, where the position stands, the most visited first."""
    found = [link for link in links_of(forest, index) if link["visits"]]
    found.sort(key=lambda link: (-int(link["visits"]), -int(link["edge"])))
    sign = 3 - 2 * int(position.to_play)
    return tuple(
        _move(forest, link, order, float(link["visits"]), sign, settings, position, wanted)
        for order, link in enumerate(found)
    )


def _move(
    forest: Forest,
    link: Any,
    order: int,
    play_weight: float,
    sign: int,
    settings: Any,
    position: Position,
    wanted: Wanted,
) -> MoveResult:
    child = forest.nodes[link["child"]]
    facts = judgement(child, sign)
    facts["weight"] = float(link_weight(link, child))
    utility_lcb = float(lower_bound(child, np.float32(sign), settings))
    radius = (facts["utility"] - utility_lcb) / 2
    line = _line(forest, link, position.width, wanted.pv_length)
    ownership = stdev = None
    if wanted.moves_ownership:
        ownership, stdev = tree_ownership(forest, int(link["child"]), sign, position)
    return MoveResult(
        move=_point(edge_point(link["edge"]), position.width),
        order=order,
        prior=float(edge_prior(link["edge"])),
        edge_visits=int(link["visits"]),
        lcb=max(0.0, facts["winrate"] - radius),
        utility_lcb=utility_lcb,
        play_weight=play_weight,
        pv=tuple(point for point, _, _ in line),
        pv_visits=tuple(visits for _, visits, _ in line),
        pv_edge_visits=tuple(visits for _, _, visits in line),
        ownership=ownership,
        ownership_stdev=stdev,
        **facts,
    )


def _line(
    forest: Forest, link: Any, width: int, length: int
) -> list[tuple[Point | None, int, int]]:
    """Moves, each with the visits of the position after it and those that came by it."""
    points = np.zeros(min(length, MAX_DEPTH), np.int32)
    visits, edge_visits = np.zeros((2, len(points)), np.int32)
    n = principal_line(forest, int(link["child"]), points, visits, edge_visits)
    child = forest.nodes[link["child"]]
    first = _point(edge_point(link["edge"]), width), int(child["visits"]), int(link["visits"])
    rest = [(_point(int(points[k]), width), int(visits[k]), int(edge_visits[k])) for k in range(n)]
    return [first, *rest][: max(1, length)]


def _point(index: int, width: int) -> Point | None:
    return None if index == PASS else index_point(int(index), width)


def tree_ownership(
    forest: Forest, index: int, sign: int, position: Position
) -> tuple[Ownership, Ownership]:
    """Who will own each point, averaged over the tree below a node, and how much that varies."""
    mean, square = np.zeros((2, position.size.area), np.float32)
    todo, shares = np.zeros(STACK, np.int64), np.zeros(STACK, np.float32)
    average_ownership(forest, index, mean, square, todo, shares)
    shape = (position.height, position.width)
    stdev = np.sqrt(np.maximum(square - mean * mean, 0))
    return (sign * mean).reshape(shape), stdev.reshape(shape)


def root_policy(forest: Forest, g: int, position: Position) -> NDArray[np.float32]:
    """[area + 1] the network's own policy at the root of tree g, pass last."""
    policy = np.zeros(position.size.area + 1, np.float32)
    if forest.trees[g]["prepared"]:
        by_point = forest.policy[g]
        stride = position.width + 1
        rows = by_point[stride : stride * (position.height + 1)].reshape(position.height, stride)
        policy[:-1] = rows[:, 1:].ravel()
        policy[-1] = by_point[PASS]
    return policy
