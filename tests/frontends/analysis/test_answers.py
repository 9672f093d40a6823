"""What an answer holds, and from whose point of view."""

from __future__ import annotations

from typing import Any

import pytest

from tengen.game.position import Position
from tests.frontends.analysis.conversation import Conversation, query

# As KATAGO.md lists them; human- fields are for networks that have them.
MOVE_FIELDS = {
    *("move", "visits", "edgeVisits", "weight", "edgeWeight", "winrate", "scoreMean"),
    *("scoreLead", "scoreSelfplay", "scoreStdev", "prior", "utility", "lcb", "utilityLcb"),
    *("order", "playSelectionValue", "pv"),
}
ROOT_FIELDS = {
    *("visits", "weight", "winrate", "scoreLead", "scoreSelfplay", "scoreStdev", "utility"),
    *("lcb", "thisHash", "symHash", "currentPlayer", "rawWinrate", "rawLead"),
    *("rawScoreSelfplay", "rawScoreSelfplayStdev", "rawNoResultProb", "rawStWrError"),
    *("rawStScoreError", "rawVarTimeLeft"),
}
ALL_INCLUDED = dict.fromkeys(
    [
        "includeOwnership",
        "includeOwnershipStdev",
        "includeMovesOwnership",
        "includeMovesOwnershipStdev",
        "includePolicy",
        "includePVVisits",
        "includeNoResultValue",
    ],
    True,
)
UNPRUNED = {"rootSymmetryPruning": False}


def answer_to(**fields: Any) -> dict[str, Any]:
    with Conversation() as client:
        return client.one(query(**fields))


