"""The clock of a session's game: it runs while the game is played, and its flag ends the game."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession


class SessionClock:
    """Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession) -> None:
        self._session, self._loop = session, asyncio.get_running_loop()
        self._flag: asyncio.TimerHandle | None = None  # when it falls, unless there is a move

    def run(self) -> None:
        """Run the clock of the side to move while its game is played, and watch for its flag."""
        self.stop_watching()
        session, game, clock = self._session, self._session.game, self._session.game.clock
        if clock is not None:
            runs = session.connected and game.phase == "playing" and session.loader.ready
            clock.run(game.position.to_play if runs else None)
            if (left := clock.seconds_to_flag()) < math.inf:
                self._flag = self._loop.call_later(left + 0.001, self._flag_falls)

    def stop_watching(self) -> None:
        """Do nothing more when the flag falls."""
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None

    def _flag_falls(self) -> None:
        session, clock = self._session, self._session.game.clock
        if clock is None or clock.running is None:
            return
        if clock.fallen(clock.running):
            session.tasks.cancel("move")
            session.game.lose_on_time(clock.running)
            session.changed()
        else:
            self.run()
