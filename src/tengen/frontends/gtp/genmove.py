"""`genmove` and its relatives: play the move that was found, report it, or resign."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tengen.frontends.gtp.analyze import (
    AnalyzeRequest,
    Style,
    parse_analysis,
    reporter,
    root_options,
)
from tengen.frontends.gtp.gogui import draw_live, stop_drawing
from tengen.frontends.gtp.inspection import moves_text
from tengen.frontends.gtp.move_search import Thought, limits_for, think
from tengen.frontends.gtp.positions import for_search, on_terms, points_to_clean_up
from tengen.frontends.gtp.protocol import Reply, command, note
from tengen.frontends.gtp.session import Commands, GtpSession
from tengen.game.color import Color
from tengen.game.rules import parse_rules
from tengen.search.clock import after_move

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.search.result import SearchResult

CANCELLED = "cancelled"
# White is behind from the start in a handicap game, and waits for so much of the board.
HANDICAP_PATIENCE = 0.5
CGOS_MOVES = 10  # that are reported to the server
# CGOS writes ownership from -1 to 1 as one of these for each point.
CGOS_LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"


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
            return CANCELLED
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
        asked = parse_analysis(style, arguments)
        session.check_engine()
        color = asked.color or session.position.to_play
        # Raises GtpError, while it can be said.
        root = root_options(asked, session.position, session.settings.symmetry_pruning)
        reply.begin()
        report = reporter(session, reply, asked)
        thought = think(
            session,
            color,
            root=root,
            wanted=asked.wanted(session.settings.pv_length),
            interval=asked.interval,
            report=report,
            until_input=until_input,
        )
        if thought.cancelled:
            return f"play {CANCELLED}"
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
        # Under these rules dead stones count until they are captured.
        strict = on_terms(session.position, parse_rules("tromp-taylor"), session.position.komi)
        position = for_search(strict, color)
        legal = [point for point in points if position.is_legal(point)]
        vertex = "pass"
        if legal:
            limits, _ = limits_for(session, color)
            root = allow_only(position, legal)
            result = session.search(session.request(position, limits, root=root))
            vertex = position.text(result.move)
        session.play((color, vertex))
        return vertex

    def _move(self, color: Color, thought: Thought, *, play: bool) -> str:
        """The move as text; played, if it is to be."""
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
