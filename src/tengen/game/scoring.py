"""The score of a board, and its dead stones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import BLACK, EMPTY, WHITE, Color
from tengen.game.geometry import Point
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.scoring import BUTTON_POINTS, count
from tengen.game.outcome import Outcome, Reason
from tengen.game.rules import Rules, Scoring

if TYPE_CHECKING:
    from tengen.game.board_view import BoardView

SURE = 0.5  # how much of a point the opponent must own, from -1 to 1
SEARCH_VISITS = 100  # enough for a search to estimate ownership


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
