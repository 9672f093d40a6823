"""The clocks of a game: charged in real time, shown to the page, saved and restored."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from tengen.frontends.web.play.client_messages import ClockTerms
from tengen.game.color import Color
from tengen.search.clock import (
    DEFAULT_LAG,
    Clock,
    TimeControl,
    after_move,
    budget,
    during_move,
    expected_moves_left,
    seconds_to_flag,
    started,
)

SHORTEST_THINKING = 0.05  # seconds
SHORT_OF_TIME = 60.0  # seconds


class GameClock:
    """Two clocks, of which at most one runs."""

    def __init__(self, terms: ClockTerms) -> None:
        self.terms = terms
        self._control = TimeControl.byo_yomi(
            terms.main, terms.period if terms.periods else 0.0, max(1, terms.periods)
        )
        self._clocks = {color: started(self._control) for color in Color}
        self.running: Color | None = None  # the colour whose clock runs
        self._since = 0.0

    def run(self, color: Color | None) -> None:
        """Stop the running clock and start that of a colour, or none."""
        if color is self.running:
            return
        if self.running is not None:
            self._clocks[self.running] = self._now(self.running)
        self.running, self._since = color, time.monotonic()

    def moved(self, color: Color) -> None:
        """Charge a colour for the move it made; its clock stops."""
        if self.running is color:
            used = time.monotonic() - self._since
            self._clocks[color] = after_move(self._clocks[color], used)
            self.running = None

    def fallen(self, color: Color) -> bool:
        """Has this colour exceeded its time?"""
        return self._now(color).fallen

    def seconds_to_flag(self) -> float:
        """How long until the running clock falls, infinity if none runs."""
        if self.running is None:
            return math.inf
        return seconds_to_flag(self._now(self.running))

    def thinking_time(self, color: Color, area: int, move_number: int) -> float | None:
        """How long a program should think about its move."""
        moves = expected_moves_left(area, move_number)
        allowed = budget(self._now(color), DEFAULT_LAG, moves)
        return None if allowed is None else max(allowed.target, SHORTEST_THINKING)

    def _now(self, color: Color) -> Clock:
        clock = self._clocks[color]
        if self.running is not color:
            return clock
        return during_move(clock, time.monotonic() - self._since)

    # For pages and for files

    def view(self) -> dict[str, Any]:
        """The time both have left, as JSON."""
        running = None if self.running is None else str(self.running)
        return {**{str(color): self._left(color) for color in Color}, "running": running}

    def _left(self, color: Color) -> dict[str, float]:
        clock = self._now(color)
        control = clock.control
        main = 0.0 if clock.in_overtime else clock.left
        period = clock.left if clock.in_overtime else control.period
        periods = clock.periods if control.period else 0
        return {"main": round(main, 2), "period": round(period, 2), "periods": periods}

    def saved(self) -> dict[str, Any]:
        """The state as JSON."""
        clocks = {color: self._now(color) for color in Color}
        return {
            "terms": self.terms.model_dump(),
            **{
                str(color): [clock.left, clock.periods, clock.stones, clock.fallen]
                for color, clock in clocks.items()
            },
        }

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> GameClock:
        """A saved clock; neither side's runs. Raises ValueError, KeyError, TypeError."""
        clock = cls(ClockTerms(**saved["terms"]))
        clock._set(saved)
        return clock

    def set_back(self, saved: Mapping[str, Any] | None) -> None:
        """After moves were taken back: the clocks as they stood then, and neither runs.

        Where that is not known, whoever ran out of time gets a last period, or a minute.
        """
        self.run(None)
        if saved is not None:
            self._set(saved)
        for color, clock in self._clocks.items():
            if clock.fallen:
                left = self._control.period or min(SHORT_OF_TIME, self._control.main)
                stones = 1 if self._control.period else 0
                self._clocks[color] = Clock(self._control, left, 1, stones)

    def _set(self, saved: Mapping[str, Any]) -> None:
        for color in Color:
            left, periods, stones, fallen = saved[str(color)]
            self._clocks[color] = Clock(
                self._control, float(left), int(periods), int(stones), bool(fallen)
            )
