"""`genmove`: how long to search for a move, and when to resign."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.analyze import AnalyzeRequest, root_options
from tengen.frontends.gtp.gogui_drawing import draw_live, stop_drawing
from tengen.frontends.gtp.position_edits import for_search
from tengen.frontends.gtp.session import GtpSession
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.engine.levels import Decision, Level
    from tengen.game.position import Position
    from tengen.search.request import Limits, RootOptions, Wanted
    from tengen.search.result import SearchResult

FEWEST_VISITS = 2  # that a move is worth: the position's own, and one of a move
SHORTEST = 0.001  # seconds
# A search is unsettled if its second move has this share of the first one's visits.
CLOSE = 0.8
# White is behind from the start in a handicap game, and waits for so much of the board.
HANDICAP_PATIENCE = 0.5


class Thought(NamedTuple):
    """The outcome of the search for a move."""

    result: SearchResult
    seconds: float
    cancelled: bool  # by input, before its time
    decision: Decision | None = None  # of the level that the session plays as


def think(
    session: GtpSession,
    color: Color,
    asked: AnalyzeRequest | None = None,
    report: Callable[[SearchResult], None] | None = None,
    *,
    until_input: bool = False,
    options: RootOptions | None = None,
) -> Thought:
    """Search for a move of this colour within the limits in force; raises GtpError."""
    from tengen.search.request import CANCELLED, TIME, Limits, Wanted

    start = time.monotonic()
    session.engine()  # loading takes its time, and the clock runs
    position = for_search(session.position, color)
    settings = session.settings
    limits, spare = limits_for(session, color, time.monotonic() - start)
    restricted = options is not None or (asked is not None and bool(asked.restrictions))
    if asked is not None:
        options = root_options(asked, position, settings.symmetry_pruning)
        wanted = asked.wanted(settings.pv_length)
    else:
        wanted = Wanted(ownership=session.draws, pv_length=settings.pv_length)
    if session.level is not None and not restricted:
        decision = _decision(session, position, session.level, limits.seconds, wanted)
        return Thought(decision.result, time.monotonic() - start, False, decision)
    draws = session.draws and report is None
    if draws:
        report = draw_live

    def search(limits: Limits, *, stoppable: bool = True) -> SearchResult:
        interval = asked.interval if asked is not None else 1.0
        request = session.request(
            position, limits, root=options, wanted=wanted, progress_interval=interval
        )
        return session.search(
            request, on_progress=report, until_input=until_input, stoppable=stoppable
        )

    result = search(limits)
    if spare > 0 and result.stopped_by == TIME and is_unsettled(result):
        result = search(replace(limits, seconds=spare))
    if draws:
        stop_drawing()
    cancelled = until_input and result.stopped_by == CANCELLED
    if result.visits < FEWEST_VISITS and not cancelled:  # stopped before it knew anything
        result = search(Limits(visits=FEWEST_VISITS), stoppable=False)
    return Thought(result, time.monotonic() - start, cancelled)


def _decision(
    session: GtpSession, position: Position, level: Level, seconds: float | None, wanted: Wanted
) -> Decision:
    """What the session's level does in a position; raises GtpError."""
    from tengen.engine.levels import decide

    decision = decide(
        position,
        level,
        session.options.seed,
        # Each is short, and half a search would be another level.
        lambda request: session.search(request, stoppable=False),
        seconds=seconds,
        wanted=wanted,
    )
    session.last_result = decision.result
    return decision


def limits_for(session: GtpSession, color: Color, spent: float = 0.0) -> tuple[Limits, float]:
    """When to stop thinking, and the seconds that an unsettled search may take beyond that."""
    from tengen.search.clock import budget, expected_moves_left
    from tengen.search.request import Limits

    settings, position = session.settings, session.position
    moves = expected_moves_left(position.size.area, position.move_number)
    allowed = budget(session.clock(color), settings.lag, moves)
    if allowed is None:
        limits = Limits(
            visits=settings.visits,
            seconds=settings.seconds,
            stop_when_clear=settings.adaptive,
        )
        return limits, 0.0
    cap = settings.seconds or allowed.most
    target, most = min(allowed.target, cap), min(allowed.most, cap)
    seconds = max(target - spent, 0.05 * target, SHORTEST)
    limits = Limits(
        visits=settings.visits,
        seconds=seconds,
        stop_when_decided=True,
        stop_when_clear=settings.adaptive,
    )
    return limits, most - max(target, spent)


def is_unsettled(result: SearchResult) -> bool:
    """Is another move about as much looked at as the best one?"""
    if len(result.moves) < 2:
        return False
    best, *others = (move.visits for move in result.moves)
    return max(others) > CLOSE * best


def looks_lost(session: GtpSession, color: Color, thought: Thought) -> bool:
    """Is a game like this one given up, if it looks so for long enough?"""
    settings, position, result = session.settings, session.position, thought.result
    if thought.decision is not None:
        return settings.resign and thought.decision.resign
    behind = position.handicap and color is Color.WHITE
    share = max(settings.resign_least_moves, HANDICAP_PATIENCE if behind else 0.0)
    return (
        settings.resign
        and result.winrate < settings.resign_winrate
        and position.move_number >= share * position.size.area
    )
