"""Live analysis: the commands, what a client asks for, and the lines it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from tengen.frontends.gtp.protocol import (
    GtpError,
    Reply,
    Vertex,
    command,
    parse_bool,
    parse_float,
    parse_int,
    parse_vertex,
)
from tengen.frontends.gtp.session import Commands, GtpSession, for_search
from tengen.frontends.katago_reports import (
    ReportFields,
    all_moves_but,
    reported_uncertainty,
    sign_for,
    winrate_for,
)
from tengen.game.color import Color, parse_color

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.search.request import RootOptions
    from tengen.search.result import Judgement, MoveResult, SearchResult

DEFAULT_INTERVAL, SHORTEST_INTERVAL = 1.0, 0.01  # seconds
LONGEST_ANALYSIS = 1e9  # seconds
LOOK_EVERY = 0.02  # seconds, while the network loads


class Style(Enum):
    """How lines are written: chances from 0 to 1 as KataGo does, or to 10000 as Leela Zero."""

    KATA = "kata"
    LZ = "lz"


class Restriction(NamedTuple):
    """The only moves of a colour to search, or those not to search, down to a depth."""

    color: Color
    moves: tuple[Vertex, ...]
    depth: int
    allow: bool


@dataclass(frozen=True)
class AnalyzeRequest(ReportFields):
    """What a client asks for."""

    style: Style = Style.KATA
    color: Color | None = None  # None: the side to play
    interval: float = DEFAULT_INTERVAL  # seconds
    min_moves: int = 0
    max_moves: int = 1_000_000
    root_info: bool = False
    restrictions: tuple[Restriction, ...] = ()


_SWITCHES = {
    "rootinfo": "root_info",
    "ownership": "ownership",
    "ownershipstdev": "ownership_stdev",
    "movesownership": "moves_ownership",
    "movesownershipstdev": "moves_ownership_stdev",
    "pvvisits": "pv_visits",
    "pvedgevisits": "pv_edge_visits",
    "noresultvalue": "no_result",
}
_COUNTS = {"minmoves": "min_moves", "maxmoves": "max_moves"}


class AnalyzeCommands(Commands):
    @command("kata-analyze", "analyze")
    @command("lz-analyze", style=Style.LZ)
    def analyze(self, reply: Reply, *arguments: str, style: Style = Style.KATA) -> None:
        """Report on the position until any input comes."""
        session = self.session
        request = parse_analysis(style, arguments)
        position = for_search(session.position, request.color or session.position.to_play)
        options = root_options(request, position, session.settings.symmetry_pruning)
        session.check_engine()
        reply.begin()
        while not session.loading_is_over:
            if session.inbox.wait(LOOK_EVERY):
                return
        from tengen.search.request import Limits

        search_request = session.request(
            position,
            Limits(seconds=LONGEST_ANALYSIS),
            root=options,
            wanted=request.wanted(session.settings.pv_length),
            progress_interval=request.interval,
            analysis=True,
        )
        session.search(
            search_request, on_progress=reporter(session, reply, request), until_input=True
        )
        session.inbox.wait()  # a search may end by itself; the command does not


def reporter(
    session: GtpSession, reply: Reply, request: AnalyzeRequest
) -> Callable[[SearchResult], None]:
    """A function that writes a line about a result."""

    def report(result: SearchResult) -> None:
        sign = sign_for(session.settings.perspective, result.position.to_play)
        if line := analysis_line(result, request, sign):
            reply.line(line)

    return report


def parse_analysis(style: Style, arguments: Sequence[str]) -> AnalyzeRequest:
    """Read ``[COLOR] [CENTISECONDS] [KEY VALUE ...]``; raises GtpError."""
    request = AnalyzeRequest(style=style)
    words = list(arguments)
    try:
        if words and words[0].lower() in ("b", "w", "black", "white"):
            request = replace(request, color=parse_color(words.pop(0)))
        if words and words[0][:1].isdigit():
            request = replace(request, interval=_interval(words.pop(0)))
        while words:
            request = _with_key(request, words.pop(0), words)
    except ValueError as error:
        raise GtpError(f"syntax error: {error}") from None
    return request


def _with_key(request: AnalyzeRequest, key: str, words: list[str]) -> AnalyzeRequest:
    """The request with one more key; takes the key's values off the words."""
    name = key.lower()
    known = name in _COUNTS or name in _SWITCHES or name in ("interval", "avoid", "allow")
    if not known or (request.style is Style.LZ and name in _SWITCHES and not name.startswith("pv")):
        raise GtpError(f"not a key of this analysis: {key[:40]!r}")
    if len(words) < (3 if name in ("avoid", "allow") else 1):
        raise GtpError(f"{key} lacks its value")
    change: dict[str, Any] = {}
    if name == "interval":
        change["interval"] = _interval(words.pop(0))
    elif name in _SWITCHES:
        change[_SWITCHES[name]] = parse_bool(words.pop(0))
    elif name in _COUNTS:
        change[_COUNTS[name]] = parse_int(words.pop(0))
        if change[_COUNTS[name]] < 0:
            raise GtpError(f"{key} must be 0 or more, not {change[_COUNTS[name]]}")
    if change:
        return replace(request, **change)
    color, depth = parse_color(words.pop(0)), words.pop(1)
    moves = tuple(parse_vertex(move) for move in words.pop(0).split(",") if move)
    restriction = Restriction(color, moves, parse_int(depth), name == "allow")
    if restriction.depth < 1:
        raise GtpError(f"{key} holds for 1 move or more, not {depth}")
    before = [each for each in request.restrictions if each.color is color]
    if before and (restriction.allow or before[0].allow):
        raise GtpError("a colour has avoid, or allow once, not both")
    return replace(request, restrictions=(*request.restrictions, restriction))


