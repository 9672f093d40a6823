"""Parameters under KataGo's names."""

from __future__ import annotations

import json

import pytest

from tengen.frontends.gtp.settings_commands import NAMES
from tengen.game.position import Position
from tengen.search.params import SearchParams
from tengen.search.request import Limits
from tests.frontends.gtp.client import Client, session


def test_all_parameters_are_listed_readable_and_settable_to_what_they_are() -> None:
    with session(None) as client:
        assert client.body("kata-list-params").split() == list(NAMES)
        values = json.loads(client.body("kata-get-params"))
        assert sorted(values) == sorted(NAMES)
        for name in NAMES:
            value = client.body(f"kata-get-param {name}")
            if value != "null":
                client.body(f"kata-set-param {name} {value}")
                assert client.body(f"kata-get-param {name}") == value


def test_defaults_are_katagos() -> None:
    """Witness: KATAGO.md and KataGo's example config."""
    expected = {
        "allowResignation": "true",
        "resignThreshold": "-0.9",
        "resignConsecTurns": "3",
        "ponderingEnabled": "false",
        "reportAnalysisWinratesAs": "SIDETOMOVE",
        "cpuctExploration": "1.0",
        "cpuctExplorationLog": "0.45",
        "fpuReductionMax": "0.2",
        "rootFpuReductionMax": "0.1",
        "staticScoreUtilityFactor": "0.1",
        "dynamicScoreUtilityFactor": "0.3",
        "valueWeightExponent": "0.25",
        "lcbStdevs": "5.0",
        "minVisitPropForLCB": "0.15",
    }
    with session(None) as client:
        for name, value in expected.items():
            assert client.body(f"kata-get-param {name}") == value


def params(client: Client, *, analysis: bool = False) -> SearchParams:
    """What the next search is done with."""
    found = client.session.request(Position(5), Limits(), analysis=analysis).params
    assert found is not None
    return found


def test_parameters_change_alone_and_together() -> None:
    with session() as client:
        client.body("kata-set-param maxVisits 30")
        client.body("kata-set-param cpuctExploration 1.5")
        assert client.body("kata-get-param cpuctExploration") == "1.5"
        client.body('kata-set-params {"maxVisits": 40, "allowResignation": false}')
        assert client.body("kata-get-param maxVisits") == "40"
        assert client.body("kata-get-param allowResignation") == "false"
        client.body("genmove b")
        assert params(client).exploration == 1.5
        assert params(client, analysis=True).wide_root_noise == 0
        client.body("kata-set-param analysisWideRootNoise 0.04")
        assert params(client, analysis=True).wide_root_noise == 0.04
        assert params(client).wide_root_noise == 0
        client.body("kata-set-param cpuctExploration 1.0")
        assert params(client).exploration == 1.0


@pytest.mark.parametrize(
    "command",
    [
        "kata-set-param nonsense 1",
        "kata-get-param nonsense",
        "kata-set-param maxVisits 0",
        "kata-set-param maxVisits many",
        "kata-set-param maxTime -1",
        "kata-set-param cpuctExploration -1",
        "kata-set-param allowResignation perhaps",
        "kata-set-param reportAnalysisWinratesAs GREEN",
        "kata-set-param maxVisits",
        "kata-set-params [1]",
        "kata-set-params {",
        'kata-set-params {"maxVisits": 7, "nonsense": 1}',
    ],
)
def test_what_cannot_be_set_changes_nothing(command: str) -> None:
    with session(None) as client:
        before = client.body("kata-get-params")
        client.error(command)
        assert client.body("kata-get-params") == before
