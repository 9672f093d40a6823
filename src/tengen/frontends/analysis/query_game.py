"""The game of a query: board, rules, stones to begin with, then moves as a game record has them.

As in KataGo, moves against ko, superko and suicide are accepted: records have them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tengen.frontends.analysis.query_fields import (
    Fields,
    QueryError,
    color_of,
    is_number,
    list_of,
    read_whole,
    shown,
)
from tengen.frontends.katago_reports import HandicapCount, after_move, handicap_counts
from tengen.game.color import Color
from tengen.game.geometry import MAX_SIDE, Point, Size, parse_point
from tengen.game.illegal_moves import IllegalMoveError, SuicideError
from tengen.game.position import Move, Position
from tengen.game.rules import (
    SPIGHT,
    HandicapBonus,
    Rules,
    check_komi,
    nearest_known,
    parse_rules,
)

LEAST_SIDE = 2
_SPIGHT = "no network knows Spight's ko rule: using SITUATIONAL instead"
_BUTTON = "no network knows a button under territory scoring: playing without it"
_KOMI_AT_END = re.compile(
    r"\s*(ko[A-Z].*)komi(-?\d{1,4}(?:\.\d{1,3})?)\s*", re.IGNORECASE | re.ASCII
)
MOST_MOVES = 5000  # each keeps a board and the history up to it


@dataclass(frozen=True)
class QueryGame:
    """Where a game begins, and its moves."""

    begin: Position  # with the stones to begin with
    moves: tuple[Move, ...]
    first_player: Color | None  # None: as the moves or the stones tell
    rules_notice: str  # a warning about the rules, or ""

    def positions(self) -> list[Position]:
        """[moves + 1] the positions before the first and after each move; raises QueryError."""
        line = [self._start()]
        try:
            for move in self.moves:
                line.append(after_move(line[-1], move.point, move.color))
        except IllegalMoveError as error:
            raise QueryError("moves", f"Illegal {error}") from None  # what clients look for
        if self.begin.rules.white_handicap_bonus is HandicapBonus.ZERO:
            return line
        counts = zip(line, handicap_counts(line), strict=True)
        return [each.compensated(count.handicap) for each, count in counts]

    def _start(self) -> Position:
        player = self.first_player
        if player is None and self.moves:
            player = self.moves[0].color
        if player is None:
            player = Color.WHITE if HandicapCount.at(self.begin).handicap else Color.BLACK
        if self.begin.previous is None and player is Color.BLACK:
            return self.begin
        return self.begin.set_up(to_play=player, handicap=0)


def read_game(fields: Fields) -> QueryGame:
    """The game from the fields of a query; raises QueryError."""
    size = Size(_side(fields, "boardXSize"), _side(fields, "boardYSize"))
    rules, komi, rules_notice = _rules(fields)
    if fields.get("moves") is None:
        raise QueryError("moves", "a list of [player, point] pairs is needed, if only an empty one")
    player = fields.get("initialPlayer")
    return QueryGame(
        _with_stones(Position(size, rules, komi), _placed(fields, "initialStones", size)),
        moves=tuple(_placed(fields, "moves", size)),
        first_player=None if player is None else color_of("initialPlayer", player),
        rules_notice=rules_notice,
    )


def _with_stones(position: Position, stones: list[Move]) -> Position:
    """The position with stones put down one after the other, which may capture, as in KataGo."""
    if any(point is None for _, point in stones):
        raise QueryError("initialStones", "a pass is no stone")
    colors = {point: color for color, point in stones if point is not None}
    if not colors:
        return position
    try:
        black, white = ([point for point in colors if colors[point] is c] for c in Color)
        return position.set_up(black, white, handicap=0)
    except ValueError:
        for point, color in colors.items():
            with suppress(SuicideError):
                position = after_move(position, point, color)
        return position.set_up(handicap=0)


def _side(fields: Fields, name: str) -> int:
    side = read_whole(fields, name, LEAST_SIDE, MAX_SIDE)
    if side is None:
        raise QueryError(name, f"a whole number from {LEAST_SIDE} to {MAX_SIDE} is needed")
    return side


def _rules(fields: Fields) -> tuple[Rules, float, str]:
    """Rules, komi and a warning about the rules; a komi field overrides the komi in the rules."""
    given = fields.get("rules")
    if given is None:
        raise QueryError("rules", 'a name such as "chinese" or a JSON object is needed')
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise QueryError("rules", f"these rules are no valid JSON: {error}") from None
    komi = None
    if isinstance(given, str) and (ends := _KOMI_AT_END.fullmatch(given)):  # KataGo's notation
        given, komi = ends[1], float(ends[2])
    if isinstance(given, Mapping):
        given = dict(given)
        komi = given.pop("komi", None)
    try:
        rules = parse_rules(given)
    except ValueError as error:
        raise QueryError("rules", str(error)) from None
    usual = rules.default_komi if komi is None else _komi("rules", komi)
    if fields.get("whiteHandicapBonus") is not None:
        rules = replace(rules, white_handicap_bonus=_bonus(fields["whiteHandicapBonus"]))
    known = nearest_known(rules)
    notice = _SPIGHT if SPIGHT in json.dumps(given).upper() else _BUTTON if known != rules else ""
    given_komi = fields.get("komi")
    return known, usual if given_komi is None else _komi("komi", given_komi), notice


def _komi(name: str, value: Any) -> float:
    if not is_number(value):
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


def _placed(fields: Fields, name: str, size: Size) -> list[Move]:
    """Stones or moves, from pairs of player and point."""
    wanted = 'a list of pairs such as ["B", "D4"] is needed'
    given = list_of(name, fields[name] if fields.get(name) is not None else [], wanted)
    if len(given) > MOST_MOVES:
        raise QueryError(name, f"at most {MOST_MOVES} are possible, not {len(given)}")
    for pair in given:
        if len(list_of(name, pair, f"{wanted}, not {shown(pair)}")) != 2:
            raise QueryError(name, f"{wanted}, not {shown(pair)}")
    return [Move(color_of(name, player), point_of(name, at, size)) for player, at in given]


def point_of(name: str, value: Any, size: Size) -> Point | None:
    """A point within a field, from `D4` or `(3,15)`, x from the left, y from the top; None: pass.

    Raises QueryError.
    """
    if not isinstance(value, str):
        raise QueryError(name, f'a point such as "D4" or "pass" is needed, not {shown(value)}')
    if value.strip().lower() == "pass":
        return None
    numbers = re.fullmatch(r"\s*\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)\s*", value, re.ASCII)
    try:
        x, y = map(int, numbers.groups()) if numbers else parse_point(value, size.height)
    except ValueError as error:
        raise QueryError(name, str(error)[:200]) from None
    if not (0 <= x < size.width and 0 <= y < size.height):
        raise QueryError(name, f"{value.strip()} is off the {size} board")
    return Point(x, y)
