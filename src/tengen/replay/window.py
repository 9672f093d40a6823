"""How many of the latest rows are learned from: more as a run goes on, but ever fewer of all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowParams:
    """KataGo's window, which grows as a power of all rows ever made."""

    # Everything is learned from up to here. Fewer rows are learned by heart; more, and the games
    # of the first minutes, which are next to random, stay in too long.
    start: int = 200_000
    # Below 1, so that old games leave: after 100 times the start the window is 17 times the start.
    exponent: float = 0.75
    # How fast it grows at the start: 0.4 rows for each new one, so the first games leave at once.
    scale: float = 0.4


def window_size(total_rows: int, params: WindowParams) -> int:
    """How many of the latest rows to draw from, of all the rows that a run has made."""
    if total_rows <= params.start:
        return total_rows
    grown = ((total_rows / params.start) ** params.exponent - 1) / params.exponent
    return min(total_rows, int(params.start * (1 + params.scale * grown)))
