"""`overrideSettings`: KataGo's names, honoured where they mean something here."""

from __future__ import annotations

from typing import Any

import pytest

from tengen.frontends.analysis.query import QuerySettings
from tests.frontends.analysis.conversation import Conversation, query


@pytest.mark.parametrize(
    ("name", "value", "field", "becomes"),
    [
        ("wideRootNoise", 0.1, "wide_root_noise", 0.1),
        ("wideRootNoise", "0.1", "wide_root_noise", 0.1),
        ("cpuctExploration", 2, "exploration", 2.0),
        ("cpuctExplorationLog", 0, "exploration_log", 0.0),
        ("fpuReductionMax", 0.5, "fpu_reduction", 0.5),
        ("rootFpuReductionMax", 0, "root_fpu_reduction", 0.0),
        ("staticScoreUtilityFactor", 0.5, "static_score", 0.5),
        ("dynamicScoreUtilityFactor", 0, "dynamic_score", 0.0),
        ("useLcbForSelection", False, "lcb_stdevs", 0.0),
        ("useUncertainty", "false", "uncertainty", 0.0),
        ("useGraphSearch", True, "graph", True),
        ("antiMirror", True, "anti_mirror", True),
    ],
)
def test_known_search_settings_are_honoured(
    name: str, value: Any, field: str, becomes: float
) -> None:
    settings, unknown = QuerySettings().overridden({name: value})
    assert getattr(settings.search_params(), field) == becomes
    assert unknown == []


def test_limits_and_reports_can_be_overridden() -> None:
    given = {"maxVisits": 9, "maxTime": 2.5, "maxPlayouts": 7, "analysisPVLen": 3}
    settings, unknown = QuerySettings().overridden({**given, "reportAnalysisWinratesAs": "white"})
    assert (settings.visits, settings.seconds, settings.playouts) == (9, 2.5, 7)
    assert (settings.pv_length, settings.perspective) == (3, "WHITE")
    assert unknown == []


def test_the_root_s_temperature_brings_no_noise() -> None:
    plain, _ = QuerySettings().overridden({})
    warm, _ = QuerySettings().overridden({"rootPolicyTemperature": 2})
    noisy, _ = QuerySettings().overridden(
        {"rootNoiseEnabled": True, "rootDirichletNoiseWeight": 0.5}
    )
    assert not plain.noisy_root
    assert warm.noisy_root
    assert warm.search_params().noise_share == 0
    assert warm.search_params().root_temperature_early == 2
    assert noisy.search_params().noise_share == 0.5
    assert noisy.search_params().root_temperature == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ponderingEnabled", True),  # of players alone, and unknown in KataGo's analysis, too
        ("resignThreshold", -0.9),
        ("noSuchThing", None),
        ("", {}),
    ],
)
def test_what_is_not_known_is_a_warning_and_no_more(name: str, value: Any) -> None:
    settings, unknown = QuerySettings().overridden({name: value})
    assert settings == QuerySettings()
    assert unknown == [name]
    with Conversation() as client:
        warning, answer = client.ask(query(overrideSettings={name: value}), 2)
    assert (warning["id"], warning["field"]) == ("q", "overrideSettings")
    assert warning["warning"] == f"Unknown config params: {name}".strip()
    assert "moveInfos" in answer


@pytest.mark.parametrize(
    ("name", "value"),
    [("genmoveAntiMirror", True), ("rootEndingBonusPoints", 0.5), ("numSearchThreads", 4)],
)
def test_what_katago_knows_and_has_no_effect_here_is_taken_silently(name: str, value: Any) -> None:
    assert QuerySettings().overridden({name: value}) == (QuerySettings(), [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("antiMirror", "perhaps"),
        ("humanSLProfile", "rank_5k"),
        ("wideRootNoise", "much"),
        ("wideRootNoise", -1),
        ("wideRootNoise", 1e300),
        ("wideRootNoise", True),
        ("cpuctExploration", [1]),
        ("cpuctExploration", "nan"),
        ("maxVisits", 0),
        ("maxVisits", 1.5),
        ("maxVisits", "many"),
        ("maxVisits", 10**400),
        ("maxTime", -1),
        ("reportAnalysisWinratesAs", "GREEN"),
        ("reportAnalysisWinratesAs", 5),
        ("useGraphSearch", "maybe"),
        ("rootPolicyTemperature", 0),
    ],
)
def test_a_value_that_cannot_be_is_an_error_as_in_katago(name: str, value: Any) -> None:
    with Conversation() as client:
        answer = client.one(query(overrideSettings={"cpuctExploration": 1, name: value}))
    assert (answer["id"], answer["field"]) == ("q", "overrideSettings")
    assert answer["error"].startswith(f"Could not set settings: {name}: ")


def test_a_warm_root_looks_at_more_moves() -> None:
    def tried(temperature: float) -> int:
        with Conversation() as client:
            asked = query(maxVisits=60, rootPolicyTemperature=temperature)
            return len(client.one(asked)["moveInfos"])

    assert tried(10) > tried(0.1)


def test_time_ends_a_search() -> None:
    with Conversation() as client:
        asked = query(maxVisits=10**9, boardXSize=9, boardYSize=9)
        answer = client.one({**asked, "overrideSettings": {"maxTime": 0.2}})
    assert 1 <= answer["rootInfo"]["visits"] < 10**9


def test_no_time_at_all_is_one_visit() -> None:
    with Conversation() as client:
        answer = client.one(query(overrideSettings={"maxTime": 0}))
    assert answer["rootInfo"]["visits"] >= 1
