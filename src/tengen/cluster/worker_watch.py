"""What is known of the workers: their heartbeats, rates, and losses of contact."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tengen.runs.exchange import read_json, session_file, sessions
from tengen.runs.store import Store
from tengen.selfplay.fleet import Counts
from tengen.user_messages import say

LOST_SECONDS = 15.0  # without a heartbeat, which comes every 2 seconds
STARTING_SECONDS = 600.0  # until the first one: kernels may have to be compiled
SHOWN_SECONDS = 300.0  # how long a worker is shown after it left or was lost
GIVEN_UP_SECONDS = 3600.0
_COUNTS = ("ticks", "evals", "moves", "games")


@dataclass
class _Watched:
    """A session, by this machine's clock: clocks of others may differ."""

    values: dict[str, Any]
    changed: float  # when its heartbeat last changed
    first: dict[str, int]  # counts when it was first seen
    seen: bool  # alive in this watch; others may have ended long ago
    rates: dict[str, float] = field(default_factory=dict)  # per second
    lost: bool = False


class WorkerWatch:
    """Follows the heartbeats of all workers."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._watched: dict[int, _Watched] = {}
        self._old: set[int] = set()  # sessions that had ended before, and are not read again
        self._looked = False
        self.losses = 0  # of contact, so far

    def look(self) -> None:
        """Read the heartbeats; says who is lost and who is back. Raises OSError."""
        now = self._clock()
        for session in sessions(self._store):
            if session in self._old or self._is_over(session, now):
                continue
            values = read_json(self._store, session_file(session))
            if values.get("kind") != "worker":
                self._old.add(session)
                continue
            self._note(session, values, now)
        self._looked = True

    def _is_over(self, session: int, now: float) -> bool:
        """Whether a session has ended, or was lost so long ago that it is not looked for."""
        watched = self._watched.get(session)
        if watched is None:
            return False
        return _left(watched) or now - watched.changed > GIVEN_UP_SECONDS

    def _note(self, session: int, values: dict[str, Any], now: float) -> None:
        before = self._watched.get(session)
        if before is None:
            if not self._looked and values.get("state") == "left":
                self._old.add(session)
                return
            first = {name: int(values.get(name, 0)) if not self._looked else 0 for name in _COUNTS}
            self._watched[session] = _Watched(values, now, first, seen=self._looked)
            return
        if values.get("beat") != before.values.get("beat"):
            span = now - before.changed
            for name in ("games", "evals"):
                made = int(values.get(name, 0)) - int(before.values.get(name, 0))
                rate = before.rates.get(name)
                before.rates[name] = made / span if rate is None else 0.7 * rate + 0.3 * made / span
            before.values, before.changed, before.seen = values, now, True
            if before.lost:
                before.lost = False
                say(f"{named(session, values)} is back")
        elif before.seen and not before.lost and now - before.changed > _patience(before):
            before.lost = True
            self.losses += 1
            say(f"{named(session, values)} is lost: no heartbeat for {now - before.changed:.0f} s")

    def name(self, session: int) -> str:
        """Which worker a session is, for people."""
        watched = self._watched.get(session)
        values = watched.values if watched else read_json(self._store, session_file(session))
        return named(session, values)

    @property
    def counts(self) -> Counts:
        """What all workers have done since the watch began."""
        sums = dict.fromkeys(_COUNTS, 0)
        for watched in list(self._watched.values()):
            for name in _COUNTS:
                sums[name] += int(watched.values.get(name, 0)) - watched.first[name]
        return Counts(sums["ticks"], sums["evals"], sums["moves"], sums["games"])

    @property
    def present(self) -> int:
        """How many workers are there."""
        watched = list(self._watched.values())
        return sum(each.seen and not (each.lost or _left(each)) for each in watched)

    def table(self) -> list[dict[str, Any]]:
        """A line for each worker that is there or was lately."""
        now = self._clock()
        shown = []
        for session, each in sorted(self._watched.items()):
            gone = each.lost or _left(each)
            if not each.seen or (gone and now - each.changed > SHOWN_SECONDS):
                continue
            state = "lost" if each.lost else str(each.values.get("state", "starting"))
            shown.append(
                {
                    "session": session,
                    **{key: each.values.get(key) for key in ("label", "node", "pid", "device")},
                    "state": state,
                    "version": each.values.get("version", 0),
                    "games": each.values.get("games", 0),
                    "shards": each.values.get("shards", 0),
                    "games_rate": 0.0 if gone else round(each.rates.get("games", 0.0), 3),
                    "evals_rate": 0.0 if gone else round(each.rates.get("evals", 0.0), 1),
                    "silent": round(now - each.changed, 1),
                }
            )
        return shown


def named(session: int, values: dict[str, Any]) -> str:
    """A worker's name for people."""
    label = values.get("label") or "worker"
    where = f"{values.get('node', 'an unknown machine')}, process {values.get('pid', '?')}"
    return f"{label} (session {session} on {where})"


def _patience(watched: _Watched) -> float:
    """Seconds without a heartbeat after which a worker is lost."""
    return LOST_SECONDS if "beat" in watched.values else STARTING_SECONDS


def _left(watched: _Watched) -> bool:
    return bool(watched.values.get("state") == "left")
