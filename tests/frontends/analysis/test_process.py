"""The engine as a process on its standard streams, and KaTrain's dialogue with it."""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tengen.frontends.analysis.server import lines_of
from tengen.frontends.command_options import AnalysisOptions
from tests.frontends.analysis.conversation import query
from tests.frontends.analysis.engine import Engine, command


def test_all_that_was_asked_is_answered_before_the_end() -> None:
    moves = [["B", "C3"], ["W", "C2"], ["B", "D2"]]
    with Engine() as engine:
        engine.say(query(moves=moves, analyzeTurns=[0, 1, 2, 3], maxVisits=200))
        engine.say({"id": "m", "action": "query_models"})
        code, answers = engine.finish()
    assert code == 0
    assert {answer.get("turnNumber") for answer in answers} == {0, 1, 2, 3, None}
    assert len(answers) == 5


def test_nothing_asked_nothing_said() -> None:
    with Engine() as engine:
        assert engine.finish() == (0, [])


def test_a_last_line_without_its_end_counts() -> None:
    with Engine() as engine:
        engine.say(json.dumps(query()).encode())
        code, answers = engine.finish()
    assert (code, len(answers)) == (0, 1)


def test_the_end_can_come_without_waiting() -> None:
    with Engine(quit_without_waiting=True) as engine:
        engine.say(query(maxVisits=10**9))
        engine.say({"id": "v", "action": "query_version"})
        assert engine.answer()["id"] == "v"
        code, answers = engine.finish()
    assert (code, answers) == (0, [])


def test_nothing_but_answers_on_stdout_and_no_alarm_on_stderr() -> None:
    with Engine() as engine:
        for line in (b"nonsense\n", b"\xff\n", b"\n", b"[1]\r\n", b'{"id":"what()"}\n'):
            engine.say(line)
        engine.say(query(rules="Uncaught exception"))
        code, answers = engine.finish()
        assert code == 0
        assert len(answers) == 5
        assert all("error" in answer for answer in answers)
        told = b"".join(engine.errors)
    assert b"Started, ready to begin handling requests" in told
    for line in told.splitlines():
        assert line.startswith(b"tengen: ")
        assert b"Uncaught exception" not in line
        assert b"what()" not in line


