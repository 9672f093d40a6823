"""Queries: JSON objects in, checked dataclasses out. Every error names its field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from tengen.frontends.analysis.query_positions import (
    MOST_MOVES,
    Placed,
    QueryGame,
    positions_of,
    read_point,
)
from tengen.frontends.analysis.query_settings import QuerySettings, changed, override
from tengen.frontends.katago_reports import ReportFields, all_moves_but
from tengen.game.color import Color
from tengen.game.geometry import MAX_SIDE, Point, Size
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.game.rules import HandicapBonus, Rules, check_komi, parse_rules
from tengen.search.request import Avoid

LEAST_SIDE = 2
MOST_PRIORITY = 2**62
DEEPEST = 10**9  # of a move to avoid
SHORTEST_REPORT, LONGEST_REPORT = 0.001, 1e6  # seconds


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
    first_report: float | None  # seconds until there is word from a search under way
    report_every: float | None
    notices: tuple[Notice, ...]


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
FIELDS = {
    "id",
    "moves",
    "initialStones",
    "initialPlayer",
    "rules",
    "komi",
    "whiteHandicapBonus",
    "boardXSize",
    "boardYSize",
    "analyzeTurns",
    "avoidMoves",
    "allowMoves",
    "overrideSettings",
    "reportDuringSearchEvery",
    "firstReportDuringSearchAfter",
    "priority",
    "priorities",
    *_INCLUDES,
    *_PARAMS_OF_QUERIES,
}


def read_query(fields: Fields, defaults: QuerySettings) -> Query:
    """A query whose `id` is known to be text; raises QueryError."""
    game = _game(fields)
    numbers, priorities = _turns(fields, len(game.moves))
    settings, notices = _settings(fields, defaults)
    include = ReportFields(**{_INCLUDES[name]: read_switch(fields, name) for name in _INCLUDES})
    every = read_number(fields, "reportDuringSearchEvery", SHORTEST_REPORT, LONGEST_REPORT)
    first = read_number(fields, "firstReportDuringSearchAfter", SHORTEST_REPORT, LONGEST_REPORT)
    avoid = _avoid(fields, game.size)
    line = _positions(game)
    notices += [
        Notice(name[:200], "this field is not known; is it misspelt?")
        for name in fields
        if name not in FIELDS
    ]
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


# The game


def _game(fields: Fields) -> QueryGame:
    size = Size(_side(fields, "boardXSize"), _side(fields, "boardYSize"))
    rules, komi = _rules(fields)
    if fields.get("moves") is None:
        raise QueryError("moves", "a list of [player, point] pairs is needed, if only an empty one")
    player = fields.get("initialPlayer")
    return QueryGame(
        size,
        rules,
        komi,
        stones=_placed(fields, "initialStones", size),
        moves=_placed(fields, "moves", size),
        first_player=None if player is None else color_of("initialPlayer", player),
    )


def _side(fields: Fields, name: str) -> int:
    side = read_whole(fields, name, LEAST_SIDE, MAX_SIDE)
    if side is None:
        raise QueryError(name, f"a whole number from {LEAST_SIDE} to {MAX_SIDE} is needed")
    return side


def _rules(fields: Fields) -> tuple[Rules, float]:
    """The rules and the komi; a komi of its own goes before one among the rules."""
    given = fields.get("rules")
    if given is None:
        raise QueryError("rules", 'a name such as "chinese" or a JSON object is needed')
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise QueryError("rules", f"these rules are no valid JSON: {error}") from None
    komi = None
    if isinstance(given, Mapping):
        given = dict(given)
        komi = given.pop("komi", None)
    try:
        rules = parse_rules(given)
    except ValueError as error:
        raise QueryError("rules", str(error)) from None
    if fields.get("whiteHandicapBonus") is not None:
        rules = replace(rules, white_handicap_bonus=_bonus(fields["whiteHandicapBonus"]))
    usual = rules.default_komi if komi is None else _komi("rules", komi)
    given_komi = fields.get("komi")
    return rules, usual if given_komi is None else _komi("komi", given_komi)


def _komi(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QueryError(name, f"komi is a number, not {shown(value)}")
    try:
        return check_komi(value)
    except (ValueError, OverflowError) as error:
        raise QueryError(name, str(error)) from None


def _bonus(value: Any) -> HandicapBonus:
    try:
        return HandicapBonus(value if isinstance(value, str) else "")
    except ValueError:
        raise QueryError("whiteHandicapBonus", '"0", "N" or "N-1" is needed') from None


def _placed(fields: Fields, name: str, size: Size) -> tuple[Placed, ...]:
    """Stones or moves, as pairs of player and point."""
    wanted = 'a list of pairs such as ["B", "D4"] is needed'
    given = list_of(name, fields[name] if fields.get(name) is not None else [], wanted)
    if len(given) > MOST_MOVES:
        raise QueryError(name, f"at most {MOST_MOVES} are possible, not {len(given)}")
    found = []
    for pair in given:
        if len(list_of(name, pair, f"{wanted}, not {shown(pair)}")) != 2:
            raise QueryError(name, f"{wanted}, not {shown(pair)}")
        color = color_of(name, pair[0])
        point = _point(name, pair[1], size)
        if point is None and name == "initialStones":
            raise QueryError(name, "a pass is no stone")
        found.append(Placed(color, point))
    return tuple(found)


def _point(name: str, value: Any, size: Size) -> Point | None:
    """A point, None for a pass."""
    if not isinstance(value, str):
        raise QueryError(name, f'a point such as "D4" or "pass" is needed, not {shown(value)}')
    try:
        return read_point(value, size)
    except ValueError as error:
        raise QueryError(name, str(error)[:200]) from None


def _positions(game: QueryGame) -> list[Position]:
    try:
        return positions_of(game)
    except IllegalMoveError as error:
        raise QueryError("moves", f"Illegal {error}") from None  # the words that clients look for
    except ValueError as error:
        raise QueryError("initialStones", str(error)) from None


# What is asked


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
        settings, left_out = override(settings, given)
        if left_out:
            text = f"left out: {'; '.join(left_out)}"
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
        settings = changed(settings, name, fields[name])
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
        color, depth = color_of(name, each["player"]), each["untilDepth"]
        if not is_whole(depth) or not 1 <= depth <= DEEPEST:
            raise QueryError(name, f"untilDepth is a whole number over 0, not {shown(depth)}")
        moves = list_of(name, each["moves"], "moves is a list of points")
        points = {_point(name, move, size) for move in moves}
        if name == "allowMoves":
            if color in players:
                raise QueryError(name, f"there may be one object for {color}, not two")
            points = all_moves_but(points, size)
        players.add(color)
        found.update({(color, point): Avoid(color, point, depth) for point in points})
    return tuple(found.values())
