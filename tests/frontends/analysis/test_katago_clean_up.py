"""Searches that are led into the clean-up phases, beside KataGo's: its answers as literals.

They are those of `katago analysis` 1.17.2 with nnRandomize=false and a network of random weights.
Nothing but passes is allowed for some moves, so that most of a tree is in a clean-up, where kos,
seki and the second count decide.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tengen.frontends.analysis.query import QuerySettings, read_query
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tengen.search.result import SearchResult
from tests.katago_data import network_path
from tests.search.plain_search import Search

# Board, rules, komi and how many passes come first; of 40 visits Black's chances and points.
CASES = json.loads(Path("tests/data/katago_clean_up.json").read_text())
VISITS = 40


def searched(case: dict[str, Any], evaluator: OpenVinoEvaluator) -> SearchResult:
    rows = [row.split() for row in case["board"]]
    query = {
        "id": "x",
        "initialStones": [
            ["B" if stone == "X" else "W", f"{'ABCDE'[x]}{5 - y}"]
            for y, row in enumerate(rows)
            for x, stone in enumerate(row)
            if stone != "."
        ],
        "initialPlayer": "B",
        "moves": [],
        "rules": case["rules"],
        "komi": case["komi"],
        "boardXSize": 5,
        "boardYSize": 5,
        "maxVisits": VISITS,
        "allowMoves": [
            {"player": player, "moves": ["pass"], "untilDepth": case["passes"]} for player in "BW"
        ],
        "overrideSettings": {"wideRootNoise": 0.0, "ignorePreRootHistory": False},
    }
    found = read_query(query, QuerySettings())
    assert not found.notices
    request = found.request(found.turns[0])
    search = Search(evaluator, request.params, ownership=False, leaves=1)
    search.set_position(request.position, request.root)
    return search.run(request.limits)


@pytest.mark.parametrize("passes", [1, 2, 3, 4, 5])
def test_chances_and_points_are_katago_s(passes: int) -> None:
    network = load_network(network_path("conv-mish-v16-q"))
    evaluator = OpenVinoEvaluator(network, Precision.FLOAT32)
    cases = [case for case in CASES if case["passes"] == passes]
    assert len(cases) == 15
    equal = 0
    for case in cases:
        result = searched(case, evaluator)
        expected = {name: case[name] for name in ("winrate", "lead", "stdev")}
        found = {"winrate": result.winrate, "lead": result.lead, "stdev": result.spread}
        equal += found == pytest.approx(expected, abs=2e-3)
        # Where two ways lead to one position, what it is worth by one way is lent to the other.
        assert found == pytest.approx(expected, abs=0.1), case
    assert equal >= len(cases) - 1
