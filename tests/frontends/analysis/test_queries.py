"""Queries as clients write them, right and wrong: every field, and the field to blame."""

from __future__ import annotations

from typing import Any

import pytest

from tengen.frontends.analysis.query import Query, QuerySettings, read_query
from tengen.frontends.analysis.query_fields import QueryError
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.rules import KoRule
from tests.frontends.analysis.conversation import query


def read(**fields: Any) -> Query:
    return read_query(query(**fields), QuerySettings())


def blamed(**fields: Any) -> str | None:
    with pytest.raises(QueryError) as caught:
        read(**fields)
    assert str(caught.value)
    return caught.value.field


def test_the_last_turn_is_analysed_unless_others_are_named() -> None:
    moves = [["B", "C3"], ["W", "D4"], ["B", "pass"]]
    (turn,) = read(moves=moves).turns
    assert (turn.number, turn.position.move_number) == (3, 3)
    turns = read(moves=moves, analyzeTurns=[2, 0, 2]).turns
    assert [turn.number for turn in turns] == [0, 2]
    assert [turn.number for turn in read(moves=moves, analyzeTurns=[1.0]).turns] == [1]
    assert [turn.position.to_play for turn in turns] == [Color.BLACK, Color.BLACK]
    assert [turn.position.at("D4") for turn in turns] == [None, Color.WHITE]


def test_colours_and_points_may_be_written_in_several_ways() -> None:
    moves = [["b", "c3"], ["white", "(3,1)"], ["BLACK", "PASS"]]
    position = read(moves=moves).turns[0].position
    assert position.at("C3") is Color.BLACK
    assert position.at("D4") is Color.WHITE
    assert position.passes == 1


def test_the_board_may_be_a_rectangle() -> None:
    position = read(boardXSize=4, boardYSize=7, moves=[["B", "D7"]]).turns[0].position
    assert position.size == (4, 7)
    assert position.at((3, 0)) is Color.BLACK


def test_stones_to_begin_with_and_the_player() -> None:
    stones = [["B", "B2"], ["W", "D4"], ["B", "D4"]]  # the later one stays
    position = read(initialStones=stones, initialPlayer="w").turns[0].position
    assert position.at("D4") is Color.BLACK
    assert position.to_play is Color.WHITE
    assert position.moves == []


@pytest.mark.parametrize(
    ("fields", "player"),
    [
        ({}, Color.BLACK),
        ({"initialStones": [["B", "B2"], ["B", "D4"]]}, Color.WHITE),  # a handicap
        ({"initialStones": [["B", "B2"], ["W", "D4"]]}, Color.BLACK),
        ({"moves": [["W", "B2"]], "analyzeTurns": [0]}, Color.WHITE),
        ({"moves": [["W", "B2"]], "analyzeTurns": [0], "initialPlayer": "B"}, Color.BLACK),
    ],
)
def test_who_begins_where_nobody_says(fields: dict[str, Any], player: Color) -> None:
    assert read(**fields).turns[0].position.to_play is player


def test_moves_need_not_alternate_and_may_break_ko() -> None:
    moves = ["B2", "C2", "A3", "D3", "B4", "C4", "E1", "B3", "C3", "B3"]
    played = [["BW"[k % 2], move] for k, move in enumerate(moves)]
    assert read(moves=[*played, ["W", "E5"], ["W", "E4"]]).turns[0].position.move_number == 12


