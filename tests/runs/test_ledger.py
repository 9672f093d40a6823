"""Which shards were counted."""

from __future__ import annotations

import json
import random

import pytest

from tengen.runs.ledger import Ledger


def test_a_shard_is_counted_once() -> None:
    ledger = Ledger()
    ledger.add(7, 1)
    assert (7, 1) in ledger
    assert (7, 2) not in ledger
    assert (8, 1) not in ledger
    with pytest.raises(ValueError, match="shard 1 of session 7 was counted before"):
        ledger.add(7, 1)


def test_any_order_is_remembered_and_saved() -> None:
    order = list(range(1, 200))
    random.Random(1).shuffle(order)
    ledger, seen = Ledger(), set()
    for number in order:
        ledger = Ledger(json.loads(json.dumps(ledger.to_json())))
        ledger.add(3, number)
        seen.add(number)
        assert {n for n in range(1, 201) if (3, n) in ledger} == seen
        assert ledger.count(3) == len(seen)
    assert ledger.to_json() == {"3": [[1, 199]]}
    assert ledger.last_session == 3


def test_what_was_saved_does_not_change_later() -> None:
    ledger = Ledger()
    ledger.add(1, 1)
    saved = ledger.to_json()
    ledger.add(1, 2)
    assert saved == {"1": [[1, 1]]}


@pytest.mark.parametrize("ranges", [[[0, 3]], [[5, 2]]])
def test_impossible_ranges_are_refused(ranges: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="of session 4"):
        Ledger({"4": ranges})
