"""Queries and turns that are searched at the same time."""

from __future__ import annotations

import time
from typing import Any

import pytest

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


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"komi": 5},
        {"includePolicy": True, "includeOwnership": True},
        {"reportDuringSearchEvery": 1},
        {"firstReportDuringSearchAfter": 1},
        {"avoidMoves": [{"player": "B", "moves": ["C3"], "untilDepth": 1}]},
        {"rootPolicyTemperature": 2},
        *(
            {"overrideSettings": {name: value}}
            for name, value in {
                "maxTime": 10,
                "maxPlayouts": 9,
                "wideRootNoise": 1,
                "rootSymmetryPruning": True,
                "ignorePreRootHistory": True,
                "rootNoiseEnabled": True,
            }.items()
        ),
    ],
)
def test_queries_share_batches_whatever_else_they_ask_for(fields: dict[str, Any]) -> None:
    sizes = []

    def script(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        time.sleep(0.005)
        return black_is_ahead(batch)

    with Conversation(FakeEvaluator(script), searches=8, cache_megabytes=0) as client:
        for turn in range(8):
            asked = query(id=f"q{turn}", moves=GAME, analyzeTurns=[turn], maxVisits=10)
            client.say({**asked, **(fields if turn % 2 else {})})
        answers = client.until(lambda answers: len(answers) == 8)
    assert {answer["rootInfo"]["visits"] for answer in answers} <= {9, 10}
    assert sum(sizes) / len(sizes) > 1.8  # each by itself asks for one position at a time


def test_urgent_queries_are_answered_while_a_game_is_reviewed() -> None:
    with Conversation(slow(0.01), cache_megabytes=0) as client:
        client.say(query(id="game", moves=GAME, analyzeTurns=ALL_TURNS, maxVisits=40))
        client.say(query(id="urgent", reportDuringSearchEvery=100, maxVisits=4, priority=1))
        answers = client.until(lambda answers: len(answers) == len(ALL_TURNS) + 1)
    assert answers[0]["id"] == "urgent"
    assert {answer["turnNumber"] for answer in final(answers, "game")} == set(ALL_TURNS)


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
