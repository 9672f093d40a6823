"""A move of one of the levels, where a session plays as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.session import GtpSession

if TYPE_CHECKING:
    from tengen.engine.levels import Decision, Level
    from tengen.game.position import Position
    from tengen.search.request import RootOptions, Wanted
    from tengen.search.result import SearchResult


class _Looking(NamedTuple):
    """The session's engine as a level looks through it."""

    session: GtpSession
    wanted: Wanted

    def search(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        options: RootOptions | None = None,
    ) -> SearchResult:
        from tengen.search.request import Limits

        limits = Limits(visits=visits, seconds=seconds)
        # It is short, and half a search would be another level.
        return self.session.search(
            position, limits, options=options, wanted=self.wanted, stoppable=False
        )


def decide(
    session: GtpSession, position: Position, level: Level, seconds: float | None, wanted: Wanted
) -> Decision:
    """What a level does in a position; raises GtpError."""
    from tengen.engine.levels import choose

    looking = _Looking(session, wanted)
    decision = choose(looking, position, level, session.options.seed, seconds)
    session.last_result = decision.result
    return decision
