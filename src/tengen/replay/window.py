"""The size of the replay window: how many of the latest rows batches are drawn from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowParams:
    """KataGo's window, which grows with a power of all rows ever made."""

    # Up to here all rows are in the window. A smaller window overfits; a larger one keeps the
    # almost random games of the first minutes for too long.
    start: int = 200_000
    # Below 1, so that old games leave: after 100 times `start` rows the window is 17 times `start`.
    exponent: float = 0.75
    # How fast the window grows at `start`: by 0.4 rows for each new one.
    scale: float = 0.4


def window_size(total_rows: int, params: WindowParams) -> int:
    """How many of the latest rows to draw from, of all the rows ever made."""
    if total_rows <= params.start:
        return total_rows
    grown = ((total_rows / params.start) ** params.exponent - 1) / params.exponent
    return min(total_rows, int(params.start * (1 + params.scale * grown)))
