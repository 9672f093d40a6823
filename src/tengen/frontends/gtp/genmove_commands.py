"""Commands that ask for a move."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from tengen.frontends.gtp.analyze import (
    AnalyzeRequest,
    Style,
    analysis_line,
    parse_analysis,
    root_options,
)
from tengen.frontends.gtp.dispatch import command
from tengen.frontends.gtp.game_end import points_to_clean_up
from tengen.frontends.gtp.position_edits import for_search, on_terms
from tengen.frontends.gtp.protocol import Reply, note
from tengen.frontends.gtp.search_text import moves_text, ownership_text
from tengen.frontends.gtp.session import GtpSession
from tengen.frontends.gtp.thinking import Thought, limits_for, looks_lost, think
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.search.result import SearchResult

CANCELLED = "cancelled"
CGOS_MOVES = 10  # that are reported to the server


class GenmoveCommands:
    """The engine's own moves."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    # Moves that are played

    @command()
    def genmove(self, color: Color) -> str:
        return self._move(color, think(self._session, color), play=True)

    @command()
    def genmove_debug(self, color: Color) -> str:
        thought = think(self._session, color)
        note(moves_text(thought.result))
        return self._move(color, thought, play=True)

    @command("kata-genmove_analyze", "genmove_analyze")
    def kata_genmove_analyze(self, reply: Reply, *arguments: str) -> str:
        return self._analyzed(parse_analysis(Style.KATA, arguments), reply, play=True)

    @command("lz-genmove_analyze")
    def lz_genmove_analyze(self, reply: Reply, *arguments: str) -> str:
        return self._analyzed(parse_analysis(Style.LZ, arguments), reply, play=True)

    @command("cgos-genmove_analyze")
    def cgos_genmove_analyze(self, reply: Reply, color: Color, *arguments: str) -> str:
        del arguments
        self._session.check_engine()
        reply.begin()
        thought = think(self._session, color, AnalyzeRequest(color=color, ownership=True))
        reply.line(cgos_json(thought.result))
        return f"play {self._move(color, thought, play=True)}"

    # Moves that are only thought of

    @command("kata-search", "reg_genmove")
    def kata_search(self, color: Color) -> str:
        return self._move(color, think(self._session, color), play=False)

    @command("kata-search_debug")
    def kata_search_debug(self, color: Color) -> str:
        thought = think(self._session, color)
        note(moves_text(thought.result))
        return self._move(color, thought, play=False)

    @command("kata-search_cancellable")
    def kata_search_cancellable(self, color: Color) -> str:
        thought = think(self._session, color, until_input=True)
        return CANCELLED if thought.cancelled else self._move(color, thought, play=False)

    @command("kata-search_analyze")
    def kata_search_analyze(self, reply: Reply, *arguments: str) -> str:
        return self._analyzed(parse_analysis(Style.KATA, arguments), reply, play=False)

    @command("kata-search_analyze_cancellable")
    def kata_search_analyze_cancellable(self, reply: Reply, *arguments: str) -> str:
        asked = parse_analysis(Style.KATA, arguments)
        return self._analyzed(asked, reply, play=False, until_input=True)

    # After the game

    @command("kgs-genmove_cleanup")
    def kgs_genmove_cleanup(self, color: Color) -> str:
        """Capture dead stones, one move after another; pass when there are none left."""
        from tengen.game.rules import parse_rules
        from tengen.search.request import allow_only

        session = self._session
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
        session.play(color, vertex)
        return vertex

    def _analyzed(
        self, asked: AnalyzeRequest, reply: Reply, *, play: bool, until_input: bool = False
    ) -> str:
        session = self._session
        session.check_engine()
        color = asked.color or session.position.to_play
        sign = session.settings.sign_for(color)
        root_options(asked, session.position, False)  # raises GtpError, while it can be said
        reply.begin()
        report = reporter(reply, asked, sign)
        thought = think(session, color, asked, report, until_input=until_input)
        if thought.cancelled:
            return f"play {CANCELLED}"
        report(thought.result)
        return f"play {self._move(color, thought, play=play)}"

    def _move(self, color: Color, thought: Thought, *, play: bool) -> str:
        """The move as text; played, if it is to be."""
        session = self._session
        lost = looks_lost(session, color, thought)
        count = session.hopeless[color] + 1 if lost else 0
        resigns = lost and count >= session.settings.resign_turns
        chosen = thought.decision or thought.result
        vertex = session.position.text(chosen.move)
        if not play:
            return "resign" if resigns else vertex
        from tengen.search.clock import after_move

        session.hopeless[color] = count
        session.seconds_thought += thought.seconds
        session.own_colors.add(color)
        session.set_clock(color, after_move(session.clock(color), thought.seconds))
        if resigns:
            session.resigned = color
            return "resign"
        session.play(color, vertex)
        session.ponder()
        return vertex


def reporter(reply: Reply, asked: AnalyzeRequest, sign: int) -> Callable[[SearchResult], None]:
    """What writes a line about a result."""

    def report(result: SearchResult) -> None:
        line = analysis_line(result, asked, sign)
        if line:
            reply.line(line)

    return report


def cgos_json(result: SearchResult) -> str:
    """What CGOS shows to spectators, for the side to play: one line of JSON."""
    text = result.position.text
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
            for move in result.moves[:CGOS_MOVES]
        ],
        "ownership": ownership_text(result),
        "comment": "",
    }
    return json.dumps(facts, separators=(",", ":"))
