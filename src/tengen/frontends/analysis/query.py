"""Queries: JSON objects in, checked dataclasses out. Every error names its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from tengen.engine.katago_params import (
    ANALYSIS,
    KATAGO_PARAMS,
    PLAYING,
    Takers,
    needs_people,
    parse_value,
    with_root_optimism,
)
from tengen.frontends.analysis.query_fields import (
    Fields,
    QueryError,
    color_of,
    is_whole,
    list_of,
    read_number,
    read_switch,
    read_whole,
    read_wholes,
    shown,
)
from tengen.frontends.analysis.query_game import point_of, read_game
from tengen.frontends.katago_reports import SIDES, ReportFields, all_moves_but
from tengen.game.color import Color
from tengen.game.geometry import Point, Size
from tengen.game.position import Position
from tengen.search.human_style import NO_STYLE, HumanStyle
from tengen.search.params import SearchParams
from tengen.search.request import Avoid, Limits, RootOptions, SearchRequest
from tengen.user_messages import say

MOST_PRIORITY = 2**62
LEAST_SECONDS = 1e-3
DEEPEST = 10**9  # of a move to avoid
SHORTEST_REPORT, LONGEST_REPORT = 0.001, 1e6  # seconds
# As KataGo in analysis: somewhat more moves than a player would look at.
ANALYSIS_PARAMS = SearchParams(**PLAYING, wide_root_noise=0.04)


@dataclass(frozen=True)
class QuerySettings:
    """How to search a position and report on it: defaults, and what `overrideSettings` changes.

    Unknown names are left out with a warning: clients send settings meant for other versions, and a
    query must not fail for that. As in KataGo, an impossible value is an error.
    """

    visits: int = 500
    playouts: int | None = None
    seconds: float | None = None
    perspective: str = "BLACK"  # or WHITE, or SIDETOMOVE
    pv_length: int = 15  # moves after the first
    symmetry_pruning: bool = True
    symmetries: int = 1  # of the board, over which the root's evaluation is averaged
    playout_advantage: float = 0.0  # log2 of the playouts that the network is told one side has
    advantage_of: str = "E"  # B or W; E: the side to play
    ignore_history: bool = True  # of moves before the position, as inputs of the network
    ignore_all_history: bool = False  # of all moves
    root_noise: bool = False
    root_temperature: float = 1.0
    root_temperature_early: float | None = None  # None: the same
    human: HumanStyle = NO_STYLE
    params: SearchParams = field(default=ANALYSIS_PARAMS)
    # Is there a network that a parameter about people is for?
    takes_people: Callable[[str], bool] = field(default=lambda _: False, compare=False)

    @property
    def noisy_root(self) -> bool:
        """Does the root want other priors than the network's own?"""
        early = self.root_temperature_early
        return self.root_noise or self.root_temperature != 1 or early not in (None, 1.0)

    def search_params(self) -> SearchParams:
        """The parameters with the root's temperature; its noise only where it was asked for."""
        late = self.root_temperature
        early = late if self.root_temperature_early is None else self.root_temperature_early
        return replace(
            self.params,
            root_temperature=late,
            root_temperature_early=early,
            noise_share=self.params.noise_share if self.root_noise else 0.0,
            forced_playouts=0.0,
        )

    def overridden(self, given: Mapping[str, Any]) -> tuple[QuerySettings, list[str]]:
        """The settings changed by `overrideSettings`, and the names that are not known.

        Raises ValueError for a value that is out of range or of another kind.
        """
        settings, unknown = self, []
        for name, value in given.items():
            try:
                settings = settings.changed(name, value)
            except KeyError:
                unknown.append(name[:80])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        if "policyOptimism" in given and "rootPolicyOptimism" not in given:
            changed = with_root_optimism({"optimism": settings.params.optimism})
            settings = replace(settings, params=replace(settings.params, **changed))
        return settings, unknown

    def changed(self, name: str, value: Any) -> QuerySettings:
        """The settings with one of them changed.

        Raises KeyError for an unknown one, else ValueError that says what is needed.
        """
        param = KATAGO_PARAMS.get(name)
        if param is not None and Takers.IGNORED_BY_ANALYSIS in param.takers:
            parse_value(param, value)
            return self
        if param is None or (param.field and ANALYSIS not in param.takers):
            raise KeyError(name)
        if needs_people(name) and value != "" and not self.takes_people(name):
            raise ValueError(
                "it needs a network that was trained on the moves of people: --human-model FILE"
            )
        if param.of_human:
            parsed = getattr(NO_STYLE, param.field) if value == "" else parse_value(param, value)
            return replace(self, human=replace(self.human, **{param.field: parsed}))
        parsed = parse_value(param, value)
        if not param.field:
            _say_without_effect(name)
            return self
        if param.is_switch:
            parsed = getattr(ANALYSIS_PARAMS, param.field) if parsed else 0.0
        change = {param.field: parsed}
        return replace(
            self, **{"params": replace(self.params, **change)} if param.of_search else change
        )


