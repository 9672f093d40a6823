"""The search for a move to play: for how long, with what, and which move comes of it."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.positions import for_search, to_clean_up
from tengen.game.rules import Scoring
from tengen.search.clock import budget, expected_moves_left, midgame_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from tengen.engine.levels import Decision
    from tengen.frontends.gtp.session import GtpSession
    from tengen.game.color import Color
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.search.request import Limits, RootOptions, SearchRequest, Wanted
    from tengen.search.result import SearchResult

SHORTEST = 0.001  # seconds for a move
FEWEST_VISITS = 2  # that a move is worth: the position's own, and one of a move
# A search is unsettled if its second move has this share of the first one's visits.
CLOSE = 0.8


class Thought(NamedTuple):
    """The outcome of the search for a move."""

    result: SearchResult
    move: Point | None  # None: a pass
    seconds: float
    cancelled: bool = False  # by input, before its time
    decision: Decision | None = None  # of the level that the session plays as


def think(
    session: GtpSession,
    color: Color,
    *,
    root: RootOptions | None = None,
    wanted: Wanted | None = None,
    interval: float = 1.0,
    report: Callable[[SearchResult], None] | None = None,
    until_input: bool = False,
) -> Thought:
    """Search for a move of this colour within the limits in force; raises GtpError.

    `report` is told of it every `interval` seconds. A level plays its own way, but for a root that
    leaves moves out.
    """
    start = time.monotonic()
    session.engine().network_for(session.position)  # loading takes its time, and the clock runs
    position = for_search(session.position, color)
    limits, spare = limits_for(session, color, time.monotonic() - start)
    request = session.request(
        position, limits, root=root, wanted=wanted, progress_interval=interval
    )
    if session.level is not None and not request.root.avoid:
        decision = _decide(session, request)
        return Thought(decision.result, decision.move, time.monotonic() - start, decision=decision)
    result, cancelled = _search_in_parts(session, color, request, spare, report, until_input)
    move = result.move if cancelled else _chosen(session, position, result, request)
    return Thought(result, move, time.monotonic() - start, cancelled)


def limits_for(session: GtpSession, color: Color, spent: float = 0.0) -> tuple[Limits, float]:
    """When to stop thinking, and the seconds that an unsettled search may take beyond that."""
    from tengen.search.request import Limits

    settings, position = session.settings, session.position
    share = _share_after_passes(session)
    visits, playouts = (
        None if most is None else math.ceil(most * share)
        for most in (settings.visits, settings.playouts)
    )
    seconds = settings.seconds and max(settings.seconds * share, SHORTEST)
    limits = Limits(visits, playouts, seconds, stop_when_clear=settings.adaptive)
    area, played = position.size.area, position.move_number
    allowed = budget(session.clocks[color], settings.lag, expected_moves_left(area, played))
    if allowed is None:
        return limits, 0.0
    midgame = midgame_share(area, played, settings.midgame_peak, settings.endgame_decay)
    pace = settings.more_time * (1 + midgame * (settings.midgame_time - 1)) * share
    cap = min(seconds or math.inf, allowed.most)
    target, most = min(allowed.target * pace, cap), cap
    seconds = max(target - spent, 0.05 * target, SHORTEST)
    limits = replace(limits, seconds=seconds, stop_when_decided=True)
    return limits, most - max(target, spent)


def _share_after_passes(session: GtpSession) -> float:
    """The share of usual thought that a move is worth if the opponent passes."""
    passed = [move.point is None for move in session.position.moves[-3:]]
    if not passed or not passed[-1]:
        return 1.0
    twice = len(passed) == 3 and passed[0]
    return session.settings.after_two_passes if twice else session.settings.after_pass


def _decide(session: GtpSession, request: SearchRequest) -> Decision:
    """Let the level that the session plays as decide."""
    from tengen.engine.levels import decide

    assert session.level is not None
    decision = decide(
        request.position,
        session.level,
        session.settings.seed,
        # Each is short, and half a search would be another level.
        lambda request: session.search(request, stoppable=False),
        seconds=request.limits.seconds,
        wanted=request.wanted,
    )
    session.last_result = decision.result
    return decision


def _search_in_parts(
    session: GtpSession,
    color: Color,
    request: SearchRequest,
    spare: float,
    report: Callable[[SearchResult], None] | None,
    until_input: bool,
) -> tuple[SearchResult, bool]:
    """Search on where the first limit was too early to tell; returns whether input cancelled it."""
    from tengen.search.choice import obviousness
    from tengen.search.request import CANCELLED, TIME, Limits

    def search(limits: Limits, *, stoppable: bool = True) -> SearchResult:
        return session.search(
            replace(request, limits=limits),
            on_progress=report,
            until_input=until_input,
            stoppable=stoppable,
        )

    settings, limits = session.settings, request.limits
    obvious, rest = settings.obvious_time, 0.0
    tolerances = settings.obvious_entropy, settings.obvious_surprise
    if obvious < 1 and limits.seconds and session.clocks[color].control.limited:
        rest = limits.seconds * (1 - obvious)
        limits = replace(limits, seconds=limits.seconds * obvious)
    result = search(limits)
    if rest and result.stopped_by == TIME:
        result = search(replace(limits, seconds=rest * (1 - obviousness(result, *tolerances))))
    if spare > 0 and result.stopped_by == TIME and is_unsettled(result):
        result = search(replace(limits, seconds=spare))
    cancelled = until_input and result.stopped_by == CANCELLED
    if result.visits < FEWEST_VISITS and not cancelled:  # stopped before it knew anything
        result = search(Limits(visits=FEWEST_VISITS), stoppable=False)
    return result, cancelled


def _chosen(
    session: GtpSession, position: Position, result: SearchResult, request: SearchRequest
) -> Point | None:
    """Draw a move from what was found, wait as long as players do, and pass where that ends it."""
    from tengen.search.choice import draw_move, random_for, seconds_to_wait

    settings, params = session.settings, request.params
    assert params is not None
    random = random_for(position, settings.seed)
    move = draw_move(result, params, random)
    if settings.delay:
        wait = seconds_to_wait(result, move, settings.delay, random)
        time.sleep(min(wait, settings.delay_most))
    if agrees_to_end(result):
        move = None
    return to_clean_up(position) if move is None else move


def agrees_to_end(result: SearchResult) -> bool:
    """Has the opponent passed where players agree on what is dead, and does a pass cost nothing?"""
    from tengen.engine.levels import pass_is_as_good

    rules, last = result.position.rules, result.position.last_move
    friendly = rules.scoring is Scoring.AREA and rules.friendly_pass
    return friendly and last is not None and last.point is None and pass_is_as_good(result)


def is_unsettled(result: SearchResult) -> bool:
    """Is another move about as much looked at as the best one?"""
    best, *others = [move.visits for move in result.moves] or [0]
    return bool(others) and max(others) > CLOSE * best