@pytest.mark.parametrize(
    "rules",
    [
        *("tromp-taylor", "japanese", "chinese", "korean", "aga", "new zealand", "stone_scoring"),
        *("New-Zealand", "bga", "ancient-territory", "chinese-ogs", "aga-button", "goe"),
        {"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "SEKI", "suicide": False},
        {"ko": "POSITIONAL", "score": "AREA", "hasButton": True, "friendlyPassOk": True},
        '{"ko": "SIMPLE", "scoring": "AREA"}',
        "koSIMPLEscoreTERRITORYtaxSEKIsui0",
    ],
)
def test_rules_as_katago_takes_them(rules: Any) -> None:
    assert read(rules=rules).turns


def test_komi_of_its_own_of_the_rules_or_the_usual_one() -> None:
    def komi(**fields: Any) -> float:
        return read(**fields).turns[0].position.komi

    assert komi(komi=0) == 0
    assert komi(komi=-3.5) == -3.5
    assert komi(komi=None, rules="japanese") == 6.5
    assert komi(komi=None, rules="tromp-taylor") == 7.5
    assert komi(komi=None, rules={"scoring": "AREA", "komi": 5}) == 5
    assert komi(komi=1.5, rules={"scoring": "AREA", "komi": 5}) == 1.5


@pytest.mark.parametrize(("bonus", "points"), [("0", 0), ("N", 3), ("N-1", 2), (None, 3)])
def test_white_s_bonus_for_handicap_stones(bonus: str | None, points: float) -> None:
    stones = [["B", "B2"], ["B", "D4"], ["B", "B4"]]
    by_hand = read(initialStones=stones, rules="chinese", whiteHandicapBonus=bonus, komi=0)
    by_moves = read(
        moves=[*stones, ["W", "C3"], ["B", "D2"]],
        rules="chinese",
        whiteHandicapBonus=bonus,
        komi=0,
        analyzeTurns=[0, 1, 2, 3, 4, 5],
    )
    empty = read(rules="chinese", whiteHandicapBonus=bonus, komi=0)

    def white_ahead(position: Any) -> float:
        score = position.score()
        return float(score.white.total - score.black.total)

    on_board = -25.0  # Black alone stands there
    assert white_ahead(by_hand.turns[0].position) == on_board + points
    at = [white_ahead(turn.position) for turn in by_moves.turns]
    assert at[:2] == [white_ahead(empty.turns[0].position), on_board]  # one stone is no handicap
    assert at[3] == on_board + points
    assert [turn.position.handicap for turn in by_moves.turns] == (
        [0, 0, 2, 3, 3, 3] if bonus != "0" else [0] * 6
    )


def test_settings_of_the_query_go_before_those_overridden() -> None:
    settings = {"maxVisits": 7, "rootFpuReductionMax": 0.5, "rootPolicyTemperature": 3}
    asked = read(
        maxVisits=50,
        rootFpuReductionMax=0.25,
        rootPolicyTemperature=1.5,
        analysisPVLen=3,
        overrideSettings={**settings, "analysisPVLen": 9},
    ).settings
    assert (asked.visits, asked.pv_length, asked.root_temperature) == (50, 3, 1.5)
    assert asked.params.root_fpu_reduction == 0.25
    overridden = read(maxVisits=None, overrideSettings=settings).settings
    assert (overridden.visits, overridden.root_temperature) == (7, 3)
    assert overridden.params.root_fpu_reduction == 0.5


def test_priorities() -> None:
    assert read(priority=-4).turns[0].priority == -4
    turns = read(moves=[["B", "C3"]], analyzeTurns=[1, 0], priorities=[5, 9]).turns
    assert [(turn.number, turn.priority) for turn in turns] == [(0, 9), (1, 5)]


def test_reports() -> None:
    assert (read().first_report, read().report_every) == (None, None)
    asked = read(reportDuringSearchEvery=0.5)
    assert (asked.first_report, asked.report_every) == (0.5, 0.5)
    asked = read(reportDuringSearchEvery=0.5, firstReportDuringSearchAfter=0.1)
    assert (asked.first_report, asked.report_every) == (0.1, 0.5)
    asked = read(firstReportDuringSearchAfter=0.1)
    assert (asked.first_report, asked.report_every) == (0.1, None)


def test_moves_to_avoid_and_to_allow() -> None:
    avoid = [
        {"player": "B", "moves": ["C3", "pass"], "untilDepth": 3},
        {"player": "W", "moves": ["C3"], "untilDepth": 10**9},
    ]
    asked = {(each.color, each.move, each.depth) for each in read(avoidMoves=avoid).avoid}
    assert asked == {
        (Color.BLACK, Point(2, 2), 3),
        (Color.BLACK, None, 3),
        (Color.WHITE, Point(2, 2), 10**9),
    }
    allowed = read(allowMoves=[{"player": "W", "moves": ["A1", "pass"], "untilDepth": 2}]).avoid
    assert len(allowed) == 24
    assert all(each.color is Color.WHITE and each.depth == 2 for each in allowed)
    assert Point(0, 4) not in {each.move for each in allowed}


def test_a_field_that_is_not_known_gets_a_warning() -> None:
    (notice,) = read(maxVisit=5).notices
    assert notice.field == "maxVisit"


def test_null_is_as_good_as_no_field() -> None:
    nothing = dict.fromkeys(("komi", "analyzeTurns", "initialPlayer", "priority"))
    assert read_query(query() | nothing, QuerySettings()).turns[0].number == 0


PLAYER = {"player": "B", "moves": ["A1"], "untilDepth": 1}


def with_(**change: Any) -> list[dict[str, Any]]:
    return [{**PLAYER, **change}]


WRONG: dict[str, list[Any]] = {
    "boardXSize": [None, 1, 20, 0, -3, 9.0, "9", True, [9], 10**30],
    "boardYSize": [None, 1, 20, 5.5, "", {}],
    "rules": [
        *(None, "calvinball", "", 5, [], True, "{", '{"ko":', "[]"),
        *({"ko": "MAYBE"}, {"surprise": 1}, {"komi": "7"}, {"komi": 7.3}, {"komi": True}),
    ],
    "komi": ["7.5", 7.3, 400.5, -1000, 1e300, 10**400, True, [], {}],
    "whiteHandicapBonus": ["n", "2", 0, True, []],
    "moves": [
        *(None, "C3", 5, {}, ["C3"], [[]], [["B"]], [["B", 1]], [["B", "C3", "D4"]]),
        *([["B", "I5"]], [["B", "C9"]], [["B", "Z1"]], [["B", ""]], [["B", "(9,9)"]]),
        *([["G", "C3"]], [["", "C3"]], [[None, "C3"]], [[1, "C3"]], [["BW", "C3"]]),
        *([["B", "C3"], ["W", "C3"]], [["B", "pass"]] * 5001),
    ],
    "initialStones": [
        *("C3", [["B", "pass"]], [["B"]], [5], {}),
    ],
    "initialPlayer": ["black and white", 1, [], ""],
    "analyzeTurns": [0, "0", [1], [-1], [0.5], ["0"], [True], {}],
    "maxVisits": [0, -1, 1.5, "100", 2**51, True, []],
    "analysisPVLen": [0, 1001, 2.5, "5"],
    "rootPolicyTemperature": [0, 101, "1", True],
    "rootFpuReductionMax": [-0.1, 2.1, "1", []],
    "overrideSettings": [[], "wideRootNoise", 5, True],
    "reportDuringSearchEvery": [0, -1, 1e7, "1", True],
    "firstReportDuringSearchAfter": [0, -1, 1e7, "1"],
    "priority": [1.5, "1", 2**63, True],
    "priorities": [[1], 5, "1"],
    "avoidMoves": [
        *(5, "", {}, [5], [{"player": "B", "moves": []}]),
    ],
    "allowMoves": [5, "", {}, [5], [PLAYER, PLAYER]],
    "includeOwnership": [1, "true"],
    "includeOwnershipStdev": [0],
    "includeMovesOwnership": [[]],
    "includeMovesOwnershipStdev": [{}],
    "includePolicy": [1, "true"],
    "includePVVisits": ["yes"],
    "includeNoResultValue": [0.5],
}


@pytest.mark.parametrize("field", WRONG)
def test_what_is_wrong_is_blamed_on_its_field(field: str) -> None:
    for wrong in WRONG[field]:
        assert blamed(**{field: wrong}) == field, wrong


# KataGo names the field within, too: see test_like_katago.py.
WRONG_WITHIN: dict[str, list[Any]] = {
    "player": ["", 5],
    "moves": ["A1", ["A9"], [5]],
    "untilDepth": [0, 1.5, "1"],
}


@pytest.mark.parametrize("field", WRONG_WITHIN)
def test_what_is_wrong_within_moves_to_avoid_is_blamed_on_its_field(field: str) -> None:
    for wrong in WRONG_WITHIN[field]:
        assert blamed(avoidMoves=with_(**{field: wrong})) == field, wrong


def test_fields_that_do_not_go_together() -> None:
    assert blamed(priority=1, priorities=[1], analyzeTurns=[0]) == "priority"
    assert blamed(priorities=[1, 2], analyzeTurns=[0]) == "priorities"
    assert blamed(priorities=[2**70], analyzeTurns=[0]) == "priorities"
    assert blamed(avoidMoves=[PLAYER], allowMoves=[PLAYER]) == "allowMoves"


def test_stones_that_have_no_liberty_are_captured_as_they_are_put_down() -> None:
    stones = [["W", "A1"], ["B", "A2"], ["B", "B1"]]
    for order in (stones, stones[::-1]):
        position = read(initialStones=order).turns[0].position
        assert position.at("A1") is None
        assert position.to_play is Color.WHITE  # two black stones are a handicap


def test_spight_s_ko_rule_is_replaced_with_a_warning() -> None:
    for rules in ({"ko": "SPIGHT", "scoring": "AREA"}, "koSPIGHTscoreAREAtaxNONEsui0"):
        asked = read(rules=rules)
        assert [notice.field for notice in asked.notices] == ["rules"]
        assert "SITUATIONAL" in asked.notices[0].text
        assert asked.turns[0].position.rules.ko is KoRule.SITUATIONAL


def test_a_single_stone_s_suicide_is_illegal_and_that_of_two_is_not() -> None:
    one = [["B", "A2"], ["W", "E5"], ["B", "B1"], ["W", "A1"]]
    two = [["B", "A3"], ["W", "A1"], ["B", "B2"], ["W", "E5"], ["B", "B1"], ["W", "A2"]]
    for rules in ("tromp-taylor", "japanese"):
        with pytest.raises(QueryError, match=r"^Illegal move 4, white A1"):
            read(moves=one, rules=rules)
        assert read(moves=two, rules=rules).turns[0].position.captured("white") == 2


def test_an_illegal_move_is_called_so() -> None:
    """KaTrain looks for these words when it tries moves out."""
    with pytest.raises(QueryError, match=r"^Illegal move 2, white C3"):
        read(moves=[["B", "C3"], ["W", "C3"]])