@cache
def _say_without_effect(name: str) -> None:
    """Say once that a parameter of KataGo's has no effect here."""
    say(f"{name} has no effect here")


class Notice(NamedTuple):
    """A warning about a query that is answered nevertheless."""

    field: str
    text: str


class QueryTurn(NamedTuple):
    """One position to analyse."""

    number: int
    position: Position
    priority: int


@dataclass(frozen=True, eq=False)
class Query:
    """Positions of one game, and what is asked about them."""

    id: str
    turns: tuple[QueryTurn, ...]
    settings: QuerySettings
    avoid: tuple[Avoid, ...]
    include: ReportFields
    first_report: float | None  # seconds until the first report on a search under way
    report_every: float | None
    notices: tuple[Notice, ...]

    def request(self, turn: QueryTurn) -> SearchRequest:
        """What the engine is asked for."""
        settings, include = self.settings, self.include
        position, seconds = turn.position, settings.seconds
        return SearchRequest(
            position.resumed() if position.is_over else position,
            Limits(
                visits=settings.visits,
                playouts=settings.playouts,
                seconds=None if seconds is None else max(seconds, LEAST_SECONDS),
            ),
            RootOptions(
                noisy=settings.noisy_root,
                avoid=self.avoid,
                symmetry_pruning=settings.symmetry_pruning,
                ignore_history=settings.ignore_history,
                ignore_all_history=settings.ignore_all_history,
                symmetries=settings.symmetries,
                playout_advantage=settings.playout_advantage,
                advantage_of=SIDES[settings.advantage_of],
                human=settings.human,
            ),
            replace(include.wanted(settings.pv_length + 1), root_evaluation=include.policy),
            params=settings.search_params(),
            progress_interval=self.report_every,
            first_progress=self.first_report,
            priority=turn.priority,
        )


_INCLUDES = {
    "includeOwnership": "ownership",
    "includeOwnershipStdev": "ownership_stdev",
    "includeMovesOwnership": "moves_ownership",
    "includeMovesOwnershipStdev": "moves_ownership_stdev",
    "includePolicy": "policy",
    "includePVVisits": "pv_visits",
    "includeNoResultValue": "no_result",
}
# KataGo's parameters that are fields of a query, too.
_PARAMS_OF_QUERIES = "maxVisits", "analysisPVLen", "rootPolicyTemperature", "rootFpuReductionMax"
_OF_THE_GAME = "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus"
_OF_THE_SEARCH = "analyzeTurns", "avoidMoves", "allowMoves", "overrideSettings"
_OF_REPORTS = "reportDuringSearchEvery", "firstReportDuringSearchAfter", "priority", "priorities"
FIELDS = {"id", "boardXSize", "boardYSize", *_OF_THE_GAME, *_OF_THE_SEARCH, *_OF_REPORTS}
FIELDS |= {*_INCLUDES, *_PARAMS_OF_QUERIES}


def read_query(fields: Fields, defaults: QuerySettings) -> Query:
    """A query whose `id` is known to be text; raises QueryError."""
    game = read_game(fields)
    numbers, priorities = _turns(fields, len(game.moves))
    settings, notices = _settings(fields, defaults)
    include = ReportFields(**{_INCLUDES[name]: read_switch(fields, name) for name in _INCLUDES})
    every = read_number(fields, "reportDuringSearchEvery", SHORTEST_REPORT, LONGEST_REPORT)
    first = read_number(fields, "firstReportDuringSearchAfter", SHORTEST_REPORT, LONGEST_REPORT)
    avoid = _avoid(fields, game.begin.size)
    line = game.positions()
    if game.rules_notice:
        notices.append(Notice("rules", game.rules_notice))
    unknown = "this field is not known; is it misspelt?"
    notices += [Notice(name[:200], unknown) for name in fields if name not in FIELDS]
    if not numbers:
        notices.append(Notice("analyzeTurns", "no turn was asked for: there will be no answer"))
    return Query(
        id=fields["id"],
        turns=tuple(QueryTurn(number, line[number], priorities[number]) for number in numbers),
        settings=settings,
        avoid=avoid,
        include=include,
        first_report=every if first is None else first,
        report_every=every,
        notices=tuple(notices),
    )


