"""Tactics: KataGo's small network with our search plays what is right, within the visits stated."""

from __future__ import annotations

import pytest

from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tengen.search.request import Limits
from tests.katago_data import FOLDER
from tests.search.plain_search import Search
from tests.search.tactics import TACTICS, Tactic

NETWORK = FOLDER / "g170-b6c96.bin.gz"


@pytest.fixture(scope="module")
def evaluator() -> OpenVinoEvaluator:
    if not NETWORK.exists():
        pytest.skip(f"{NETWORK.name} is not at hand")
    return OpenVinoEvaluator(load_network(NETWORK), Precision.FLOAT32)


def test_there_are_at_least_twenty_and_each_has_its_name() -> None:
    assert len(TACTICS) >= 20
    assert len({tactic.name for tactic in TACTICS}) == len(TACTICS)


@pytest.mark.parametrize("tactic", TACTICS, ids=lambda tactic: tactic.name)
def test_the_right_move_is_found(tactic: Tactic, evaluator: OpenVinoEvaluator) -> None:
    search = Search(evaluator)
    position = tactic.position()
    search.set_position(position)
    result = search.run(Limits(visits=tactic.visits))
    assert position.text(result.move) in tactic.best
