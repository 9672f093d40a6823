"""What a search found, for people and programs.

All numbers are for the side to play in the position that was searched; names that begin with
`black_` say otherwise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import Color
from tengen.game.geometry import Point, index_point, point_text
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation
from tengen.search.kernels.forest import (
    LEAD,
    MAX_DEPTH,
    NO_RESULT,
    SCORE,
    SCORE_SQUARE,
    STATISTICS,
    UTILITY,
    VALUE,
    Forest,
    packed_point,
)
from tengen.search.kernels.read import STACK, TRIED, average_ownership, read_tried
from tengen.search.kernels.root import play_weights
from tengen.search.request import Wanted

# Of a line: a move, the visits of the position after it, and those that came by the move.
Step: TypeAlias = tuple[Point | None, int, int]
Ownership: TypeAlias = NDArray[np.float32]  # [height, width] from -1, the opponent's, to 1
Choices: TypeAlias = tuple[tuple[Point | None, float], ...]  # moves and what they weigh


@dataclass(frozen=True, eq=False)
class Judgement:
    """The estimates for a position or a move, for the side to play at the root."""

    visits: int
    weight: float
    winrate: float  # a draw and no result count half
    no_result: float
    score: float  # expected points at the end
    spread: float  # standard deviation of these points
    lead: float  # points that would make the game fair
    utility: float

    def _numbers(self) -> dict[str, Any]:
        """What people look at first."""
        names = ("visits", "winrate", "lead", "score", "spread", "no_result", "utility")
        return {name: getattr(self, name) for name in names}

    def _in_short(self) -> str:
        return f"{self.winrate:.1%}, lead {self.lead:+.1f}, {self.visits} visits"


class Uncertainty(NamedTuple):
    """How far the network expects to be wrong; 0 where it does not say."""

    value: float  # of win minus loss, in the next turns
    score: float  # points, in the next turns
    variance_time: float  # turns for which the outcome stays open


@dataclass(frozen=True, eq=False)
class RawJudgement(Judgement):
    """The network's own judgement of a position, without search."""

    uncertainty: Uncertainty


@dataclass(frozen=True, eq=False)
class MoveResult(Judgement):
    """A move that was tried; None is a pass."""

    move: Point | None
    order: int  # 0: the move to play
    prior: float
    edge_visits: int  # that came by this move; visits may have come to its position otherwise
    lcb: float  # lower bound of the winrate, below 0 where little is known
    utility_lcb: float
    play_weight: float  # how much it deserves to be played
    pv: tuple[Point | None, ...]  # the line expected, this move first
    pv_visits: tuple[int, ...]  # of the position after each move,
    pv_edge_visits: tuple[int, ...]  # and those of them that came by this move
    height: int  # of the board: rows of coordinates count from the bottom
    symmetry_of: Point | None = None  # searched in the place of this move
    ownership: Ownership | None = None
    ownership_stdev: Ownership | None = None

    @property
    def text(self) -> str:
        """The move as text, such as D4 or pass."""
        return point_text(self.move, self.height)

    @property
    def pv_text(self) -> str:
        """The line expected as text, such as `D4 Q16 pass`."""
        return " ".join(point_text(move, self.height) for move in self.pv)

    def to_dict(self) -> dict[str, Any]:
        """A flat row of plain values."""
        own = {"order": self.order, "prior": self.prior, "lcb": self.lcb, "pv": self.pv_text}
        return {"move": self.text, **self._numbers(), **own}

    def __repr__(self) -> str:
        return f"<MoveResult {self.text}: {self._in_short()}>"


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
    stopped_by: str  # the limit that ended it; "running" for a search under way
    root_evaluation: Evaluation | None = None  # the network's full output, if wanted and known
    human: Evaluation | None = None  # that of a network that imitates people, if one was asked
    # What legal moves weigh in a choice as people make it, if it is made so.
    choices: Choices = ()

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
    def text(self) -> str:
        """The move to play as text, such as D4 or pass."""
        return point_text(self.move, self.position.height)

    @property
    def pv(self) -> tuple[Point | None, ...]:
        """The line expected from here."""
        return self.moves[0].pv if self.moves else ()

    @property
    def pv_text(self) -> str:
        """The line expected from here as text, such as `D4 Q16 pass`."""
        return self.moves[0].pv_text if self.moves else ""

    @property
    def black_winrate(self) -> float:
        """The winrate of Black."""
        return self.winrate if self.position.to_play is Color.BLACK else 1 - self.winrate

    @property
    def black_lead(self) -> float:
        """Points by which Black leads."""
        return self.lead if self.position.to_play is Color.BLACK else -self.lead

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold, the moves as a list of such."""
        return {**self._row(), "moves": [move.to_dict() for move in self.moves]}

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each move that was tried, for data frames."""
        position = self.position
        of_position = {"move_number": position.move_number, "to_play": str(position.to_play)}
        return [{**of_position, **move.to_dict()} for move in self.moves]

    def _row(self) -> dict[str, Any]:
        position = self.position
        return {
            "size": str(position.size),
            "rules": str(position.rules),
            "komi": position.komi,
            "move_number": position.move_number,
            "to_play": str(position.to_play),
            "move": self.text,
            **self._numbers(),
            "black_winrate": self.black_winrate,
            "black_lead": self.black_lead,
            "pv": self.pv_text,
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        return f"<SearchResult {self.position.to_play} to play, {self.text}: {self._in_short()}>"


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


def empty_result(position: Position, reason: str) -> SearchResult:
    """The result of a search that ended before it began."""
    nothing = _judged(0, 0.0, [0.0] * STATISTICS, 1)
    return SearchResult(
        position=position,
        moves=(),
        policy=np.zeros(position.size.area + 1, np.float32),
        raw=RawJudgement(**nothing, uncertainty=Uncertainty(0.0, 0.0, 0.0)),
        ownership=None,
        ownership_stdev=None,
        reused=0,
        evaluated=0,
        shared=0,
        seconds=0.0,
        stopped_by=reason,
        **nothing,
    )


def read_result(
    forest: Forest,
    g: int,
    settings: Any,
    position: Position,
    wanted: Wanted,
    start: Start,
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
    return _judged(int(node[visits]), float(node[weight]), means, sign)


def _judged(visits: int, weight: float, means: list[float], sign: int) -> dict[str, Any]:
    score = sign * means[SCORE]
    return {
        "visits": visits,
        "weight": weight,
        "winrate": min(1.0, max(0.0, (1 + sign * means[VALUE]) / 2)),
        "no_result": means[NO_RESULT],
        "score": score,
        "spread": math.sqrt(max(0.0, means[SCORE_SQUARE] - score * score)),
        "lead": sign * means[LEAD],
        "utility": sign * means[UTILITY],
    }


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
            judged = _judged(visits, weight, means, sign)
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
