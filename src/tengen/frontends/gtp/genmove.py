"""`genmove` and its relatives: search, choose a move, and play it, report it or resign."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.gtp.analyze import (
    AnalyzeRequest,
    Style,
    parse_analysis,
    reporter,
    root_options,
)
from tengen.frontends.gtp.gogui import draw_live, stop_drawing
from tengen.frontends.gtp.inspection import moves_text
from tengen.frontends.gtp.positions import on_terms, points_to_clean_up
from tengen.frontends.gtp.protocol import Reply, command, note
from tengen.frontends.gtp.session import Commands, GtpSession, for_search
from tengen.game.color import Color
from tengen.game.rules import Scoring, parse_rules
from tengen.search.clock import after_move

if TYPE_CHECKING:
    from collections.abc import Callable

    from tengen.engine.levels import Decision
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.search.request import Limits, RootOptions, SearchRequest, Wanted
    from tengen.search.result import SearchResult

CANCELLED_REPLY = "cancelled"
FEWEST_VISITS = 2  # of a search to choose by: one of the root, one of a move
# A search is unsettled if its second move has this share of the first one's visits.
CLOSE = 0.8
# In a handicap game White is behind from the start, and resigns only after this share of the
# board's area in moves.
HANDICAP_PATIENCE = 0.5
CGOS_MOVES = 10  # candidate moves reported to the server
# CGOS writes ownership from -1 to 1 as one of these for each point.
CGOS_LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"


class Thought(NamedTuple):
    """The outcome of the search for a move."""

    result: SearchResult
    move: Point | None  # None: a pass
    seconds: float
    cancelled: bool = False  # by input, before its time
    decision: Decision | None = None  # of the level that the session plays as


class GenmoveCommands(Commands):
    @command("genmove", play=True)
    @command("genmove_debug", play=True, debug=True)
    @command("kata-search", "reg_genmove")
    @command("kata-search_debug", debug=True)
    @command("kata-search_cancellable", until_input=True)
    def genmove(
        self, color: Color, *, play: bool = False, debug: bool = False, until_input: bool = False
    ) -> str:
        session = self.session
        if session.draws:
            wanted = AnalyzeRequest(ownership=True).wanted(session.settings.pv_length)
            thought = think(
                session, color, wanted=wanted, report=draw_live, until_input=until_input
            )
            stop_drawing()
        else:
            thought = think(session, color, until_input=until_input)
        if thought.cancelled:
            return CANCELLED_REPLY
        if debug:
            note(moves_text(thought.result))
        return self._move(color, thought, play=play)

    @command("kata-genmove_analyze", "genmove_analyze", play=True)
    @command("lz-genmove_analyze", style=Style.LZ, play=True)
    @command("kata-search_analyze")
    @command("kata-search_analyze_cancellable", until_input=True)
    def genmove_analyze(
        self,
        reply: Reply,
        *arguments: str,
        style: Style = Style.KATA,
        play: bool = False,
        until_input: bool = False,
    ) -> str:
        session = self.session
        request = parse_analysis(style, arguments)
        session.check_engine()
        color = request.color or session.position.to_play
        # May raise GtpError, which can be the reply only before that begins.
        root = root_options(request, session.position, session.settings.symmetry_pruning)
        reply.begin()
        report = reporter(session, reply, request)
        thought = think(
            session,
            color,
            root=root,
            wanted=request.wanted(session.settings.pv_length),
            interval=request.interval,
            report=report,
            until_input=until_input,
        )
        if thought.cancelled:
            return f"play {CANCELLED_REPLY}"
        report(thought.result)
        return f"play {self._move(color, thought, play=play)}"

    @command("cgos-genmove_analyze")
    def cgos_genmove_analyze(self, reply: Reply, color: Color, *_arguments: str) -> str:
        session = self.session
        session.check_engine()
        reply.begin()
        wanted = AnalyzeRequest(ownership=True).wanted(session.settings.pv_length)
        thought = think(session, color, wanted=wanted)
        reply.line(cgos_json(thought.result, thought.move))
        return f"play {self._move(color, thought, play=True)}"

    @command("kgs-genmove_cleanup")
    def kgs_genmove_cleanup(self, color: Color) -> str:
        """Capture dead stones, one move after another; pass when there are none left."""
        from tengen.search.request import allow_only

        session = self.session
        points = points_to_clean_up(session.position, color, session.dead_stones())
        # Rules under which dead stones count as alive until they are captured.
        strict = on_terms(session.position, parse_rules("tromp-taylor"), session.position.komi)
        position = for_search(strict, color)
        legal = [point for point in points if position.is_legal(point)]
        vertex = "pass"
        if legal:
            limits, _ = session.limits_for(color)
            root = allow_only(position, legal)
            result = session.search(session.request(position, limits, root=root))
            vertex = position.text(result.move)
        session.play((color, vertex))
        return vertex

    def _move(self, color: Color, thought: Thought, *, play: bool) -> str:
        """Play the move if wanted, or resign; returns the move as text, or "resign"."""
        session = self.session
        lost = looks_lost(session, color, thought)
        count = session.hopeless[color] + 1 if lost else 0
        resigns = lost and count >= session.settings.resign_turns
        vertex = session.position.text(thought.move)
        if not play:
            return "resign" if resigns else vertex
        session.hopeless[color] = count
        session.seconds_thought += thought.seconds
        session.own_colors.add(color)
        session.clocks[color] = after_move(session.clocks[color], thought.seconds)
        if resigns:
            session.resigned = color
            return "resign"
        session.play((color, vertex))
        session.ponder()
        return vertex


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

    `report` is called every `interval` seconds. A level searches in its own way, unless the root
    leaves moves out.
    """
    start = time.monotonic()
    session.engine().network_for(session.position)  # loading takes its time, and the clock runs
    position = for_search(session.position, color)
    limits, spare = session.limits_for(color, time.monotonic() - start)
    request = session.request(
        position, limits, root=root, wanted=wanted, progress_interval=interval
    )
    if session.level is not None and not request.root.avoid:
        decision = _decide(session, request)
        return Thought(decision.result, decision.move, time.monotonic() - start, decision=decision)
    result, cancelled = _search_in_parts(session, color, request, spare, report, until_input)
    move = result.move if cancelled else _chosen(session, position, result, request)
    return Thought(result, move, time.monotonic() - start, cancelled)