def _interval(text: str) -> float:
    """Seconds from centiseconds."""
    interval = parse_float(text) / 100
    if interval < 0:
        raise GtpError(f"the interval must be 0 or more, not {text}")
    return max(interval, SHORTEST_INTERVAL)


def root_options(
    request: AnalyzeRequest, position: Position, symmetry_pruning: bool
) -> RootOptions:
    """The root options that a request asks for; raises GtpError for moves off the board."""
    from tengen.search.request import Avoid, RootOptions

    avoid = []
    for color, moves, depth, allow in request.restrictions:
        named = {point_at(move, position) for move in moves}
        if allow:
            named = all_moves_but(named, position.size)
        avoid += [Avoid(color, move, depth) for move in sorted(named, key=lambda p: p or (-1, -1))]
    return RootOptions(avoid=tuple(avoid), symmetry_pruning=symmetry_pruning and not avoid)


def point_at(move: Vertex, position: Position) -> Point | None:
    """The point of a vertex, None for a pass; raises GtpError off the board."""
    from tengen.game.geometry import parse_point

    if move == "PASS":
        return None
    point = parse_point(move, position.height)
    if not (0 <= point.x < position.width and 0 <= point.y < position.height):
        raise GtpError(f"{move} is off the {position.size} board")
    return point


def analysis_line(result: SearchResult, request: AnalyzeRequest, sign: int) -> str:
    """One line about what a search has found, "" if it has found nothing yet.

    Reports are for the side to play, or for its opponent if the sign is -1.
    """
    moves = list(result.moves)
    if len(moves) < request.min_moves:
        moves += _untried(result, request)[: request.min_moves - len(moves)]
    if not moves[: request.max_moves]:
        return ""
    parts = [
        f"info {_text(_move_facts(move, result.position, request, sign))}"
        for move in moves[: request.max_moves]
    ]
    if request.root_info:
        parts.append(f"rootInfo {_text(_root_facts(result, sign))}")
    owners = result.ownership if request.ownership else None
    boards = {
        "ownership": None if owners is None else sign * owners,
        "ownershipStdev": result.ownership_stdev if request.ownership_stdev else None,
    }
    return " ".join(filter(None, [*parts, _text(boards)]))


