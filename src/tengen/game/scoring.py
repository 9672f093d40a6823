"""Results of games: the score of a board, its dead stones, and who won why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, EMPTY, WHITE, Color, parse_color
from tengen.game.geometry import Point
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.scoring import BUTTON_POINTS, count
from tengen.game.rules import Rules, Scoring

if TYPE_CHECKING:
    from tengen.game.board_view import BoardView

SURE = 0.5  # how much of a point the opponent must own, from -1 to 1
SEARCH_VISITS = 100  # enough for a search to estimate ownership


class Reason(Enum):
    """Why a game ended."""

    SCORE = "score"
    MOVE_LIMIT = "move limit"  # scored as it was
    RESIGNATION = "resignation"
    TIME = "time"
    FORFEIT = "forfeit"
    NO_RESULT = "no result"  # a long cycle under simple ko, or a game called off


@dataclass(frozen=True)
class Outcome:
    """The result of a game; the winner is None for a draw or no result."""

    winner: Color | None
    margin: float | None  # None if the board was not scored
    reason: Reason

    def __str__(self) -> str:
        """The result as SGF and GTP write it: B+3.5, W+R, W+T, 0, Void."""
        if self.reason is Reason.NO_RESULT:
            return "Void"
        if self.winner is None:
            return "0"
        by = {Reason.RESIGNATION: "R", Reason.TIME: "T", Reason.FORFEIT: "F"}.get(self.reason)
        if by is None:
            by = "" if self.margin is None else f"{self.margin:g}"
        return f"{self.winner.letter}+{by}"


_REASONS = {
    **dict.fromkeys(("r", "resign", "resignation"), Reason.RESIGNATION),
    **dict.fromkeys(("t", "time"), Reason.TIME),
    **dict.fromkeys(("f", "forfeit"), Reason.FORFEIT),
    "": Reason.SCORE,
}


def parse_outcome(text: str) -> Outcome | None:
    """Parse the value of an SGF ``RE`` property; None if it has no result."""
    folded = text.strip().lower()
    if folded in ("0", "draw", "jigo"):
        return Outcome(None, 0.0, Reason.SCORE)
    if folded == "void":
        return Outcome(None, None, Reason.NO_RESULT)
    reasons = "|".join(_REASONS)
    pattern = rf"(?P<winner>b|black|w|white)\s*\+\s*(?:(?P<by>\d+(?:[.,]\d+)?)|(?P<why>{reasons}))"
    match = re.fullmatch(pattern, folded, re.ASCII)
    if not match:
        return None
    winner = parse_color(match["winner"])
    if match["by"]:
        return Outcome(winner, float(match["by"].replace(",", ".")), Reason.SCORE)
    return Outcome(winner, None, _REASONS[match["why"]])


class Tally(NamedTuple):
    """The points of one side, by kind; `tax` is subtracted."""

    stones: int
    territory: int
    prisoners: int
    tax: int
    compensation: float  # komi, handicap bonus and button

    @property
    def total(self) -> float:
        return self.stones + self.territory + self.prisoners - self.tax + self.compensation


@dataclass(frozen=True, eq=False)
class Score:
    """The tallies of both sides and the owner of each point."""

    black: Tally
    white: Tally
    owner: NDArray[np.int8]  # [height, width]: the colour it counts for, or 0

    @property
    def margin(self) -> float:
        """Black's points minus White's."""
        return self.black.total - self.white.total

    def outcome(self, reason: Reason) -> Outcome:
        """The result of a game with this score."""
        winner = None if self.margin == 0 else Color.BLACK if self.margin > 0 else Color.WHITE
        return Outcome(winner, float(abs(self.margin)), reason)

    def __str__(self) -> str:
        return str(self.outcome(Reason.SCORE))


def count_board(board: Any) -> Score:
    """Score a board record as it is; callers remove dead stones first.

    A button that nobody took goes to the side to play.
    """
    scratch = new_life_scratch(1)[0]
    count(board, scratch)
    compensation = {EMPTY: 0.0, BLACK: 0.0, WHITE: float(board.komi)}
    compensation[int(board.to_play if board.button else board.button_owner)] += BUTTON_POINTS
    black, white = (
        Tally(
            int(scratch.stones[color]),
            int(scratch.territory[color]),
            int(scratch.prisoners[color]),
            int(scratch.tax[color]),
            compensation[color],
        )
        for color in (BLACK, WHITE)
    )
    return Score(black, white, on_board(scratch.owner, board.width, board.height))


def on_board(points: NDArray[np.int8], width: int, height: int) -> NDArray[np.int8]:
    """[height, width]: an array over board indices without the border."""
    rows = points[: (height + 2) * (width + 1)].reshape(height + 2, width + 1)
    return rows[1:-1, 1:].copy()


def counts_dead_stones(rules: Rules) -> bool:
    """Whether all stones on the board count for their colour, dead or not.

    True under area scoring if players have to capture dead stones before they pass.
    """
    return rules.scoring is Scoring.AREA and not rules.friendly_pass


def dead_stones(board: BoardView, ownership: NDArray[np.float32] | None) -> frozenset[Point]:
    """The stones of chains on whose every point the opponent's ownership exceeds SURE.

    `ownership` is [height, width], from -1 to 1 for the side to play, as in search results; if
    None, no stone is dead.
    """
    if ownership is None:
        return frozenset()
    stones = {Point(int(x), int(y)) for y, x in np.argwhere(board.stones)}
    dead: set[Point] = set()
    while stones:
        chain = board.chain(stones.pop())
        stones.difference_update(chain)
        sign = -1 if board.at(chain[0]) is board.to_play else 1
        if all(sign * ownership[y, x] > SURE for x, y in chain):
            dead.update(chain)
    return frozenset(dead)
