"""What a search has found, as text for people and for CGOS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.game.position import Position
    from tengen.search.result import MoveResult, SearchResult

SHOWN_MOVES = 20
# CGOS writes ownership from -1 to 1 as one of these for each point.
_LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"


def moves_text(result: SearchResult) -> str:
    """The moves of a search, one a line, for the side to play."""
    position = result.position
    head = (
        f"{position.to_play} to play, move {position.move_number + 1}: {result.visits} visits, "
        f"winrate {100 * result.winrate:.1f}%, lead {result.lead:+.1f}, "
        f"{result.seconds:.2f} s ({result.stopped_by})"
    )
    return "\n".join([head, *move_lines(position, result.moves)])


def move_lines(position: Position, moves: Sequence[MoveResult]) -> list[str]:
    """A line for each move that was tried in a position, for the side to play."""
    return [
        f"{position.text(move.move):>4}: visits {move.visits}, winrate {100 * move.winrate:.1f}%, "
        f"lcb {100 * move.lcb:.1f}%, lead {move.lead:+.1f}, prior {100 * move.prior:.2f}%, "
        f"pv {' '.join(position.text(point) for point in move.pv)}"
        for move in moves[:SHOWN_MOVES]
    ]


def ownership_text(result: SearchResult) -> str:
    """A letter for each point, row by row from the top; "" if ownership is not known."""
    if result.ownership is None:
        return ""
    last = len(_LEVELS) - 1
    values = ((min(max(owner, -1.0), 1.0) + 1) / 2 for owner in result.ownership.ravel().tolist())
    return "".join(_LEVELS[round(last * value)] for value in values)


def summary(result: SearchResult) -> str:
    """The evaluation of a position, in one line."""
    return (
        f"{result.position.to_play} wins {100 * result.winrate:.1f}% and leads by "
        f"{result.lead:+.1f}, after {result.visits} visits"
    )