def _decide(session: GtpSession, request: SearchRequest) -> Decision:
    """Let the level that the session plays as decide."""
    from tengen.engine.levels import decide

    assert session.level is not None
    decision = decide(
        request.position,
        session.level,
        session.settings.seed,
        # Each search is short, and one cut short would play as another level.
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
    """Search, longer if the first limit was too early; also, whether input cancelled it."""
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
    if result.visits < FEWEST_VISITS and not cancelled:  # stopped before any move was searched
        result = search(Limits(visits=FEWEST_VISITS), stoppable=False)
    return result, cancelled


def _chosen(
    session: GtpSession, position: Position, result: SearchResult, request: SearchRequest
) -> Point | None:
    """Draw a move from the result, if wanted after a human delay; pass where that ends the game."""
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


def to_clean_up(position: Position) -> Point | None:
    """A move next to dead stones in the player's pass-alive area, towards their capture.

    None, a pass, if there are none, or if the rules do not count them for their owner.
    """
    import numpy as np

    from tengen.game.geometry import Point

    rules, mine = position.rules, position.pass_alive(position.to_play)
    board = position.arrays(room=0)[0][0]
    if rules.scoring is not Scoring.AREA or rules.friendly_pass or board["button"]:
        return None
    theirs = np.pad(position.stones == position.to_play.opponent, 1)
    adjacent = theirs[:-2, 1:-1] | theirs[2:, 1:-1] | theirs[1:-1, :-2] | theirs[1:-1, 2:]
    legal = position.legal_mask()[:-1].reshape(mine.shape)
    for y, x in np.argwhere(mine & adjacent & legal).tolist():
        return Point(x, y)
    return None


def is_unsettled(result: SearchResult) -> bool:
    """Has another move about as many visits as the best one?"""
    best, *others = [move.visits for move in result.moves] or [0]
    return bool(others) and max(others) > CLOSE * best


def looks_lost(session: GtpSession, color: Color, thought: Thought) -> bool:
    """Does the game look lost, so that it is resigned after enough such moves in a row?"""
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


def cgos_json(result: SearchResult, played: Point | None) -> str:
    """What CGOS shows to spectators, for the side to play: one line of JSON, the move first."""
    text = result.position.text
    moves = sorted(result.moves, key=lambda each: each.move != played)
    facts = {
        "winrate": round(result.winrate, 4),
        "score": round(result.lead, 2),
        "visits": result.visits,
        "moves": [
            {
                "move": text(move.move),
                "visits": move.visits,
                "winrate": round(move.winrate, 4),
                "score": round(move.lead, 2),
                "prior": round(move.prior, 6),
                "pv": " ".join(text(point) for point in move.pv[1:]),
            }
            for move in moves[:CGOS_MOVES]
        ],
        "ownership": _cgos_ownership(result),
        "comment": "",
    }
    return json.dumps(facts, separators=(",", ":"))


def _cgos_ownership(result: SearchResult) -> str:
    """A letter for each point, row by row from the top; "" if ownership is not known."""
    if result.ownership is None:
        return ""
    last = len(CGOS_LEVELS) - 1
    values = ((min(max(owner, -1.0), 1.0) + 1) / 2 for owner in result.ownership.ravel().tolist())
    return "".join(CGOS_LEVELS[round(last * value)] for value in values)