def test_a_client_that_stops_listening_ends_the_engine() -> None:
    """KaTrain's shell is killed, and what it started must not go on for ever."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        command(), stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL
    )
    os.close(writing)
    assert process.stdin is not None
    asked = query(maxVisits=10**9, reportDuringSearchEvery=0.05)
    process.stdin.write(json.dumps(asked).encode() + b"\n")
    process.stdin.flush()
    assert os.read(reading, 1)
    os.close(reading)
    process.stdin.close()
    assert process.wait(30) == 0


def test_an_interrupt_ends_it() -> None:
    with Engine() as engine:
        engine.say(query(maxVisits=10**9, reportDuringSearchEvery=0.05))
        engine.answer()
        engine.process.send_signal(signal.SIGINT)
        assert engine.process.wait(30) != 0


def test_a_missing_network_is_said_at_once(tmp_path: Path) -> None:
    with Engine(str(tmp_path / "none.bin.gz")) as engine:
        assert engine.process.wait(30) != 0
    assert b"no such network" in engine.errors[-1]


def test_a_damaged_network_ends_the_engine_with_an_error_for_each_query(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.bin.gz"
    damaged.write_bytes(b"\x1f\x8b nothing good")
    with Engine(str(damaged)) as engine:
        engine.say(query())
        code = engine.process.wait(30)
        answer = engine.answer()
    assert code != 0
    assert answer["id"] == "q"
    assert "damaged" in answer["error"]


def test_queries_and_answers_can_be_logged(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with Engine(log=str(log)) as engine:
        engine.say(query())
        assert engine.finish()[0] == 0
    lines = [line.split(" ", 2)[2] for line in log.read_text().splitlines()]  # after the time
    assert [line[0] for line in lines] == [">", "<"]
    assert all(json.loads(line[2:])["id"] == "q" for line in lines)


@pytest.mark.parametrize(
    "options",
    [
        {"visits": 0},
        {"searches": 0},
        {"searches": 5000},
        {"megabytes": 0},
        {"cache_megabytes": -1},
        {"perspective": "GREEN"},
    ],
)
def test_options_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\d|GREEN"):
        AnalysisOptions("net", **options)


def test_lines_are_cut_from_chunks_of_any_size() -> None:
    text = b"one\n\nthree\r\nfour"
    for size in range(1, len(text) + 1):
        stream = io.BytesIO(text)
        lines = list(lines_of(functools.partial(stream.read, size)))
        assert lines == [b"one", b"", b"three\r", b"four"]


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    chunk, chunks = b"x" * (8 << 20), 40
    left = chunks

    def read() -> bytes:
        nonlocal left
        left -= 1
        return chunk if left >= 0 else b""

    (line,) = lines_of(read)
    assert len(line) <= 80 << 20


# KaTrain


def katrain_query(number: int, moves: list[list[str]], **fields: Any) -> dict[str, Any]:
    """A query with the fields that KaTrain sends, in its order."""
    return {
        "rules": "japanese",
        "priority": number,
        "analyzeTurns": [len(moves)],
        "maxVisits": 25,
        "komi": 6.5,
        "boardXSize": 9,
        "boardYSize": 9,
        "includeOwnership": True,
        "includeMovesOwnership": True,
        "includePolicy": True,
        "initialStones": [],
        "initialPlayer": "B",
        "moves": moves,
        "overrideSettings": {
            "reportAnalysisWinratesAs": "BLACK",
            "wideRootNoise": 0.04,
            "maxTime": 8.0,
        },
        "id": f"QUERY:{number}",
        **fields,
    }


def test_katrain_s_dialogue() -> None:
    moves = [["B", "E5"], ["W", "C3"], ["B", "G7"], ["W", "pass"], ["B", "pass"]]
    with Engine() as engine:
        for number in range(6):
            engine.say(katrain_query(number, moves[:number]))
        answers = {answer["id"]: answer for answer in engine.until(lambda got: len(got) == 6)}
        for number in range(6):
            answer = answers[f"QUERY:{number}"]
            assert answer["turnNumber"] == number
            assert answer["isDuringSearch"] is False
            assert {"winrate", "scoreLead", "visits"} <= set(answer["rootInfo"])
            assert len(answer["policy"]) == 82
            assert len(answer["ownership"]) == 81
            needed = {"move", "visits", "winrate", "scoreLead", "order", "pv", "prior"}
            assert all(needed <= set(move) for move in answer["moveInfos"])

        found = [move["move"] for move in answers["QUERY:2"]["moveInfos"]]
        avoid = [{"moves": found, "player": "B", "untilDepth": 1}]
        engine.say(katrain_query(10, moves[:2], avoidMoves=avoid, includeOwnership=False))
        others = [move["move"] for move in engine.answer()["moveInfos"]]
        assert others
        assert not set(others) & set(found)

        engine.say(katrain_query(11, [["B", "E5"], ["W", "E5"]]))
        error = engine.answer()
        assert error["id"] == "QUERY:11"
        assert "Illegal move" in error["error"]

        stones = [["B", "C3"], ["B", "G7"]]
        for number, rules in enumerate(("new zealand", "stone_scoring", "korean", "aga"), 12):
            engine.say(
                katrain_query(number, [], rules=rules, initialStones=stones, initialPlayer="W")
            )
            assert engine.answer()["rootInfo"]["currentPlayer"] == "W"

        ponder = katrain_query(20, moves[:1], maxVisits=10_000_000, reportDuringSearchEvery=0.05)
        engine.say(ponder)
        reports = engine.until(lambda got: len(got) == 3)
        assert all(report["isDuringSearch"] for report in reports)
        engine.say({"action": "terminate", "terminateId": "QUERY:20", "id": "QUERY:21"})
        rest = engine.until(
            lambda got: (
                any(a.get("isDuringSearch") is False for a in got)
                and any(a["id"] == "QUERY:21" for a in got)
            )
        )
        assert sum(a.get("isDuringSearch") is False for a in rest) == 1
        assert engine.finish() == (0, [])


def test_what_answers_first_does_not_wait_for_what_searches() -> None:
    code = "import sys, tengen.frontends.analysis.server; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
