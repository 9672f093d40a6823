"""JSON analysis: every line is answered under its id, and none by an internal error."""

from __future__ import annotations

import json
import threading
from random import Random

from tests.frontends.analysis.conversation import Conversation
from tests.frontends.analysis.test_mutations import Ledger, garbled, mutated
from tests.fuzz.driver import Fuzzer

LINES = 16
WAIT = 0.05  # seconds without an answer, after which what goes on is ended
PATIENCE = 60.0


class AnalysisFuzzer(Fuzzer):
    name = "analysis"

    def __init__(self) -> None:
        self._client = Conversation(searches=4, cache_megabytes=8)

    def make(self, rng: Random) -> bytes:
        """Some queries, most of them with changes."""
        lines = [mutated(rng, number) for number in range(rng.randrange(1, LINES))]
        if rng.random() < 0.1:
            deep = rng.choice((40, 60, 2_000))
            lines.append(b'{"id":"deep","x":' + b"[" * deep + b"]" * deep + b"}")
        if rng.random() < 0.1:
            lines.append(garbled(rng, rng.choice(lines)))
        return b"\n".join(lines)

    def feed(self, data: bytes) -> int:
        client, ledger, seen = self._client, Ledger(), 0
        self._settle()
        lines = data.split(b"\n")
        for line in lines:
            ledger.ask(line)
            client.say(line)
        for number in range(int(PATIENCE / WAIT)):
            while seen < len(client.answers):
                ledger.note(client.answers[seen])
                seen += 1
            if not ledger.open:
                return len(lines)
            if not client.more_than(seen, WAIT):
                mark = f"settle {number}"
                ledger.ask(json.dumps({"id": mark, "action": "terminate_all"}).encode())
                client.say({"id": mark, "action": "terminate_all"})
        raise AssertionError(f"no answers to {ledger.due}, {ledger.nameless} errors missing")

    def _settle(self) -> None:
        """End what another conversation left, such as the second query of an id."""
        self._client.say({"id": "end", "action": "terminate_all"})
        self._client.service.loader.engine.scheduler.drain(threading.Event())
        self._client.answers.clear()

    def close(self) -> None:
        self._client.close()
