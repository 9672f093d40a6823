"""Reads what a tree has found, as a `SearchResult`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, index_point
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.search.kernels.forest import MAX_DEPTH, Forest, packed_point
from tengen.search.kernels.read_tree import STACK, TRIED, average_ownership, read_tried
from tengen.search.kernels.root import play_weights
from tengen.search.request import Wanted
from tengen.search.result import (
    MoveResult,
    Ownership,
    RawJudgement,
    SearchResult,
    Uncertainty,
    judgement_fields,
)

# Of a line: a move, the visits of the position after it, and those that came by the move.
Step: TypeAlias = tuple[Point | None, int, int]


class SearchStart(NamedTuple):
    """Where a search began, to tell what it did itself."""

    time: float
    visits: int
    evaluated: int
    shared: int


def start_of(forest: Forest, g: int) -> SearchStart:
    """Where a search of tree g begins that begins now."""
    tree = forest.trees[g]
    visits = int(forest.nodes[tree["root"]]["visits"])
    return SearchStart(time.monotonic(), visits, int(tree["evaluated"]), int(tree["shared"]))


def read_result(
    forest: Forest,
    g: int,
    settings: Any,
    position: Position,
    wanted: Wanted,
    start: SearchStart,
    reason: str,
) -> SearchResult:
    """What tree g has found about the position at its root."""
    tree = forest.trees[g]
    root = forest.nodes[tree["root"]]
    sign = 3 - 2 * int(position.to_play)
    ownership = stdev = None
    if wanted.ownership and root["visits"]:
        ownership, stdev = tree_ownership(forest, int(tree["root"]), sign, position)
    return SearchResult(
        position=position,
        moves=read_moves(forest, g, settings, position, wanted),
        policy=root_policy(forest, g, position),
        raw=RawJudgement(
            **judgement(root, sign, own=True),
            uncertainty=Uncertainty(*(root["uncertainty"] * bool(root["own_visits"])).tolist()),
        ),
        ownership=ownership,
        ownership_stdev=stdev,
        reused=start.visits,
        evaluated=int(tree["evaluated"]) - start.evaluated,
        shared=int(tree["shared"]) - start.shared,
        seconds=time.monotonic() - start.time,
        stopped_by=reason,
        **judgement(root, sign),
    )


def judgement(node: Any, sign: int, own: bool = False) -> dict[str, Any]:
    """The fields of a Judgement from a node's statistics, turned by the sign."""
    visits, weight = ("own_visits", "own_weight") if own else ("visits", "weight")
    means = node["own" if own else "means"].tolist()
    return judgement_fields(int(node[visits]), float(node[weight]), means, sign)


def edges_of(forest: Forest, index: int) -> Iterator[Any]:
    """The edges from a node to the children that were tried."""
    node = forest.nodes[index]
    for tried in forest.candidates[node["block"] : node["block"] + node["n_tried"]]:
        yield forest.edges[tried]


def child_by(forest: Forest, index: int, move: Point | None, width: int) -> int | None:
    """The child of a node by a move, None if it was not tried."""
    for edge in edges_of(forest, index):
        if _point(packed_point(edge["packed"]), width) == move:
            return int(edge["child"])
    return None


def read_moves(
    forest: Forest, g: int, settings: Any, position: Position, wanted: Wanted
) -> tuple[MoveResult, ...]:
    """The moves tried at the root of tree g, the best first."""
    index = int(forest.trees[g]["root"])
    n = int(forest.nodes[index]["n_tried"])
    if n == 0:
        return ()
    shares = np.zeros(n, np.float32)
    best, weights = play_weights(forest, g, settings, shares), shares.tolist()
    if not any(weights):  # all visits were without weight: the priors decide
        own = [
            float(forest.policy[g][packed_point(each["packed"])])
            for each in edges_of(forest, index)
        ]
        weights = [prior / max(own) for prior in own]
        best = weights.index(1.0)
    found = _candidates(forest, index, settings, position, wanted)
    # Reported priors are without the wide root noise.
    if forest.trees[g]["prepared"] and not forest.trees[g]["noisy"]:
        own = forest.policy[g]
        found = [
            each._replace(tried=each.tried._replace(prior=float(own[each.tried.point])))
            for each in found
        ]
    found.sort(key=lambda each: (each.number != best, -weights[each.number], -each.tried.packed))
    return tuple(
        _move(forest, each, order, weights[each.number], position, wanted)
        for order, each in enumerate(found)
    )