def _turns(fields: Fields, moves: int) -> tuple[list[int], Mapping[int, int]]:
    """The turns to analyse, in order, and the priority of each."""
    if fields.get("priority") is not None and fields.get("priorities") is not None:
        raise QueryError("priority", "only one of priority and priorities is possible")
    priority = read_whole(fields, "priority", -MOST_PRIORITY, MOST_PRIORITY) or 0
    turns = read_wholes(fields, "analyzeTurns")
    priorities = read_wholes(fields, "priorities")
    if turns is None:
        if priorities is not None:
            raise QueryError("priorities", "priorities need analyzeTurns")
        return [moves], {moves: priority}
    for turn in turns:
        if not 0 <= turn <= moves:
            raise QueryError("analyzeTurns", f"turns run from 0 to {moves} here, not {turn}")
    if priorities is None:
        priorities = [priority] * len(turns)
    if len(priorities) != len(turns):
        raise QueryError("priorities", "there must be as many as analyzeTurns")
    if any(abs(each) > MOST_PRIORITY for each in priorities):
        raise QueryError("priorities", "priorities run from -2^62 to 2^62")
    by_turn = dict(zip(turns, priorities, strict=True))
    return sorted(by_turn), by_turn


def _settings(fields: Fields, settings: QuerySettings) -> tuple[QuerySettings, list[Notice]]:
    notices = []
    given = fields.get("overrideSettings")
    if given is not None:
        if not isinstance(given, Mapping):
            raise QueryError("overrideSettings", "a JSON object is needed")
        try:
            settings, unknown = settings.overridden(given)
        except ValueError as error:
            raise QueryError("overrideSettings", f"Could not set settings: {error}") from None
        if unknown:
            text = f"Unknown config params: {','.join(unknown)}"
            notices.append(Notice("overrideSettings", text[:1000]))
    for name in _PARAMS_OF_QUERIES:
        if fields.get(name) is not None:
            settings = _with_param(fields, name, settings)
    return settings, notices


def _with_param(fields: Fields, name: str, settings: QuerySettings) -> QuerySettings:
    """The settings with a parameter that is a field of the query itself; raises QueryError."""
    if isinstance(fields[name], str):
        raise QueryError(name, "a number is needed, not text")
    try:
        settings = settings.changed(name, fields[name])
    except ValueError as error:
        raise QueryError(name, str(error)) from None
    if name == "rootPolicyTemperature":  # of the whole game
        settings = replace(settings, root_temperature_early=settings.root_temperature)
    return settings


def _avoid(fields: Fields, size: Size) -> tuple[Avoid, ...]:
    """The moves not to search."""
    if fields.get("avoidMoves") is not None and fields.get("allowMoves") is not None:
        raise QueryError("allowMoves", "only one of allowMoves and avoidMoves is possible")
    name = "allowMoves" if fields.get("allowMoves") is not None else "avoidMoves"
    given = fields.get(name)
    wanted = "a list of objects with player, moves and untilDepth is needed"
    if given is None:
        return ()
    found: dict[tuple[Color, Point | None], Avoid] = {}
    players = set()
    for each in list_of(name, given, wanted):
        if not isinstance(each, Mapping) or not {"player", "moves", "untilDepth"} <= set(each):
            raise QueryError(name, wanted)
        color, depth = color_of("player", each["player"]), each["untilDepth"]
        if not is_whole(depth) or not 1 <= depth <= DEEPEST:
            raise QueryError("untilDepth", f"a whole number over 0 is needed, not {shown(depth)}")
        moves = list_of("moves", each["moves"], "a list of points is needed")
        points = {point_of("moves", move, size) for move in moves}
        if name == "allowMoves":
            if color in players:
                raise QueryError(name, f"there may be one object for {color}, not two")
            points = all_moves_but(points, size)
        players.add(color)
        found.update({(color, point): Avoid(color, point, depth) for point in points})
    return tuple(found.values())