def _untried(result: SearchResult, request: AnalyzeRequest) -> list[MoveResult]:
    """Moves without a visit, the likeliest first; the position's values stand for theirs."""
    from tengen.game.geometry import policy_point
    from tengen.search.result import Judgement, MoveResult

    position = result.position
    known = {move.move for move in result.moves}
    avoided = {
        each.move
        for each in root_options(request, position, False).avoid
        if each.color is position.to_play
    }
    judgement = {each.name: getattr(result, each.name) for each in fields(Judgement)}
    found: list[MoveResult] = []
    for place in sorted(range(len(result.policy)), key=lambda p: -result.policy[p]):
        move, prior = policy_point(place, position.size), float(result.policy[place])
        if prior > 0 and move not in known and move not in avoided:
            found.append(
                MoveResult(
                    **{**judgement, "visits": 0, "weight": 0.0},
                    move=move,
                    order=len(known) + len(found),
                    prior=prior,
                    edge_visits=0,
                    lcb=result.winrate,
                    utility_lcb=result.utility,
                    play_weight=0.0,
                    pv=(move,),
                    pv_visits=(0,),
                    pv_edge_visits=(0,),
                    height=position.height,
                )
            )
    return found


def _move_facts(
    move: MoveResult, position: Position, request: AnalyzeRequest, sign: int
) -> dict[str, object]:
    """The facts to report about a move; None for values that are not reported."""
    named: dict[str, object] = {"move": position.text(move.move), "visits": move.visits}
    line: dict[str, object] = {
        "order": move.order,
        "pv": [position.text(point) for point in move.pv],
        "pvVisits": move.pv_visits if request.pv_visits else None,
        "pvEdgeVisits": move.pv_edge_visits if request.pv_edge_visits else None,
    }
    if request.style is Style.LZ:
        chances = {
            "winrate": winrate_for(sign, move.winrate),
            "prior": move.prior,
            "lcb": winrate_for(sign, move.lcb),
        }
        return named | {name: round(10_000 * chance) for name, chance in chances.items()} | line
    owners = move.ownership if request.moves_ownership else None
    return {
        **named,
        "edgeVisits": move.edge_visits,
        **_judgement_facts(move, sign),
        "noResultValue": move.no_result if request.no_result else None,
        "prior": move.prior,
        "lcb": winrate_for(sign, move.lcb),
        "utilityLcb": sign * move.utility_lcb,
        "weight": move.weight,
        "isSymmetryOf": None if move.symmetry_of is None else position.text(move.symmetry_of),
        **line,
        "movesOwnership": None if owners is None else sign * owners,
        "movesOwnershipStdev": move.ownership_stdev if request.moves_ownership_stdev else None,
    }


def _root_facts(result: SearchResult, sign: int) -> dict[str, object]:
    uncertainty = reported_uncertainty(result.raw.uncertainty)
    return {
        "visits": result.visits,
        **_judgement_facts(result, sign),
        "weight": result.weight,
        "rawStWrError": uncertainty.value / 2,
        "rawStScoreError": uncertainty.score,
        "rawVarTimeLeft": uncertainty.variance_time,
    }


def _judgement_facts(judgement: Judgement, sign: int) -> dict[str, float]:
    return {
        "utility": sign * judgement.utility,
        "winrate": winrate_for(sign, judgement.winrate),
        "scoreMean": sign * judgement.lead,
        "scoreStdev": judgement.spread,
        "scoreLead": sign * judgement.lead,
        "scoreSelfplay": sign * judgement.score,
    }


def _text(facts: Mapping[str, object]) -> str:
    """Names and values as text: None is left out, text and whole numbers stay as they are."""
    return " ".join(f"{name} {_value(fact)}" for name, fact in facts.items() if fact is not None)


def _value(fact: Any) -> str:
    if isinstance(fact, str | int):
        return str(fact)
    if isinstance(fact, tuple | list):
        return " ".join(map(str, fact))
    return number(fact) if isinstance(fact, float) else " ".join(map(number, fact.ravel().tolist()))


def number(value: float) -> str:
    """A number with a decimal point and no exponent: Sabaki reads 1 as 1/10000."""
    text = f"{value:.6f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
