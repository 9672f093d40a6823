"""A player's moments: costly turns that come back as puzzles after a day and after a week.

Times are seconds since 1970 by the server's clock. That clock may be wrong: a moment waits
for a fixed time after it was tried, and one that seems to have been tried in the future waits that
time from now on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from tengen.game.position import Position
from tengen.game.sgf.records import read_sgf, record, save_sgf

DAY = 24 * 3600.0
WAITS = (DAY, DAY, 7 * DAY)  # before it is asked for again, by how often it was solved in a row
MOST_MOMENTS = 100  # of a player, that are waiting
MOST_LEARNT = 500  # ids of those that were solved for good
MOST_BYTES = 3_000  # of the record of one
LONGEST_NAME = 60  # of a player


class Moment(NamedTuple):
    """A turn that cost much."""

    id: str
    sgf: str  # the game up to the turn
    played: str
    best: str
    loss: float  # points that the move lost
    black: str  # the players of the game, as its record names them
    white: str
    you: str | None  # the colour of the person, if it was played here
    level: str | None  # and who played against them
    found: float  # when
    step: int = 0  # how often it was solved in a row
    tried: float = 0.0  # when it was tried last; 0: never

    @property
    def position(self) -> Position:
        """The position before the turn; raises SgfError for a damaged record."""
        return read_sgf(self.sgf)[0].final_position()

    def waits(self, now: float) -> float:
        """The seconds until it is due, 0 or less if it is."""
        return self.tried + WAITS[self.step] - now if self.tried else 0.0


class Moments(NamedTuple):
    """All moments of a player."""

    waiting: tuple[Moment, ...] = ()
    learnt: tuple[str, ...] = ()  # ids of those that do not come back, the latest last

    def due(self, now: float) -> list[Moment]:
        """Those to be tried now, those that waited longest first."""
        return sorted((each for each in self.waiting if each.waits(now) <= 0), key=_by_age)

    def named(self, id_: str) -> Moment | None:
        """The one with an id."""
        return next((each for each in self.waiting if each.id == id_), None)

    def with_new(self, new: Iterable[Moment]) -> Moments:
        """Add unknown ones; if there are too many, those solved most often are dropped."""
        known = {each.id for each in self.waiting} | set(self.learnt)
        added = [each for each in new if each.id not in known]
        by_need = sorted((*self.waiting, *added), key=lambda each: (each.step, -each.found))
        kept = set(by_need[:MOST_MOMENTS])
        return self._replace(
            waiting=tuple(each for each in (*self.waiting, *added) if each in kept)
        )

    def without(self, id_: str) -> Moments:
        """Remove the one with an id, for good."""
        return Moments(
            tuple(each for each in self.waiting if each.id != id_),
            (*(each for each in self.learnt if each != id_), id_)[-MOST_LEARNT:],
        )

    def after(self, id_: str, *, solved: bool, now: float) -> Moments:
        """After one that was due was tried; a try of one that was not is practice."""
        moment = self.named(id_)
        if moment is None or moment.waits(now) > 0:
            return self
        step = moment.step + 1 if solved else 0
        if step == len(WAITS):
            return self.without(id_)
        tried = moment._replace(step=step, tried=now)
        return self._replace(
            waiting=tuple(tried if each.id == id_ else each for each in self.waiting)
        )

    def by_clock(self, now: float) -> Moments:
        """The same where the clock was set back: what was tried in the future was tried now."""
        if all(each.tried <= now for each in self.waiting):
            return self
        return self._replace(
            waiting=tuple(each._replace(tried=min(each.tried, now)) for each in self.waiting)
        )


def _by_age(moment: Moment) -> tuple[float, float]:
    return moment.tried, moment.found


class MomentGame(NamedTuple):
    """The game that a moment is from."""

    black: str
    white: str
    you: str | None
    level: str | None


def new_moment(
    position: Position, played: str, best: str, loss: float, game: MomentGame, now: float
) -> Moment | None:
    """A turn as a moment; None for one whose record is too long to keep."""
    sgf = save_sgf(record(position)).decode()
    if len(sgf) > MOST_BYTES:
        return None
    id_ = hashlib.sha256(f"{sgf} {played}".encode()).hexdigest()[:16]
    black, white = (name[:LONGEST_NAME] for name in (game.black, game.white))
    lost = round(loss, 2)
    return Moment(id_, sgf, played, best, lost, black, white, game.you, game.level, now)


def read_moments(content: bytes) -> Moments:
    """The moments that were written; what cannot be understood is left out."""
    try:
        told = json.loads(content or b"{}")
        waiting = tuple(each for each in map(_read, told.get("waiting", ())) if each is not None)
        learnt = tuple(str(each)[:64] for each in told.get("learnt", ()))
    except (ValueError, TypeError, AttributeError):
        return Moments()
    return Moments(waiting[-MOST_MOMENTS:], learnt[-MOST_LEARNT:])


def _read(told: Any) -> Moment | None:
    try:
        moment = Moment(**told)
        texts = (*moment[:4], moment.black, moment.white)
        numbers = (moment.loss, moment.found, moment.tried)
        if not all(isinstance(each, str) for each in texts) or moment.step not in range(len(WAITS)):
            return None
        if not all(each is None or isinstance(each, str) for each in (moment.you, moment.level)):
            return None
        return moment if all(abs(float(each)) < 1e12 for each in numbers) else None
    except (TypeError, ValueError):
        return None


def write_moments(moments: Moments) -> bytes:
    """The moments as the content of a file."""
    waiting = [each._asdict() for each in moments.waiting]
    return json.dumps({"waiting": waiting, "learnt": moments.learnt}).encode()
