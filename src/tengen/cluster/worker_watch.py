"""The state of all workers from their heartbeats: rates, and losses of contact."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tengen.runs.exchange import read_json, session_file, sessions
from tengen.runs.store import Store
from tengen.selfplay.fleet import Counts
from tengen.user_messages import say

LOST_SECONDS = 15.0  # without a heartbeat, which comes every 2 seconds
STARTING_SECONDS = 600.0  # until the first one: kernels may have to be compiled
SHOWN_SECONDS = 300.0  # how long a worker is shown after it left or was lost
GIVEN_UP_SECONDS = 3600.0  # after which a lost worker's heartbeat is not read any more
QUIET_SECONDS = 60.0  # without any worker, before a message says so
_COUNTS = ("ticks", "evals", "moves", "games")


@dataclass
class _Watched:
    """A worker's session. Times are by this machine's clock: those of others may differ."""

    values: dict[str, Any]
    changed: float  # when its heartbeat last changed
    first: dict[str, int]  # counts when it was first seen
    seen: bool  # alive during this watch; others may have ended long ago
    rates: dict[str, float] = field(default_factory=dict)  # per second
    lost: bool = False

    def made(self, name: str) -> int:
        """How much a count has grown during this watch."""
        return int(self.values.get(name, 0)) - self.first[name]


class WorkerWatch:
    """Follows the heartbeats of all workers."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._watched: dict[int, _Watched] = {}
        self._old: set[int] = set()  # sessions that have ended, and are not read again
        self._ended = dict.fromkeys(_COUNTS, 0)  # sums over these sessions, of this watch
        self._looked = False
        self._last_present = clock()  # when there was a worker, last
        self._absence_reported = False
        self.losses = 0  # how often contact with a worker was lost
        self.counts = Counts()  # what all workers have done since the watch began

    def look(self) -> None:
        """Read the heartbeats; reports workers that are lost or back. Raises OSError."""
        now = self._clock()
        for session in sessions(self._store):
            if session in self._old or self._has_left(session):
                continue
            values = read_json(self._store, session_file(session))
            if not values:
                continue  # it is being written: the name comes first
            if values.get("kind") != "worker":
                self._old.add(session)
                continue
            self._note(session, values, now)
        self._looked = True
        self._forget_ended(now)
        sums = {name: self._ended[name] + self._made_by_watched(name) for name in _COUNTS}
        self.counts = Counts(sums["ticks"], sums["evals"], sums["moves"], sums["games"])
        self._report_absence(now)

    def _has_left(self, session: int) -> bool:
        watched = self._watched.get(session)
        return watched is not None and _left(watched)

    def _made_by_watched(self, name: str) -> int:
        return sum(each.made(name) for each in self._watched.values())

    def _forget_ended(self, now: float) -> None:
        """Drop sessions that ended or were lost long ago; keep the sums of their counts."""
        for session, each in list(self._watched.items()):
            quiet = now - each.changed
            if quiet > (SHOWN_SECONDS if _left(each) else GIVEN_UP_SECONDS):
                self._old.add(session)
                for name in _COUNTS:
                    self._ended[name] += each.made(name)
                del self._watched[session]

    def _report_absence(self, now: float) -> None:
        """Say once that there is no worker, neither playing nor starting."""
        if any(_is_present(each) or _is_starting(each, now) for each in self._watched.values()):
            self._last_present, self._absence_reported = now, False
        elif not self._absence_reported and now - self._last_present >= QUIET_SECONDS:
            self._absence_reported = True
            seconds = now - self._last_present
            say(f"{self._store.location}: no worker for {seconds:.0f} s; it waits until one starts")

    def _note(self, session: int, values: dict[str, Any], now: float) -> None:
        before = self._watched.get(session)
        if before is None:
            if not self._looked and values.get("state") == "left":
                self._old.add(session)
                return
            first = {name: int(values.get(name, 0)) if not self._looked else 0 for name in _COUNTS}
            self._watched[session] = _Watched(values, now, first, seen=self._looked)
            _report_failure(session, values)
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
            _report_failure(session, values)
        elif before.seen and not before.lost and now - before.changed > _patience(before):
            before.lost = True
            self.losses += 1
            say(f"{named(session, values)} is lost: no heartbeat for {now - before.changed:.0f} s")

    def name(self, session: int) -> str:
        """Which worker a session is, for people."""
        watched = self._watched.get(session)
        values = watched.values if watched else {}
        if not watched:
            with suppress(OSError):
                values = read_json(self._store, session_file(session))
        return named(session, values)

    @property
    def sessions(self) -> list[int]:
        """The workers that may be playing, even if no heartbeat comes."""
        watched = list(self._watched.items())
        return [session for session, each in watched if not _left(each)]

    @property
    def present(self) -> int:
        """How many workers are there."""
        return sum(_is_present(each) for each in list(self._watched.values()))

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


def _report_failure(session: int, values: dict[str, Any]) -> None:
    """Report why a worker failed, if its last heartbeat has a reason."""
    if failure := values.get("failure"):
        say(f"{named(session, values)} has ended: {failure}")


def _patience(watched: _Watched) -> float:
    """Seconds without a heartbeat after which a worker is lost."""
    return LOST_SECONDS if "beat" in watched.values else STARTING_SECONDS


def _is_present(watched: _Watched) -> bool:
    return watched.seen and not (watched.lost or _left(watched))


def _is_starting(watched: _Watched, now: float) -> bool:
    """Whether it may still be compiling kernels."""
    return "beat" not in watched.values and now - watched.changed < STARTING_SECONDS


def _left(watched: _Watched) -> bool:
    return bool(watched.values.get("state") == "left")
