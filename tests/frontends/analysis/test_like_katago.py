"""What KataGo 1.17.2 answers to queries with a small network, as literals.

The answers are of `katago analysis -model conv-mish-v16-q.bin.gz -override-config
numAnalysisThreads=1,nnRandomize=false`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tengen.frontends.analysis.query import QuerySettings, read_query
from tengen.frontends.analysis.query_fields import QueryError
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tests.frontends.analysis.conversation import Conversation, query
from tests.katago_data import network_path

COMPACT = "koSIMPLEscoreAREAtaxNONEsui0komi5.5"
BUTTON = {"scoring": "TERRITORY", "hasButton": True}
TWICE = [["B", "C3"], ["B", "D3"], ["W", "E5"], ["B", "C5"], ["B", "E3"]]
PASSED = [["B", "C3"], ["W", "pass"], ["B", "D4"], ["B", "E3"]]
ALL_SYMMETRIES = {"overrideSettings": {"rootNumSymmetriesToSample": 8}}
ONE = [["B", "C3"]]


@pytest.fixture(scope="module")
def client() -> Iterator[Conversation]:
    data = load_network(network_path("conv-mish-v16-q"))
    with Conversation(OpenVinoEvaluator(data, Precision.FLOAT32)) as client:
        yield client


def asked_of(client: Conversation, **fields: Any) -> list[dict[str, Any]]:
    """What comes in answer to a query on 7x7."""
    before = len(client.answers)
    usual = {"boardXSize": 7, "boardYSize": 7, "maxVisits": 1, "includePolicy": True, "komi": None}
    client.say(query(**{**usual, **fields}))
    client.until(lambda answers: any("rootInfo" in each for each in answers[before:]))
    return client.answers[before:]


@pytest.mark.parametrize(
    ("fields", "winrate", "lead", "policy"),
    [
        # Komi may be written among the rules, and goes with the name of rules.
        ({"rules": COMPACT}, 0.649288565, -5.29085684, (0.0130409878, 0.0179409999)),
        ({"rules": COMPACT, "komi": 7.5}, 0.648366332, -5.25433779, (0.0130371135, 0.0181835927)),
        (
            {"rules": "new-zealand", "whiteHandicapBonus": "N"},
            0.729271248,
            -9.61691189,
            (0.0112356562, 0.0174710136),
        ),
        # Territory has no button.
        ({"rules": BUTTON}, 0.645433307, -6.12124395, (0.0127089256, 0.0157507826)),
        # A move out of turn begins anew.
        (
            {"rules": "chinese", "moves": TWICE},
            0.349525213,
            6.85462523,
            (0.0213326439, 0.0161171388),
        ),
        (
            {"rules": "aga-button", "moves": PASSED},
            0.246313512,
            12.950181,
            (0.0269447919, 0.0174541958),
        ),
        (
            {"moves": ONE, "overrideSettings": {"nnPolicyTemperature": 2}},
            0.248117566,
            15.3979397,
            (0.0188640002, 0.0216122456),
        ),
        # Images of the board are shown as the board is: optimistic, without the moves before.
        (
            {"moves": [["B", "D2"]], **ALL_SYMMETRIES},
            0.248990029,
            15.3509121,
            (0.0194980316, 0.0185476728),
        ),
        (
            {"moves": ONE, "boardYSize": 5, **ALL_SYMMETRIES},
            0.252262652,
            15.0345116,
            (0.0267285239, 0.0271705892),
        ),
    ],
)
def test_what_katago_says_of_a_position(
    client: Conversation,
    fields: dict[str, Any],
    winrate: float,
    lead: float,
    policy: tuple[float, float],
) -> None:
    answer = asked_of(client, **fields)[-1]
    assert answer["rootInfo"]["rawWinrate"] == pytest.approx(winrate, abs=1e-5)
    assert answer["rootInfo"]["rawLead"] == pytest.approx(lead, abs=1e-3)
    assert (answer["policy"][0], answer["policy"][10]) == pytest.approx(policy, abs=1e-5)


def test_images_are_averaged_on_boards_smaller_than_the_network_s_arrays(
    client: Conversation,
) -> None:
    alone = asked_of(client, moves=ONE, boardYSize=5, **ALL_SYMMETRIES)[-1]
    asked_of(client, boardXSize=9, boardYSize=13)
    client.say({"id": "x", "action": "clear_cache"})
    again = asked_of(client, moves=ONE, boardYSize=5, **ALL_SYMMETRIES)[-1]
    assert again["policy"] == pytest.approx(alone["policy"], abs=1e-5)


def test_katago_warns_of_a_button_under_territory_scoring(client: Conversation) -> None:
    warnings = [each for each in asked_of(client, rules=BUTTON) if "warning" in each]
    assert [each["field"] for each in warnings] == ["rules"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"untilDepth": 0}, "untilDepth"),
        ({"untilDepth": 1.5}, "untilDepth"),
        ({"player": "x"}, "player"),
        ({"moves": ["Z5"]}, "moves"),
        ({"moves": "E5"}, "moves"),
    ],
)
@pytest.mark.parametrize("name", ["avoidMoves", "allowMoves"])
def test_what_is_wrong_with_moves_to_avoid_is_named_as_katago_does(
    name: str, change: dict[str, Any], field: str
) -> None:
    wrong = [{"player": "B", "moves": ["C3"], "untilDepth": 1, **change}]
    with pytest.raises(QueryError) as caught:
        read_query(query(**{name: wrong}), QuerySettings())
    assert caught.value.field == field


@pytest.mark.parametrize("value", [-1, "x", True])
def test_wrong_values_of_parameters_without_a_meaning_here_are_errors(value: Any) -> None:
    with pytest.raises(QueryError, match="Could not set settings"):
        read_query(query(overrideSettings={"chosenMoveTemperature": value}), QuerySettings())
