"""Clocks of Go: time controls, what is left after each move, and how long to think.

All times are seconds. Nothing here looks at the time of day or waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

DEFAULT_LAG = 0.1
MAX_SECONDS = 1e10  # 300 years: sums of such times stay exact enough, and finite

# Clocks are no more exact than this, whatever lag the caller hopes for.
_SHORTEST_LAG = 0.001
# How far a move that needs it may go over what a move is meant to take.
_STRETCH = 3.0
# While main time lasts, a move takes at least this multiple of what overtime gives each move. If
# strength grew with the logarithm of time, e would be best; early moves need less than later ones.
_OVERTIME_MULTIPLE = 2.0
# So many byo-yomi periods are kept to the end; one of the others may be given for a hard move.
_KEPT_PERIODS = 2
# Where each move costs more lag than the clock gives back, the lag of so many moves is put aside,
# but no more than this share of the main time.
_RESERVED_MOVES = 200
_RESERVED_SHARE = 0.2


@dataclass(frozen=True)
class TimeControl:
    """The time each player has. Made by `none`, `absolute`, `canadian`, `byo_yomi`, `fischer`.

    Raises ValueError for times and counts that cannot be.
    """

    main: float = math.inf  # infinite: no clock
    period: float = 0.0  # of overtime; 0: none
    stones: int = 1  # to be played in one period
    periods: int = 1  # to be used up; one in which its stones were played is not
    increment: float = 0.0  # for each move played
    limit: float = math.inf  # the clock never shows more
    per_move: float = math.inf  # no move may take longer

    def __post_init__(self) -> None:
        if self.main != math.inf:
            _check_seconds("main time", self.main)
        _check_seconds("overtime", self.period)
        _check_seconds("the increment", self.increment)
        if self.stones < 1:
            raise ValueError(f"overtime is for 1 stone or more, not {self.stones}")
        if self.periods < 1:
            raise ValueError(f"overtime has 1 period or more, not {self.periods}")
        if self.stones > 1 and self.periods > 1:
            raise ValueError("overtime has several periods or several stones in one, not both")
        if self.period and self.increment:
            raise ValueError("a clock has overtime or an increment, not both")
        if self.limited and not self.limit >= self.main:
            raise ValueError(f"main time {self.main:g} is over the clock's limit {self.limit:g}")
        if not self.per_move > 0:
            raise ValueError(f"the limit for one move is over 0 seconds, not {self.per_move:g}")

    @property
    def limited(self) -> bool:
        """Whether there is a clock at all."""
        return self.main != math.inf

    @classmethod
    def none(cls) -> TimeControl:
        """No clock."""
        return cls()

    @classmethod
    def absolute(cls, main: float) -> TimeControl:
        """One stretch of time for the whole game."""
        return cls(main)

    @classmethod
    def canadian(cls, main: float, period: float, stones: int) -> TimeControl:
        """After the main time, so many stones in each period; a period of 0 is no overtime."""
        return cls(main, period, stones=stones) if period else cls(main)

    @classmethod
    def byo_yomi(cls, main: float, period: float, periods: int) -> TimeControl:
        """After the main time, periods that are lost when a move outlasts them (Japanese).

        A period of 0 is no overtime.
        """
        return cls(main, period, periods=periods) if period else cls(main)

    @classmethod
    def fischer(
        cls, main: float, increment: float, limit: float = math.inf, per_move: float = math.inf
    ) -> TimeControl:
        """Every move played adds to the clock, up to the limit; no move may outlast `per_move`."""
        return cls(main, increment=increment, limit=limit, per_move=per_move)


def _check_seconds(what: str, seconds: float) -> None:
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"{what} is from 0 to {MAX_SECONDS:g} seconds, not {seconds:g}")


@dataclass(frozen=True)
class Clock:
    """What one player has left, between two moves."""

    control: TimeControl
    left: float  # of the main time, or of the running period
    periods: int  # of overtime, with the running one
    stones: int = 0  # still to be played in the running period; 0 in main time
    fallen: bool = False  # the time was exceeded

    @property
    def in_overtime(self) -> bool:
        """Whether the main time is used up."""
        return self.stones > 0


def started(control: TimeControl) -> Clock:
    """The clock before the first move."""
    return Clock(control, control.main, control.periods)


def after_move(clock: Clock, seconds_used: float) -> Clock:
    """The clock after a move that took so long. Raises nothing; time used up is a fallen flag."""
    control = clock.control
    clock = during_move(clock, seconds_used)
    if not control.limited or clock.fallen:
        return clock
    if clock.stones == 1:
        return replace(clock, left=control.period, stones=control.stones)
    if clock.stones:
        return replace(clock, stones=clock.stones - 1)
    return replace(clock, left=min(clock.left + control.increment, control.limit))


def during_move(clock: Clock, seconds_used: float) -> Clock:
    """The clock after `seconds_used` of thinking, with the move not yet played."""
    control = clock.control
    if not control.limited or clock.fallen:
        return clock
    used = max(0.0, seconds_used)
    left, periods, stones = clock.left - used, clock.periods, clock.stones
    if left <= 0 and control.period:
        if not stones:
            left, stones = left + control.period, control.stones
        lost = int(min(periods - 1, (control.period - left) // control.period))
        left, periods = left + lost * control.period, periods - lost
    fallen = left <= 0 or used > control.per_move
    return replace(clock, left=max(0.0, left), periods=periods, stones=stones, fallen=fallen)


def seconds_to_flag(clock: Clock) -> float:
    """How long a move may take before the time is exceeded; infinity without a clock."""
    control = clock.control
    if clock.fallen:
        return 0.0
    periods = clock.periods - clock.in_overtime if control.period else 0
    return min(clock.left + periods * control.period, control.per_move)


def set_left(clock: Clock, seconds: float, stones: int) -> Clock:
    """The clock as GTP's `time_left` states it; a fallen flag is up again.

    No stones means main time. With several byo-yomi periods, `stones` counts periods, as on KGS.
    More than the time control can give is cut down to that.
    """
    control = clock.control
    if not control.limited:
        return clock
    seconds = min(max(0.0, seconds), MAX_SECONDS)
    if stones < 1 or not control.period:
        return Clock(control, min(seconds, control.limit), control.periods)
    return Clock(
        control,
        min(seconds, control.period),
        periods=min(stones, control.periods),
        stones=min(stones, control.stones),
    )


class Budget(NamedTuple):
    """How long to think about one move."""

    target: float
    most: float  # never longer


def expected_moves_left(area: int, move_number: int) -> float:
    """How many moves a player may still have to make, after so many moves of both."""
    # About 70 moves on 9x9 and 280 on 19x19 settle a game; a long one is never almost over.
    return max(0.75 * area + 10 - move_number, 0.1 * area + 10) / 2


def midgame_share(area: int, move_number: int, peak: float, decay: float) -> float:
    """How far a move belongs to the middle game: from 0 at the start to 1 at the peak, then fading.

    Peak and decay are in moves on 19x19.
    """
    moves = move_number * 361 / area
    if moves < peak:
        return moves / peak
    return math.exp((peak - moves) / max(decay, 1e-9))


def budget(clock: Clock, lag: float, moves_to_go: float) -> Budget | None:
    """How long to think about the next move, or None without a clock.

    `lag` is the time that a move may take beyond its search: messages, and the evaluation under
    way when the search should stop. `moves_to_go` are the player's own.
    """
    if not clock.control.limited:
        return None
    lag = max(_SHORTEST_LAG, lag)
    if clock.in_overtime:
        return _budget_in_overtime(clock, lag)
    return _budget_in_main_time(clock, lag, max(1.0, moves_to_go))


def _budget_in_overtime(clock: Clock, lag: float) -> Budget:
    control, stones = clock.control, clock.stones
    # Twice the lag: a period that is just missed costs the game, or a period.
    target = _shortened(clock.left / stones, 2 * lag)
    usual = _shortened(control.period / control.stones, 2 * lag)
    # Slow moves leave the stones after them half of what is usual, in Canadian time.
    kept = (stones - 1) * usual / 2
    most = max(target, min(_STRETCH * target, stones * target - kept))
    if clock.periods > _KEPT_PERIODS:
        most += control.period
    return Budget(target, most)


def _budget_in_main_time(clock: Clock, lag: float, moves: float) -> Budget:
    control, left = clock.control, clock.left
    given_back = control.increment + control.period / control.stones
    reserve = min(_RESERVED_MOVES * max(0.0, lag - given_back), _RESERVED_SHARE * control.main)
    spare = max(left - control.increment - reserve, 0.01 * left)  # more than 0
    even = _shortened(control.increment + spare / moves, lag)
    if control.period:
        overtime = _budget_in_overtime(
            replace(clock, left=control.period, stones=control.stones), lag
        )
        wanted = max(even, _OVERTIME_MULTIPLE * overtime.target)
        longest = _STRETCH * max(even, overtime.target)
        return Budget(min(wanted, left + overtime.target), min(longest, left + overtime.most))
    within = min(left, control.increment + spare, control.per_move)
    most = min(_STRETCH * even, _shortened(within, 2 * lag))
    return Budget(min(even, most), most)


def _shortened(seconds: float, by: float) -> float:
    """The time less so much, but never 0 if there was some."""
    return max(seconds - by, 0.05 * seconds)
