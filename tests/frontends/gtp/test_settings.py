"""Parameters under KataGo's names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp.settings_commands import NAMES
from tengen.game.position import Position
from tengen.search.params import SearchParams
from tengen.search.request import Limits
from tests.frontends.gtp.client import Client, session

# The answer of KataGo 1.17.2 to `kata-get-params`, with no settings but rules and threads.
KATAGO = json.loads(Path("tests/data/katago_gtp_params.json").read_text())
# Where we differ: lost games are resigned, a move may be late, and graphs are not the default.
DIFFERENT = {"allowResignation": "true", "lagBuffer": 0.1, "useGraphSearch": False}
OURS = {"adaptive", "analysisPVLen", "reportAnalysisWinratesAs"}
OURS |= {"resignConsecTurns", "resignMinMovesPerBoardArea", "resignThreshold"}


def test_all_of_katagos_parameters_are_known_with_its_values() -> None:
    with session(None, GtpOptions(seed=0)) as client:
        assert set(client.body("kata-list-params").split()) == {*KATAGO, *OURS}
        values = json.loads(client.body("kata-get-params"))
        assert {name: values[name] for name in KATAGO} == {**KATAGO, **DIFFERENT}
        assert set(values) == {*KATAGO, *OURS}


def test_all_parameters_are_readable_and_settable_to_what_they_are() -> None:
    with session(None) as client:
        before = client.body("kata-get-params")
        for name in NAMES:
            value = client.body(f"kata-get-param {name}")
            fixed = name.startswith("humanSL")
            if not fixed:
                client.body(f"kata-set-param {name} {value.strip(chr(34))}")
            assert client.body(f"kata-get-param {name}") == value
        assert client.body("kata-get-params") == before


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("playoutDoublingAdvantagePla", "b", '"B"'),
        ("playoutDoublingAdvantagePla", "", '"E"'),
        ("alwaysComputePassAliveUnderSuicideRules", "true", '"true"'),
        ("antiMirror", "true", "true"),
        ("maxTime", "5", "5.0"),
        ("maxVisits", "", "1125899906842624"),
        ("numSearchThreads", "3", "3"),
        ("analysisWideRootNoise", "1", "1"),
        ("conservativePass", "false", "false"),
        ("delayMoveScale", "2.5", "2.5"),
        ("useLcbForSelection", "false", "false"),
        ("noisePruningCap", "", "1e+50"),
        ("delayMoveMax", "", "1e+06"),
    ],
)
def test_parameters_are_told_as_katago_tells_them(name: str, given: str, told: str) -> None:
    """Witness: KataGo 1.17.2, asked the same."""
    with session(None) as client:
        client.body(f"kata-set-param {name} {given}")
        assert client.body(f"kata-get-param {name}") == told


def test_what_has_no_effect_here_is_accepted_with_a_word_about_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with session(None) as client:
        client.body('kata-set-params {"numSearchThreads": 8, "graphSearchRepBound": 20}')
        assert client.body("kata-get-param graphSearchRepBound") == "20"
    told = capsys.readouterr().err
    assert "numSearchThreads has no effect here" in told
    assert "graphSearchRepBound has no effect here" in told


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
        assert params(client, analysis=True).wide_root_noise == 0.04
        client.body("kata-set-param analysisWideRootNoise 0.5")
        assert params(client, analysis=True).wide_root_noise == 0.5
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
        "kata-set-param maxVisits 1 2",
        "kata-set-param numSearchThreads 0",
        "kata-set-param rootNumSymmetriesToSample 9",
        "kata-set-param playoutDoublingAdvantage 4",
        "kata-set-param playoutDoublingAdvantagePla green",
        "kata-set-param subtreeValueBiasTableNumShards 1024",
        "kata-set-param fpuParentWeight 0.5",
        "kata-set-param humanSLProfile rank_5k",
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


def test_moves_are_drawn_as_katago_draws_them_but_analysis_knows_one_best() -> None:
    with session() as client:
        playing, analysing = params(client), params(client, analysis=True)
        early, late = playing.temperature_early, playing.temperature
        assert (early, late, playing.temperature_halflife) == (0.5, 0.1, 19.0)
        assert (analysing.temperature_early, analysing.temperature) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, ("false", "true")),
        ({"antiMirror": True}, ("true", "true")),
        ({"antiMirror": False}, ("false", "false")),
        ({"genmoveAntiMirror": False}, ("false", "false")),
        ({"antiMirror": False, "genmoveAntiMirror": True}, ("false", "true")),
        ({"antiMirror": True, "genmoveAntiMirror": False}, ("true", "false")),
    ],
)
def test_moves_to_play_are_against_mirrors_unless_told_otherwise(
    given: dict[str, bool], told: tuple[str, str]
) -> None:
    """Witness: KataGo 1.17.2, asked the same."""
    with session() as client:
        client.body(f"kata-set-params {json.dumps(given)}")
        names = "antiMirror", "genmoveAntiMirror"
        assert tuple(client.body(f"kata-get-param {name}") for name in names) == told
        found = (params(client, analysis=True).anti_mirror, params(client).anti_mirror)
        assert tuple(str(each).lower() for each in found) == told


@pytest.mark.parametrize(
    ("given", "root"), [("0", "0.0"), ("0.1", "0.1"), ("0.7", "0.2"), ("", "0.2")]
)
def test_the_root_is_no_more_optimistic_than_other_positions(given: str, root: str) -> None:
    """Witness: KataGo 1.17.2, asked the same."""
    with session() as client:
        client.body(f"kata-set-param policyOptimism {given}")
        assert client.body("kata-get-param rootPolicyOptimism") == root
        assert params(client).root_optimism == float(root)
        client.body("kata-set-param rootPolicyOptimism 0.3")
        assert params(client).root_optimism == 0.3


def test_analysis_looks_at_the_board_without_its_history() -> None:
    """KataGo's default."""
    with session() as client:
        position, limits = Position(5), Limits()
        assert client.session.request(position, limits, analysis=True).root.ignore_history
        assert not client.session.request(position, limits).root.ignore_history
        client.body("kata-set-param analysisIgnorePreRootHistory false")
        client.body("kata-set-param ignorePreRootHistory true")
        assert not client.session.request(position, limits, analysis=True).root.ignore_history
        assert client.session.request(position, limits).root.ignore_history


def test_root_noise_and_temperatures_reach_the_search() -> None:
    with session() as client:
        request = client.session.request(Position(5), Limits())
        assert not request.root.noisy
        client.body("kata-set-param rootPolicyTemperature 1.5")
        request = client.session.request(Position(5), Limits())
        assert request.root.noisy
        assert request.params is not None
        assert (request.params.root_temperature, request.params.noise_share) == (1.5, 0.0)
        client.body("kata-set-param rootNoiseEnabled true")
        assert params(client).noise_share == 0.25
