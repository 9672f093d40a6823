"""The result of a game: winner, margin and reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from tengen.game.color import Color, parse_color


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
