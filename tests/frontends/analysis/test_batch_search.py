"""Positions that are searched side by side, among others that are not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tengen.frontends.analysis.batch_search import BatchKey, kind_of
from tengen.frontends.analysis.query import read_query
from tengen.frontends.analysis.query_settings import QuerySettings
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tests.frontends.analysis.conversation import (
    Conversation,
    black_is_ahead,
    query,
    slow,
)


def final(answers: list[dict[str, Any]], query_id: str = "q") -> list[dict[str, Any]]:
    """The last answers of a query's searches."""
    return [a for a in answers if a["id"] == query_id and a.get("isDuringSearch") is False]


GAME = [["BW"[k % 2], f"{'ABCDE'[k % 5]}{1 + k // 5}"] for k in range(12)]
ALL_TURNS = list(range(len(GAME) + 1))


def kind(**fields: Any) -> BatchKey | None:
    return kind_of(read_query(query(**fields), QuerySettings()))


def test_queries_that_ask_for_the_same_are_of_one_kind() -> None:
    assert kind(moves=GAME, komi=5) == kind(id="other", includePolicy=True) is not None
    assert kind(maxVisits=9) != kind(maxVisits=8)
    assert kind(includeOwnership=True) != kind()
    assert kind(boardXSize=6) != kind()
    assert kind(overrideSettings={"wideRootNoise": 1}) != kind()


@pytest.mark.parametrize(
    "fields",
    [
        {"reportDuringSearchEvery": 1},
        {"firstReportDuringSearchAfter": 1},
        {"maxVisits": 1_000_000},
        {"avoidMoves": [{"player": "B", "moves": ["C3"], "untilDepth": 1}]},
        {"rootPolicyTemperature": 2},
        *(
            {"overrideSettings": {name: value}}
            for name, value in {
                "maxTime": 1,
                "maxPlayouts": 5,
                "rootSymmetryPruning": True,
                "ignorePreRootHistory": True,
                "rootNoiseEnabled": True,
            }.items()
        ),
    ],
)
def test_what_is_special_is_searched_alone(fields: dict[str, Any]) -> None:
    assert kind(**fields) is None


def test_special_queries_are_answered_while_a_game_is_reviewed() -> None:
    with Conversation(slow(0.01), cache_megabytes=0) as client:
        client.say(query(id="game", moves=GAME, analyzeTurns=ALL_TURNS, maxVisits=40))
        client.say(query(id="special", reportDuringSearchEvery=100, maxVisits=4))
        answers = client.until(lambda answers: len(answers) == len(ALL_TURNS) + 1)
    assert answers[0]["id"] == "special"
    assert {answer["turnNumber"] for answer in final(answers, "game")} == set(ALL_TURNS)


def test_queries_of_one_kind_go_together() -> None:
    sizes = []

    def script(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        time.sleep(0.005)
        return black_is_ahead(batch)

    with Conversation(FakeEvaluator(script), cache_megabytes=0) as client:
        for turn in range(8):
            client.say(query(id=f"q{turn}", moves=GAME, analyzeTurns=[turn], maxVisits=10))
        answers = client.until(lambda answers: len(answers) == 8)
    assert all(answer["rootInfo"]["visits"] == 10 for answer in answers)
    assert sum(sizes) / len(sizes) > 1.8  # each by itself asks for one position at a time


def test_what_is_more_urgent_goes_before_the_rest_of_a_game() -> None:
    with Conversation(slow(0.005), searches=2, cache_megabytes=0) as client:
        client.say(query(id="game", moves=GAME, analyzeTurns=ALL_TURNS, maxVisits=20))
        client.until(lambda answers: len(answers) >= 1)
        for k in range(2):
            urgent = query(id="urgent", analyzeTurns=[0], priority=5, maxVisits=3 + k)
            client.say(urgent)
        answers = client.until(lambda answers: len(answers) == len(ALL_TURNS) + 2)
    places = [k for k, answer in enumerate(answers) if answer["id"] == "urgent"]
    assert places[-1] <= 6  # two of the game are under way, and some more were done before


def test_a_turn_under_way_ends_with_what_it_has_and_the_others_go_on() -> None:
    with Conversation(slow(0.01), cache_megabytes=0) as client:
        client.say(query(moves=GAME, analyzeTurns=[0, 1, 2], maxVisits=120))
        time.sleep(0.2)
        client.say({"id": "t", "action": "terminate", "terminateId": "q", "turnNumbers": [1]})
        answers = final(client.until(lambda answers: len(final(answers)) == 3))
    visits = {answer["turnNumber"]: answer["rootInfo"]["visits"] for answer in answers}
    assert answers[0]["turnNumber"] == 1
    assert 0 < visits.pop(1) < 120
    assert visits == {0: 120, 2: 120}


def test_a_network_that_fails_in_a_game_is_told_for_each_turn_under_way_or_not() -> None:
    broken = True

    def script(batch: Batch) -> Evaluation:
        if broken:
            raise RuntimeError("the device is gone")
        return black_is_ahead(batch)

    with Conversation(FakeEvaluator(script), searches=4) as client:
        answers = client.ask(query(moves=GAME, analyzeTurns=ALL_TURNS), len(ALL_TURNS))
        assert {answer["turnNumber"] for answer in answers} == set(ALL_TURNS)
        assert all("the device is gone" in answer["error"] for answer in answers)
        broken = False
        assert client.one(query())["rootInfo"]["visits"] == 8


def test_finished_games_are_reviewed_to_the_end() -> None:
    moves = [["B", "C3"], ["W", "pass"], ["B", "pass"], ["W", "C2"]]
    with Conversation() as client:
        answers = client.ask(query(moves=moves, analyzeTurns=[0, 1, 2, 3, 4], maxVisits=20), 5)
    assert [answer["rootInfo"]["visits"] for answer in answers] == [20] * 5
