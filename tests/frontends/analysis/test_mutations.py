"""Random changes to valid queries: whatever comes, there is an answer and no end.

Every line with an id is answered under exactly that id: with an error, or for each turn that it
asks for, within a limit.
"""

from __future__ import annotations

import json
import random
import resource
import time
from collections import Counter
from queue import Empty
from typing import Any

import pytest

from tests.frontends.analysis.conversation import warm
from tests.frontends.analysis.engine import Engine
from tests.fuzz.mutation import changed_value

SEED = 5
PATIENCE = 64  # lines that the client sends before it waits
QUIET = 0.3  # seconds without an answer, after which it ends what goes on
SECONDS_FOR_EACH = 30.0  # within which all answers must come
KILOBYTES = 20_000  # that a long run may grow by, after its first part

COLUMNS = "ABCDEFGHJ"


def base(rng: random.Random, number: int) -> dict[str, Any]:
    """A valid query."""
    size = rng.choice([3, 5, 7])
    points = [f"{COLUMNS[x]}{y + 1}" for x in range(size) for y in range(size)]
    rng.shuffle(points)
    moves = [["BW"[k % 2], point] for k, point in enumerate(points[: rng.randrange(5)])]
    asked: dict[str, Any] = {
        "id": f"query {number}",
        "moves": moves,
        "rules": rng.choice(["tromp-taylor", "japanese", "chinese", {"ko": "SIMPLE"}]),
        "komi": rng.choice([0, 6.5, 7]),
        "boardXSize": size,
        "boardYSize": size,
        "maxVisits": rng.randrange(1, 12),
        "analyzeTurns": sorted(rng.sample(range(len(moves) + 1), rng.randint(1, len(moves) + 1))),
        "overrideSettings": {"maxTime": 2.0, "wideRootNoise": 0.04},
    }
    extra: dict[str, Any] = {
        "initialStones": [["B", points[-1]], ["W", points[-2]]],
        "initialPlayer": rng.choice("BW"),
        "whiteHandicapBonus": "N",
        "rootPolicyTemperature": 1.2,
        "rootFpuReductionMax": 0.1,
        "analysisPVLen": 3,
        "includeOwnership": True,
        "includeOwnershipStdev": True,
        "includeMovesOwnership": True,
        "includeMovesOwnershipStdev": True,
        "includePolicy": True,
        "includePVVisits": True,
        "includeNoResultValue": True,
        "avoidMoves": [{"player": "B", "moves": points[:2], "untilDepth": 2}],
        "allowMoves": [{"player": "W", "moves": points[:2], "untilDepth": 1}],
        "reportDuringSearchEvery": 0.05,
        "firstReportDuringSearchAfter": 0.01,
        "priority": rng.randrange(-5, 5),
        "priorities": [0] * len(asked["analyzeTurns"]),
    }
    for name in rng.sample(list(extra), rng.randrange(6)):
        asked[name] = extra[name]
    if rng.random() < 0.1:
        action = rng.choice(["query_version", "query_models", "clear_cache", "terminate"])
        return {"id": asked["id"], "action": action, "terminateId": f"query {number - 3}"}
    return asked