def test_a_plain_answer_has_katago_s_fields_and_no_others() -> None:
    answer = answer_to(maxVisits=20, overrideSettings=UNPRUNED)
    assert set(answer) == {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo"}
    assert (answer["id"], answer["turnNumber"], answer["isDuringSearch"]) == ("q", 0, False)
    assert set(answer["rootInfo"]) == ROOT_FIELDS
    assert answer["rootInfo"]["visits"] == 20
    for move in answer["moveInfos"]:
        assert set(move) == MOVE_FIELDS
    assert sum(move["edgeVisits"] for move in answer["moveInfos"]) == 19


def test_what_is_included_is_there() -> None:
    asked = {"boardXSize": 4, "boardYSize": 6, "overrideSettings": UNPRUNED}
    answer = answer_to(maxVisits=20, **asked, **ALL_INCLUDED)
    assert len(answer["ownership"]) == len(answer["ownershipStdev"]) == 24
    assert len(answer["policy"]) == 25
    assert sum(answer["policy"]) == pytest.approx(1)
    for move in answer["moveInfos"]:
        extra = {"noResultValue", "pvVisits", "pvEdgeVisits", "ownership", "ownershipStdev"}
        assert set(move) == MOVE_FIELDS | extra
        assert len(move["ownership"]) == len(move["ownershipStdev"]) == 24
        assert len(move["pvVisits"]) == len(move["pvEdgeVisits"]) == len(move["pv"])
        assert move["pvEdgeVisits"][0] == move["edgeVisits"]


def test_moves_come_in_order_with_their_lines() -> None:
    answer = answer_to(maxVisits=60, overrideSettings=UNPRUNED)
    moves = answer["moveInfos"]
    assert [move["order"] for move in moves] == list(range(len(moves)))
    weights = [move["playSelectionValue"] for move in moves]
    assert weights == sorted(weights, reverse=True)
    position = Position(5, "tromp-taylor", 7.5)
    for move in moves:
        assert move["pv"][0] == move["move"]
        position.play_all(move["pv"])  # legal, every one of them


def test_a_line_is_as_long_as_asked_for() -> None:
    """KataGo counts the moves after the first."""
    answer = answer_to(maxVisits=200, analysisPVLen=1)
    assert max(len(move["pv"]) for move in answer["moveInfos"]) == 2


@pytest.mark.parametrize(
    ("perspective", "first", "second"),
    [(None, 1, 1), ("BLACK", 1, 1), ("WHITE", -1, -1), ("SIDETOMOVE", 1, -1)],
)
def test_values_are_for_black_unless_asked_otherwise(
    perspective: str | None, first: int, second: int
) -> None:
    """The network says: Black wins 80%, by 5 points, and owns a half of every point."""
    settings = {} if perspective is None else {"reportAnalysisWinratesAs": perspective}
    asked = query(
        moves=[["B", "C3"]],
        analyzeTurns=[0, 1],
        overrideSettings=settings,
        includeOwnership=True,
        includeMovesOwnership=True,
    )
    with Conversation() as client:
        answers = client.ask(asked, 2)
    for answer in answers:
        sign = (first, second)[answer["turnNumber"]]
        root = answer["rootInfo"]
        assert root["currentPlayer"] == "BW"[answer["turnNumber"]]
        assert root["winrate"] == pytest.approx(0.5 + 0.3 * sign, abs=1e-5)
        assert root["scoreLead"] == pytest.approx(5 * sign, abs=1e-4)
        assert root["scoreSelfplay"] == pytest.approx(6 * sign, abs=1e-4)
        assert root["scoreStdev"] == pytest.approx(10, abs=1e-3)
        assert root["rawWinrate"] == pytest.approx(0.5 + 0.3 * sign, abs=1e-5)
        assert root["rawLead"] == pytest.approx(5 * sign)
        assert root["rawScoreSelfplay"] == pytest.approx(6 * sign)
        assert root["utility"] * sign > 0
        assert answer["ownership"] == pytest.approx([0.5 * sign] * 25, abs=0.01)
        for move in answer["moveInfos"]:
            assert move["winrate"] == pytest.approx(root["winrate"], abs=1e-5)
            assert move["scoreMean"] == move["scoreLead"] == pytest.approx(5 * sign, abs=1e-4)
            assert move["ownership"] == pytest.approx([0.5 * sign] * 25, abs=0.01)


def test_the_bound_is_on_the_side_of_the_player_to_move() -> None:
    """What Black cannot count on is below the mean; what White cannot, above it, for Black."""
    with Conversation() as client:
        asked = query(moves=[["B", "C3"]], analyzeTurns=[0, 1], maxVisits=40)
        by_turn = {answer["turnNumber"]: answer for answer in client.ask(asked, 2)}
    for move in by_turn[0]["moveInfos"]:
        assert move["lcb"] <= move["winrate"]
        assert move["utilityLcb"] <= move["utility"]
    for move in by_turn[1]["moveInfos"]:
        assert move["lcb"] >= move["winrate"]
        assert move["utilityLcb"] >= move["utility"]


def test_what_the_network_doubts_is_told_as_katago_does() -> None:
    root = answer_to()["rootInfo"]
    assert root["rawStWrError"] == pytest.approx(0.1)  # of a winrate, half of that of a value
    assert root["rawStScoreError"] == pytest.approx(2)
    assert root["rawVarTimeLeft"] == pytest.approx(30)


def test_the_policy_runs_from_the_top_and_marks_illegal_moves() -> None:
    moves = [["B", "B5"], ["W", "C3"], ["B", "A4"]]  # White at A5 would be suicide
    answer = answer_to(moves=moves, rules="japanese", includePolicy=True)
    policy = answer["policy"]
    assert [place for place in range(26) if policy[place] == -1] == [0, 1, 5, 12]
    assert policy[-2] > policy[2] > 0  # the network likes lower rows
    assert sum(share for share in policy if share >= 0) == pytest.approx(1)


def test_moves_to_avoid_do_not_change_what_the_network_says() -> None:
    avoid = [{"player": "B", "moves": ["C1", "D1", "E1"], "untilDepth": 1}]
    plain, avoiding = (
        answer_to(includePolicy=True, maxVisits=30, avoidMoves=moves) for moves in (None, avoid)
    )
    assert plain["policy"] == avoiding["policy"]
    assert {"C1", "D1", "E1"} & {move["move"] for move in plain["moveInfos"]}
    assert not {"C1", "D1", "E1"} & {move["move"] for move in avoiding["moveInfos"]}


def test_only_allowed_moves_are_searched() -> None:
    allow = [{"player": "b", "moves": ["A5", "pass"], "untilDepth": 1}]
    answer = answer_to(maxVisits=30, allowMoves=allow)
    assert {move["move"] for move in answer["moveInfos"]} <= {"A5", "pass"}
    assert any(len(move["pv"]) > 1 for move in answer["moveInfos"])


@pytest.mark.parametrize("allowed", [[], ["C3"]])
def test_a_query_that_allows_no_legal_move_has_the_network_s_word_alone(allowed: list[str]) -> None:
    """As KataGo: all visits are the position's own."""
    allow = [{"player": "B", "moves": allowed, "untilDepth": 1}]
    answer = answer_to(allowMoves=allow, moves=[["B", "C3"], ["W", "B2"]])
    root = answer["rootInfo"]
    assert answer["moveInfos"] == []
    assert root["visits"] == 8
    assert root["winrate"] == root["rawWinrate"]


def test_symmetric_moves_are_left_to_one_of_them() -> None:
    answer = answer_to(maxVisits=100)
    images = [move for move in answer["moveInfos"] if "isSymmetryOf" in move]
    assert images
    searched = {move["move"] for move in answer["moveInfos"] if "isSymmetryOf" not in move}
    assert {move["isSymmetryOf"] for move in images} <= searched
    answer = answer_to(maxVisits=100, overrideSettings=UNPRUNED)
    assert not any("isSymmetryOf" in move for move in answer["moveInfos"])


def test_hashes_tell_positions_apart_and_mirror_images_together() -> None:
    def hashes(*moves: str) -> tuple[str, str]:
        played = [["BW"[k % 2], move] for k, move in enumerate(moves)]
        root = answer_to(moves=played)["rootInfo"]
        return root["thisHash"], root["symHash"]

    a, b, c, mirrored = hashes("B2", "C3"), hashes("C3", "B2"), hashes("B2"), hashes("D4", "C3")
    assert len({a[0], b[0], c[0], mirrored[0]}) == 4
    assert a[1] == mirrored[1]
    assert len({a[1], b[1], c[1]}) == 3
    assert all(len(text) == 32 for text in (*a, *b))


def test_a_finished_game_is_analysed_as_if_it_went_on() -> None:
    """KaTrain asks for the last node of a game, too."""
    moves = [["B", "C3"], ["W", "pass"], ["B", "pass"]]
    answer = answer_to(moves=moves, maxVisits=20, includePolicy=True)
    assert answer["rootInfo"]["visits"] == 20
    assert answer["rootInfo"]["currentPlayer"] == "W"
    assert answer["moveInfos"]
    assert answer["policy"][12] == -1
    assert max(answer["policy"]) > 0


def test_one_visit_has_the_network_s_word_alone() -> None:
    answer = answer_to(maxVisits=1, includePolicy=True, includeOwnership=True)
    assert answer["moveInfos"] == []
    assert answer["rootInfo"]["visits"] == 1
    assert answer["rootInfo"]["winrate"] == answer["rootInfo"]["rawWinrate"]


def test_history_can_be_ignored_without_forgetting_a_ko() -> None:
    moves = [*("B2", "C2", "A3", "D3", "B4", "C4", "E1", "B3", "C3")]
    played = [["BW"[k % 2], move] for k, move in enumerate(moves)]
    for ignored in (False, True):
        answer = answer_to(
            moves=played,
            rules="japanese",
            includePolicy=True,
            maxVisits=40,
            overrideSettings={"ignorePreRootHistory": ignored},
        )
        assert answer["policy"][2 * 5 + 1] == -1  # White may not retake at B3
        assert "B3" not in {move["move"] for move in answer["moveInfos"]}
