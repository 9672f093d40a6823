"""A conversation: actions, many queries at once, priorities, ends before their time, mistakes."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from tengen.engine.katago_params import SPOKEN_VERSION
from tengen.frontends.analysis.backlog import POSITION_BYTES
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tengen.network.loaded_network import LoadedNetwork
from tests.costs import peak_bytes
from tests.frontends.analysis.conversation import (
    Conversation,
    black_is_ahead,
    network,
    query,
    slow,
)

ENDLESS = 10_000_000


def final(answers: list[dict[str, Any]], query_id: str = "q") -> list[dict[str, Any]]:
    return [a for a in answers if a["id"] == query_id and a.get("isDuringSearch") is False]


# Actions


def test_the_version_is_told_at_once_while_the_network_loads() -> None:
    loaded = threading.Event()

    def load() -> LoadedNetwork:
        loaded.wait(10)
        return network()

    with Conversation(load=load) as client:
        answer = client.one({"id": "v", "action": "query_version", "mine": [1.0, None]})
        expected = {"id": "v", "action": "query_version", "mine": [1.0, None]}
        assert answer == {**expected, "version": SPOKEN_VERSION, "git_hash": "<omitted>"}
        client.say({"id": "m", "action": "query_models"})
        client.say(query())
        time.sleep(0.1)
        assert len(client.answers) == 1
        loaded.set()
        answers = client.until(lambda answers: len(answers) == 3)
    (models,) = [answer for answer in answers if answer["id"] == "m"]
    (model,) = models["models"]
    assert model["name"] == "fake.bin.gz"
    assert model["internalName"] == "fake"
    assert (model["version"], model["usesHumanSLProfile"]) == (8, False)
    assert final(answers)[0]["rootInfo"]["visits"] == 8


def test_a_network_that_cannot_be_loaded_is_told_to_everybody() -> None:
    def load() -> LoadedNetwork:
        raise ValueError("net.bin.gz: Uncaught exception, what(): damaged")

    client = Conversation(load=load)
    client.say(query(moves=[["B", "C3"]], analyzeTurns=[0, 1]))
    client.say({"id": "m", "action": "query_models"})
    answers = client.until(lambda answers: len(answers) == 3)
    client.service.loader.wait()
    late = client.one(query(id="late"))
    assert {(a["id"], a.get("turnNumber")) for a in answers} == {("q", 0), ("q", 1), ("m", None)}
    for answer in (*answers, late):
        assert "damaged" in answer["error"]
        assert "Uncaught exception" not in answer["error"]
        assert "what()" not in answer["error"]
    with pytest.raises(ValueError, match="damaged"):
        client.service.close()


def test_the_cache_is_shared_by_queries_until_it_is_cleared() -> None:
    rows = 0

    def script(batch: Batch) -> Evaluation:
        nonlocal rows
        rows += len(batch.planes)
        return black_is_ahead(batch)

    with Conversation(FakeEvaluator(script)) as client:
        first = client.one(query())
        asked = rows
        assert client.one(query()) == first
        assert rows == asked
        clear = {"id": "c", "action": "clear_cache", "n": 1}
        assert client.one(clear) == clear
        client.one(query())
        assert rows == 2 * asked


@pytest.mark.parametrize("action", ["dance", "", 5, True, [], {}])
def test_an_action_that_does_not_exist(action: object) -> None:
    with Conversation() as client:
        answer = client.one({"id": "a", "action": action})
    assert (answer["id"], answer["field"]) == ("a", "action")
    assert "query_version" in answer["error"]


# Ends before their time


def test_a_pondering_query_ends_with_what_it_has() -> None:
    terminate = {"id": "t", "action": "terminate", "terminateId": "q"}
    asked = query(maxVisits=ENDLESS, reportDuringSearchEvery=0.02, includeOwnership=True)
    with Conversation() as client:
        client.say(asked)
        client.until(lambda answers: len(answers) >= 2)
        client.say(terminate)
        answers = client.until(lambda answers: bool(final(answers)) and terminate in answers)
    reports = [answer for answer in answers if answer.get("isDuringSearch")]
    visits = [answer["rootInfo"]["visits"] for answer in reports]
    assert visits == sorted(visits)
    (end,) = final(answers)
    assert end["rootInfo"]["visits"] >= visits[-1]
    assert "noResults" not in end
    assert len(end["ownership"]) == 25


def test_what_was_not_begun_ends_without_results() -> None:
    with Conversation(slow(0.02), searches=1) as client:
        client.say(query(id="busy", maxVisits=ENDLESS))
        client.say(query(moves=[["B", "C3"]], analyzeTurns=[0, 1]))
        client.say({"id": "t", "action": "terminate", "terminateId": "q"})
        answers = client.until(lambda answers: len(answers) == 3)
        assert answers[:2] == [
            {"id": "q", "turnNumber": turn, "isDuringSearch": False, "noResults": True}
            for turn in (0, 1)
        ]
        assert answers[2]["id"] == "t"
        client.say({"id": "t", "action": "terminate_all"})
        client.until(lambda answers: bool(final(answers, "busy")))


def test_single_turns_can_be_ended() -> None:
    moves = [["B", "C3"], ["W", "C2"]]
    with Conversation() as client:
        client.say(query(moves=moves, analyzeTurns=[0, 1, 2], maxVisits=ENDLESS))
        client.say({"id": "t", "action": "terminate", "terminateId": "q", "turnNumbers": [1]})
        answers = client.until(lambda answers: len(answers) == 2)
        time.sleep(0.1)
        assert [answer["turnNumber"] for answer in final(answers)] == [1]
        client.say({"id": "t", "action": "terminate_all", "turnNumbers": [0, 7]})
        answers = client.until(lambda answers: len(answers) == 4)
        assert {answer["turnNumber"] for answer in final(answers)} == {0, 1}
        client.say({"id": "t", "action": "terminate_all"})
        answers = client.until(lambda answers: len(final(answers)) == 3)
    assert len(answers) in (5, 6)  # the last echo may come after us


def test_terminating_what_does_not_exist_is_no_error() -> None:
    with Conversation() as client:
        echo = {"id": "t", "action": "terminate", "terminateId": "nobody"}
        assert client.one(echo) == echo


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"action": "terminate"}, "terminateId"),
        ({"action": "terminate", "terminateId": 5}, "terminateId"),
        ({"action": "terminate", "terminateId": "q", "turnNumbers": 5}, "turnNumbers"),
        ({"action": "terminate_all", "turnNumbers": ["1"]}, "turnNumbers"),
    ],
)
def test_a_wrong_terminate_names_its_field(fields: dict[str, Any], field: str) -> None:
    with Conversation() as client:
        answer = client.one({"id": "t", **fields})
    assert (answer["id"], answer["field"]) == ("t", field)


def test_what_is_ended_before_the_network_is_there_is_answered_at_once() -> None:
    loaded = threading.Event()

    def load() -> LoadedNetwork:
        loaded.wait(10)
        return network()

    with Conversation(load=load) as client:
        client.say(query(moves=[["B", "C3"]], analyzeTurns=[0, 1]))
        client.say({"id": "t", "action": "terminate", "terminateId": "q", "turnNumbers": [1]})
        answers = client.until(lambda answers: len(answers) == 2)
        assert answers[0]["noResults"]
        loaded.set()
        answers = client.until(lambda answers: len(answers) == 3)
    assert [answer.get("turnNumber") for answer in answers] == [1, None, 0]


def test_a_client_that_leaves_frees_its_work_and_no_other_s() -> None:
    with Conversation(slow(0.002), searches=1) as client:
        other = client.another_client()
        other.say(query(maxVisits=ENDLESS))
        other.say(query(id="waits", maxVisits=ENDLESS))
        client.say(query(maxVisits=1000))
        time.sleep(0.05)
        other.session.close()
        drain, never = client.service.loader.engine.scheduler.drain, threading.Event()
        nothing_left = threading.Thread(target=drain, args=[never], daemon=True)
        nothing_left.start()
        nothing_left.join(20)
        assert not nothing_left.is_alive()
        assert client.answers[0]["rootInfo"]["visits"] == 1000
        assert other.answers == []


def test_a_client_with_one_question_does_not_wait_for_another_s_game() -> None:
    moves = [["BW"[k % 2], f"{'ABCDE'[k % 5]}{1 + k // 5}"] for k in range(20)]
    with Conversation(slow(0.005), searches=None, cache_megabytes=0) as client:
        other = client.another_client()
        other.say(query(moves=moves, analyzeTurns=list(range(21)), maxVisits=400))
        time.sleep(0.1)
        client.one(query(maxVisits=50))
        assert other.answers == []
        other.session.close()


# Many at once


def test_a_whole_game_is_searched_in_parallel_and_shares_batches() -> None:
    """Sixteen positions at a time: half of them in each of the two batches in flight."""
    sizes = []

    def script(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        time.sleep(0.002)
        return black_is_ahead(batch)

    moves = [["BW"[k % 2], f"{'ABCDEFGHJ'[k % 9]}{1 + k // 9}"] for k in range(60)]
    asked = query(
        moves=moves, boardXSize=9, boardYSize=9, analyzeTurns=list(range(61)), maxVisits=12
    )
    with Conversation(FakeEvaluator(script), searches=16) as client:
        answers = client.ask(asked, 61)
    assert {answer["turnNumber"] for answer in answers} == set(range(61))
    assert all(answer["rootInfo"]["visits"] == 12 for answer in answers)
    assert sum(sizes) / len(sizes) > 6


def test_turns_of_a_game_are_answered_as_if_asked_for_alone() -> None:
    """A tree kept from the turn before must not show but in its visits."""
    moves = [["B", "C3"], ["W", "C2"], ["B", "D2"]]
    together = query(moves=moves, analyzeTurns=[0, 1, 2, 3], maxVisits=30, includePolicy=True)
    with Conversation(searches=1) as client:
        answers = {answer["turnNumber"]: answer for answer in client.ask(together, 4)}
        for turn in range(4):
            alone = client.one({**together, "analyzeTurns": [turn]})
            assert alone["policy"] == answers[turn]["policy"]
            assert alone["rootInfo"]["visits"] == answers[turn]["rootInfo"]["visits"] == 30
            for name in ("rawWinrate", "rawLead", "rawStWrError", "thisHash", "currentPlayer"):
                assert alone["rootInfo"][name] == answers[turn]["rootInfo"][name]


def test_the_highest_priority_goes_first_then_the_earliest() -> None:
    with Conversation(slow(0.005), searches=1) as client:
        client.say(query(id="busy", maxVisits=40, priority=2**62))
        for name, priority in (("a", 0), ("b", 5), ("c", 5), ("d", -1), ("e", 2**61)):
            client.say(query(id=name, priority=priority, maxVisits=2))
        answers = client.until(lambda answers: len(answers) == 6)
    assert [answer["id"] for answer in answers] == ["busy", "e", "b", "c", "a", "d"]


def test_priorities_order_the_turns_of_a_query() -> None:
    with Conversation(slow(0.005), searches=1) as client:
        client.say(query(id="busy", maxVisits=40, priority=2**62))
        moves = [["B", "C3"], ["W", "C2"]]
        client.say(query(moves=moves, analyzeTurns=[0, 1, 2], priorities=[1, 3, 2]))
        answers = client.until(lambda answers: len(answers) == 4)
    assert [answer["turnNumber"] for answer in answers[1:]] == [1, 2, 0]


def test_reports_come_at_their_times() -> None:
    with Conversation(slow(0.01), cache_megabytes=0) as client:
        answers = client.ask(
            query(maxVisits=60, firstReportDuringSearchAfter=0.05, reportDuringSearchEvery=30), 2
        )
        assert [answer["isDuringSearch"] for answer in answers] == [True, False]
        assert answers[0]["rootInfo"]["visits"] < 60
        assert answers[1]["rootInfo"]["visits"] == 60
        assert set(answers[0]) == set(answers[1])
        once = client.ask(query(maxVisits=60, firstReportDuringSearchAfter=0.05), 2)
        assert [answer["isDuringSearch"] for answer in once] == [True, False]
        client.say(query(id="often", maxVisits=60, reportDuringSearchEvery=0.02))
        often = client.until(lambda answers: bool(final(answers, "often")))[4:]
    assert sum(answer["isDuringSearch"] for answer in often) >= 3


def test_a_search_that_fails_is_answered_and_the_next_one_is_fine(
    capfd: pytest.CaptureFixture[str],
) -> None:
    broken = True

    def script(batch: Batch) -> Evaluation:
        if broken:
            raise RuntimeError("what(): the device is on fire")
        return black_is_ahead(batch)

    with Conversation(FakeEvaluator(script)) as client:
        answer = client.one(query())
        assert (answer["id"], answer["turnNumber"]) == ("q", 0)
        assert "on fire" in answer["error"]
        broken = False
        assert client.one(query())["rootInfo"]["visits"] == 8
    told = capfd.readouterr().err
    assert "on fire" in told
    assert "what()" not in told


# Mistakes


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "nonsense",
        b"\xff\xfe\x00",
        '{"id": NaN}',
        '{"id": "q", "komi": Infinity}',
        '{"id": "q", "komi": 1e999}',
        "[" * 100_000,
        '{"id": "q"} {"id": "r"}',
        "1" * 10_000,
    ],
)
def test_a_line_that_is_no_json_is_an_error_and_no_end(line: str | bytes) -> None:
    with Conversation() as client:
        answer = client.one(line)
        assert set(answer) == {"error"}
        assert client.one(query())["id"] == "q"


@pytest.mark.parametrize("line", ["5", "[]", '"q"', "null", "true"])
def test_a_query_is_an_object(line: str) -> None:
    with Conversation() as client:
        assert set(client.one(line)) == {"error"}


@pytest.mark.parametrize("line", ["", "   ", "\r\n", "\t"])
def test_empty_lines_are_nothing(line: str) -> None:
    with Conversation() as client:
        client.say(line)
        assert client.one(query())["id"] == "q"
        assert len(client.answers) == 1


def test_lines_may_end_as_on_windows_and_begin_with_a_mark() -> None:
    with Conversation() as client:
        assert client.one(b"\xef\xbb\xbf" + json.dumps(query()).encode() + b"\r\n")["id"] == "q"


@pytest.mark.parametrize("query_id", [None, 5, 1.5, True, [], ["q"], {}])
def test_an_id_is_text(query_id: object) -> None:
    with Conversation() as client:
        asked = query()
        if query_id is None:
            del asked["id"]
        answer = client.one(asked if query_id is None else {**asked, "id": query_id})
    assert answer["field"] == "id"
    assert answer.get("id") == query_id


@pytest.mark.parametrize(
    "query_id", ["", "ünï", "\u0000", "\ud800", "a" * 10_000, '"\\\n', "what()"]
)
def test_ids_come_back_exactly(query_id: str) -> None:
    with Conversation() as client:
        assert client.one(query(id=query_id))["id"] == query_id
        assert client.one(query(id=query_id, rules="calvinball"))["id"] == query_id
        assert client.one({"id": query_id, "action": "query_version"})["id"] == query_id


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("depth", [60, 976, 5_000])
def test_deep_nesting_is_refused_wherever_it_is(brackets: str, depth: int) -> None:
    opened = "[" if brackets == "[]" else '{"a":'
    deep = depth * opened + "0" + depth * brackets[1]
    with Conversation() as client:
        for line in (
            f'{{"id": {deep}}}',
            f'{{"id": "x", "action": {deep}}}',
            f'{{"id": "x", "action": "query_version", "extra": {deep}}}',
            f'{{"id": "x", "action": "query_models", "extra": {deep}}}',
            f'{{"id": "x", "moves": [], "overrideSettings": {deep}}}',
        ):
            answer = client.one(line)
            assert "nested" in answer["error"] or "no JSON" in answer["error"]
            if '"id": "x"' in line and depth < 900:
                assert answer["id"] == "x"
        assert client.one(query())["id"] == "q"  # it goes on


def test_errors_have_the_field_and_the_id() -> None:
    with Conversation() as client:
        answer = client.one(query(id="x", boardXSize="wide"))
    assert set(answer) == {"id", "field", "error"}
    assert (answer["id"], answer["field"]) == ("x", "boardXSize")


def test_texts_that_alarm_clients_are_not_repeated() -> None:
    with Conversation() as client:
        for field in ("rules", "initialPlayer"):
            answer = client.one(query(**{field: "Uncaught exception what()"}))
            assert answer["field"] == field
            assert "Uncaught exception" not in answer["error"]
            assert "what()" not in answer["error"]


def test_a_query_for_no_turn_is_warned_about() -> None:
    with Conversation() as client:
        answer = client.one(query(analyzeTurns=[]))
    assert (answer["id"], answer["field"]) == ("q", "analyzeTurns")
    assert "warning" in answer


# Bounds


def test_games_that_wait_are_bounded_in_bytes() -> None:
    with Conversation(slow(0.01)) as client:
        client.service.positions.most = 100 * POSITION_BYTES
        moves = [["B", "pass"], ["W", "pass"]] * 20
        for number in (1, 2):
            client.say(query(id=f"q{number}", moves=moves, maxVisits=ENDLESS))
        refused = client.one(query(id="q3", moves=moves))
        assert refused["id"] == "q3"
        assert refused["field"] == "moves"
        assert "ask again when some of the answers are there" in refused["error"]
        client.say({"id": "t", "action": "terminate_all"})
        client.until(lambda answers: {"q1", "q2"} <= {answer["id"] for answer in answers})
        # Counted as gone after its answer was sent.
        deadline = time.monotonic() + 10
        while client.service.positions.held and time.monotonic() < deadline:
            time.sleep(0.01)
        assert client.service.positions.held == 0
        client.say(query(id="q4", moves=moves, maxVisits=1))
        client.until(lambda answers: any(answer["id"] == "q4" for answer in answers))


def test_a_position_takes_about_as_many_bytes_as_are_counted() -> None:
    def play(n: int) -> Position:
        position = Position(19)
        for _ in range(n):
            position = position.play(None, strict=False)
        return position

    assert 0.8 < peak_bytes(play, 500) / (500 * POSITION_BYTES) < 1.1


def test_who_reads_no_answers_cannot_ask_for_more() -> None:
    with Conversation() as client:
        client.session.unread.hold(client.session.unread.most)
        assert "read them before you ask again" in client.one(query())["error"]
        assert "version" in client.one({"id": "v", "action": "query_version"})
        client.session.unread.release(client.session.unread.most)
        assert "rootInfo" in client.one(query())


def test_clearing_the_cache_frees_what_can_be_made_again() -> None:
    with Conversation() as client:
        client.ask(query(maxVisits=4))
        engine = client.service.loader.engine
        assert list(engine.scheduler._pools)
        client.one({"id": "c", "action": "clear_cache"})
        assert not list(engine.scheduler._pools)
        assert "rootInfo" in client.one(query(maxVisits=4))