def read_moves_below(
    forest: Forest, index: int, settings: Any, position: Position, wanted: Wanted
) -> tuple[MoveResult, ...]:
    """The moves tried at any node, where the position stands, the most visited first."""
    found = _candidates(forest, index, settings, position, wanted)
    found.sort(key=lambda each: (-each.tried.visits, -each.tried.packed))
    return tuple(
        _move(forest, each, order, float(each.tried.visits), position, wanted)
        for order, each in enumerate(found)
    )


class _Tried(NamedTuple):
    """TRIED in Python."""

    child: int
    point: int
    prior: float
    packed: int
    visits: int
    weight: float
    bound: float
    following: int


class _Candidate(NamedTuple):
    """A move whose position has visits, if only some that were not counted."""

    number: int  # among those tried
    tried: _Tried
    judged: dict[str, Any]  # the position after it
    lcb: float  # of its winrate
    line: list[Step]


def _candidates(
    forest: Forest, index: int, settings: Any, position: Position, wanted: Wanted
) -> list[_Candidate]:
    """The moves with visits at a node, where the position stands."""
    n, width = int(forest.nodes[index]["n_tried"]), position.width
    length = max(0, min(wanted.pv_length - 1, MAX_DEPTH))
    lines = np.zeros((3, n, length), np.int32)  # points, visits, edge visits
    records = np.zeros(n, TRIED)
    sign = 3 - 2 * int(position.to_play)
    read_tried(forest, index, np.float32(sign), settings, records, *lines)
    nodes = forest.nodes[records["child"]]
    columns = nodes["visits"], nodes["weight"], nodes["means"], lines.transpose(1, 2, 0)
    rows = zip(records.tolist(), *(column.tolist() for column in columns), strict=True)
    # The bound is one of utility: the winrate gets the share of it that winning has in utility.
    share = float(0.5 / (1 + settings["static_score"] + settings["dynamic_score"]))
    found = []
    for number, (record, visits, weight, means, line) in enumerate(rows):
        tried = _Tried._make(record)
        if visits:
            first = tried.point, visits, tried.visits
            moves = [(_point(p, width), v, e) for p, v, e in (first, *line[: tried.following])]
            judged = judgement_fields(visits, weight, means, sign)
            lcb = judged["winrate"] - share * (judged["utility"] - tried.bound)
            found.append(_Candidate(number, tried, judged, lcb, _until_end(moves, position)))
    return found


def _until_end(line: list[Step], position: Position) -> list[Step]:
    """A line up to the pass that ends the game, though a search may look further."""
    if all(move is not None for move, _, _ in line):
        return line
    for length, (move, _, _) in enumerate(line, 1):
        position = position.play(move, strict=False)
        if position.is_over:
            return line[:length]
    return line


def _move(
    forest: Forest,
    candidate: _Candidate,
    order: int,
    play_weight: float,
    position: Position,
    wanted: Wanted,
) -> MoveResult:
    tried, line = candidate.tried, candidate.line
    facts = {**candidate.judged, "weight": tried.weight}
    ownership = stdev = None
    if wanted.moves_ownership:
        sign = 3 - 2 * int(position.to_play)
        ownership, stdev = tree_ownership(forest, tried.child, sign, position)
    return MoveResult(
        move=line[0][0],
        order=order,
        prior=tried.prior,
        edge_visits=tried.visits,
        lcb=candidate.lcb,
        utility_lcb=tried.bound,
        play_weight=play_weight,
        pv=tuple(point for point, _, _ in line),
        pv_visits=tuple(visits for _, visits, _ in line),
        pv_edge_visits=tuple(visits for _, _, visits in line),
        height=position.height,
        ownership=ownership,
        ownership_stdev=stdev,
        **facts,
    )


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