def garbled(rng: random.Random, line: bytes) -> bytes:
    """A line with bytes replaced, removed or doubled, and no further line in it."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(line))
        piece = rng.choice([b"", bytes([rng.randrange(256)]), line[at : at + 5] * 2, b'"', b"}"])
        line = line[:at] + piece + line[at + rng.randrange(3) :]
        line = line or b"{"
    return line.replace(b"\n", b" ")


def mutated(rng: random.Random, number: int) -> bytes:
    asked = base(rng, number)
    for _ in range(rng.randrange(3)):
        asked = changed_value(rng, asked)
    line = json.dumps(asked).encode()
    return garbled(rng, line) if rng.random() < 0.25 else line


def parsed(line: bytes) -> dict[str, Any] | None:
    """The query in a line, if it is one that can be answered under its id."""
    try:
        asked = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("id"), str) else None


def turns_of(asked: dict[str, Any]) -> set[Any]:
    """The turns that an answer is due for, if the query is right; None stands for an echo."""
    if asked.get("action") is not None:
        return {None}
    turns = asked.get("analyzeTurns")
    if turns is not None:
        return {each for each in turns if isinstance(each, int)} if isinstance(turns, list) else {0}
    return {len(asked["moves"])} if isinstance(asked.get("moves"), list) else {0}


class Ledger:
    """What the engine owes: one last answer for each turn of a query, or one error."""

    def __init__(self) -> None:
        self.due: dict[str, set[Any]] = {}
        self.asked: Counter[str] = Counter()
        self.nameless = 0  # errors due for lines without an id
        self.kinds: Counter[str] = Counter()

    def ask(self, line: bytes) -> None:
        if not line.strip():
            return
        asked = parsed(line)
        if asked is None:
            self.nameless += 1
        else:
            self.asked[asked["id"]] += 1
            self.due[asked["id"]] = turns_of(asked) or {"a warning"}

    def note(self, answer: dict[str, Any]) -> None:
        query_id, turn = answer.get("id"), answer.get("turnNumber")
        assert "internal error" not in answer.get("error", "")
        if not isinstance(query_id, str):
            assert "error" in answer
            self.nameless -= 1
            assert self.nameless >= 0
            return
        assert query_id in self.asked, f"nobody asked for {query_id!r}"
        due = self.due.get(query_id, set())
        if "warning" in answer or answer.get("isDuringSearch"):
            due.discard("a warning")
            return
        kind = "error" if "error" in answer else "found" if "rootInfo" in answer else "other"
        self.kinds[kind] += 1
        if "error" in answer and turn is None:
            due.clear()
        else:
            # Ids that were used twice are answered twice.
            assert turn in due or self.asked[query_id] > 1, answer
            due.discard(turn)

    @property
    def open(self) -> int:
        return self.nameless + sum(bool(due) for due in self.due.values())


def converse(count: int) -> list[int]:
    """Send so many mutated lines; returns the engine's memory in kB at ten points of the way."""
    warm()
    rng = random.Random(SEED)
    ledger = Ledger()
    memory = []
    with Engine(searches=4, cache_megabytes=8) as engine:  # so that it is soon full
        for number in range(count):
            line = mutated(rng, number)
            ledger.ask(line)
            engine.say(line + b"\n")
            while not engine.lines.empty():
                ledger.note(engine.answer())
            if number % PATIENCE == 0:
                settle(engine, ledger)
            if number % (count // 10) == 0:
                memory.append(resident(engine.process.pid))
        settle(engine, ledger)
        memory.append(resident(engine.process.pid))
        assert engine.process.poll() is None
        assert engine.finish() == (0, [])
        assert b"Traceback" not in b"".join(engine.errors)
    # Enough of both, or this shows little.
    assert ledger.kinds["found"] > count / 4
    assert ledger.kinds["error"] > count / 4
    return memory


def settle(engine: Engine, ledger: Ledger) -> None:
    """Wait until all that is owed was answered; what goes on and on is ended."""
    end = time.monotonic() + SECONDS_FOR_EACH
    while ledger.open:
        late = [each for each in ledger.due.items() if each[1]]
        assert time.monotonic() < end, f"no answers to {late}, {ledger.nameless} errors missing"
        try:
            ledger.note(json.loads(engine.lines.get(timeout=QUIET)))
        except Empty:
            mark = f"settle {time.monotonic()}"
            ledger.asked[mark], ledger.due[mark] = 1, {None}
            engine.say({"id": mark, "action": "terminate_all"})
    ledger.due.clear()


def resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def test_two_thousand_mutations() -> None:
    converse(2000)


@pytest.mark.long
def test_twenty_thousand_mutations_in_bounded_memory() -> None:
    memory = converse(20_000)
    print("kB:", memory)
    assert max(memory[2:]) - memory[2] < KILOBYTES
