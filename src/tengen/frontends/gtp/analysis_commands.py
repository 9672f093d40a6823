"""Commands that look at the position: live analysis, the network's opinion, debugging."""

from __future__ import annotations

import json

from tengen.frontends.gtp.analyze import (
    Style,
    analysis_line,
    parse_analysis,
    point_at,
    root_options,
)
from tengen.frontends.gtp.dispatch import Vertex, command, parse_int
from tengen.frontends.gtp.position_edits import for_search
from tengen.frontends.gtp.protocol import GtpError, Reply
from tengen.frontends.gtp.search_text import move_lines, moves_text
from tengen.frontends.gtp.session import GtpSession
from tengen.frontends.gtp.showboard import board_text
from tengen.game.color import Color

LONGEST_ANALYSIS = 1e9  # seconds
LOOK_EVERY = 0.02  # seconds, while the network loads
BENCHMARK_VISITS = 400


class AnalysisCommands:
    """Looking at the position."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command("kata-analyze", "analyze")
    def kata_analyze(self, reply: Reply, *arguments: str) -> None:
        self._analyze(Style.KATA, reply, arguments)

    @command("lz-analyze")
    def lz_analyze(self, reply: Reply, *arguments: str) -> None:
        self._analyze(Style.LZ, reply, arguments)

    def _analyze(self, style: Style, reply: Reply, arguments: tuple[str, ...]) -> None:
        """Report on the position until any input comes."""
        session = self._session
        asked = parse_analysis(style, arguments)
        color = asked.color or session.position.to_play
        position = for_search(session.position, color)
        options = root_options(asked, position, session.settings.symmetry_pruning)
        session.check_engine()
        reply.begin()
        while not session.loading_is_over:
            if session.inbox.wait(LOOK_EVERY):
                return
        from tengen.search.request import Limits
        from tengen.search.result import SearchResult

        sign = session.settings.sign_for(color)

        def report(result: SearchResult) -> None:
            line = analysis_line(result, asked, sign)
            if line:
                reply.line(line)

        request = session.request(
            position,
            Limits(seconds=LONGEST_ANALYSIS),
            root=options,
            wanted=asked.wanted(session.settings.pv_length),
            progress_interval=asked.interval,
            analysis=True,
        )
        session.search(request, on_progress=report, until_input=True)
        session.inbox.wait()  # a search may end by itself; the command does not

    @command("kata-raw-nn")
    def kata_raw_nn(self, *arguments: str) -> str:
        from tengen.frontends.gtp.raw_network import raw_text
        from tengen.game.geometry import Symmetry

        words = list(arguments)
        position = self._session.position
        if words and words[0].lower() in ("b", "w", "black", "white"):
            color = Color.BLACK if words.pop(0).lower().startswith("b") else Color.WHITE
            if color is not position.to_play:
                position = for_search(position, color)
        if not words or (words[0].lower() != "all" and words[0] not in "01234567"):
            raise GtpError("syntax error: write kata-raw-nn [COLOR] SYMMETRY, 0 to 7 or all")
        engine = self._session.engine()
        self._session.rest()
        every = words[0].lower() == "all"
        symmetries = list(Symmetry) if every else [Symmetry(parse_int(words[0]))]
        return "\n".join(raw_text(engine, position, symmetry) for symmetry in sorted(symmetries))

    @command("kata-raw-human-nn")
    def kata_raw_human_nn(self, *arguments: str) -> str:
        del arguments
        raise GtpError("this network was not trained to predict the moves of people")

    @command("kata-get-models")
    def kata_get_models(self) -> str:
        session = self._session
        engine = session.engine()
        network = engine.network
        model = {
            "internalName": engine.name,
            "maxBatchSize": engine.evaluator.best_batch,
            "name": network.file or engine.name,
            "usesHumanSLProfile": False,
            "usingFP16": "auto",
            "version": network.katago_version,
        }
        return json.dumps([model], separators=(",", ":"))

    @command()
    def clear_cache(self) -> None:
        self._session.rest()
        engine = self._session.loader.engine_if_ready
        if engine is not None:
            engine.clear()

    @command("benchmark", "kata-benchmark")
    def benchmark(self, visits: int = BENCHMARK_VISITS) -> str:
        """How fast the position is searched, from a new tree."""
        from tengen.search.request import Limits

        session = self._session
        engine = session.engine()
        position = for_search(session.position, session.position.to_play)
        # So that nothing is compiled while it counts.
        session.search(session.request(position, Limits(visits=2)))
        engine.clear()
        found = session.search(session.request(position, Limits(visits=visits)))
        seconds = max(found.seconds, 1e-6)
        return (
            f"visits {found.visits} seconds {found.seconds:.3f} "
            f"visits/s {found.visits / seconds:.1f} evaluations/s {found.evaluated / seconds:.1f} "
            f"board {position.size} network {engine.name} device {engine.device}"
        )

    @command()
    def debug_moves(self, *branch: Vertex) -> str:
        """The moves that the last search looked at, or those after a line of moves."""
        found = self._session.last_result
        if found is None:
            return f"{board_text(self._session.position)}\nnothing was searched yet"
        if not branch:
            return f"{board_text(self._session.position)}\n{moves_text(found)}"
        line = [point_at(move, found.position) for move in branch]
        position, moves = self._session.engine().moves_after(line)
        head = f"after {' '.join(branch)}: {position.to_play} to play"
        return "\n".join([board_text(position), head, *move_lines(position, moves)])

    @command("kata-debug-print")
    def debug_print(self) -> str:
        """What the session knows."""
        session = self._session
        engine = session.loader.engine_if_ready
        return "\n".join(
            [
                board_text(session.position),
                f"handicap {session.position.handicap}",
                *(f"{color.name.title()} {session.clock(color)}" for color in Color),
                f"{session.settings}",
                "no network" if engine is None else f"{engine.name} on {engine.device}",
                f"thought {session.seconds_thought:.1f} s",
            ]
        )
