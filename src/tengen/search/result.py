"""What a search found, for people and programs.

All numbers are for the side to play in the position that was searched; names that begin with
`black_` say otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import Color
from tengen.game.geometry import Point, point_text
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation
from tengen.search.kernels.forest import (
    LEAD,
    NO_RESULT,
    SCORE,
    SCORE_SQUARE,
    STATISTICS,
    UTILITY,
    VALUE,
)

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

    @property
    def score_lead(self) -> float:
        """Points by which the side to play leads."""
        return self.lead


def empty_result(position: Position, reason: str) -> SearchResult:
    """The result of a search that ended before it began."""
    nothing = judgement_fields(0, 0.0, [0.0] * STATISTICS, 1)
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


def judgement_fields(visits: int, weight: float, means: list[float], sign: int) -> dict[str, Any]:
    """The fields of a Judgement from the means over a subtree, turned by the sign."""
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
