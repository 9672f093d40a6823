"""Which shards of a run's workers have been counted: ranges of numbers for each session.

It is saved inside the checkpoint, so that weights and counted games always belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Ledger:
    """The shards that were counted, each named by its session and its number there."""

    def __init__(self, saved: Mapping[str, Any] | None = None) -> None:
        """Continue from `to_json`; raises ValueError for anything else."""
        self._ranges: dict[int, list[list[int]]] = {}  # [first, last], sorted and apart
        for session, ranges in (saved or {}).items():
            for first, last in ranges:
                if not 1 <= first <= last:
                    raise ValueError(f"shards {first} to {last} of session {session}")
            self._ranges[int(session)] = sorted([first, last] for first, last in ranges)

    def __contains__(self, shard: tuple[int, int]) -> bool:
        session, number = shard
        return any(first <= number <= last for first, last in self._ranges.get(session, ()))

    def add(self, session: int, number: int) -> None:
        """Count a shard; raises ValueError if it was counted before."""
        if (session, number) in self:
            raise ValueError(f"shard {number} of session {session} was counted before")
        ranges = self._ranges.setdefault(session, [])
        ranges.append([number, number])
        ranges.sort()
        joined = [ranges[0]]
        for each in ranges[1:]:
            if each[0] == joined[-1][1] + 1:
                joined[-1][1] = each[1]
            else:
                joined.append(each)
        self._ranges[session] = joined

    def sessions(self) -> list[int]:
        """The sessions that shards were counted of, in order."""
        return sorted(self._ranges)

    def count(self, session: int) -> int:
        """How many shards of a session were counted."""
        return sum(last - first + 1 for first, last in self._ranges.get(session, ()))

    @property
    def last_session(self) -> int:
        """The highest number of a session; 0 if there is none."""
        return max(self._ranges, default=0)

    def to_json(self) -> dict[str, list[list[int]]]:
        """For a checkpoint; later changes do not show in it."""
        return {str(s): [list(each) for each in ranges] for s, ranges in self._ranges.items()}
