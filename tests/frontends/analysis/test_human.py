"""A network that imitates people in the analysis protocol, as KataGo and KaTrain have it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frontends.analysis.conversation import Conversation, query
from tests.frontends.analysis.engine import Engine
from tests.katago_data import network_path

HUMAN = str(network_path("human-nbt-mish-v15"))
MODEL = str(network_path("conv-mish-v16-q"))

# What KaTrain's human-style AI asks for, on a small board.
KATRAIN = {
    "id": "QUERY:1",
    "rules": "japanese",
    "priority": 100,
    "analyzeTurns": [3],
    "maxVisits": 5,
    "komi": 6.5,
    "boardXSize": 5,
    "boardYSize": 5,
    "includeOwnership": True,
    "includeMovesOwnership": True,
    "includePolicy": True,
    "initialStones": [],
    "initialPlayer": "B",
    "moves": [["B", "C3"], ["W", "D2"], ["B", "B4"]],
    "overrideSettings": {
        "reportAnalysisWinratesAs": "BLACK",
        "maxTime": 8.0,
        "wideRootNoise": 0.0,
        "humanSLProfile": "preaz_3k",
        "ignorePreRootHistory": False,
    },
}
# KataGo 1.17.2's answer to it: `katago analysis -config analysis.cfg -model
# conv-mish-v16-q.bin.gz -human-model human-nbt-mish-v15.bin.gz -override-config nnRandomize=false`
POLICY = [
    *(0.0246169548, 0.0202984847, 0.0152110159, 0.0177541934, 0.0172972046),
    *(0.0270235986, -1.0, 0.0126529448, 0.0138650481, 0.0184508618),
    *(0.0254031457, 0.0223954562, -1.0, 0.0117811384, 0.0162929446),
    *(0.019676866, 0.0233804733, 0.0285391714, -1.0, 0.0142866243),
    *(0.0196766481, 0.0219795443, 0.0265802462, 0.0218406972, 0.0153056625),
    0.565690994,
]
ROOT = {
    "humanWinrate": 0.352358177,
    "humanScoreMean": 1.1090169,
    "humanScoreStdev": 10.3728533,
    "humanStWrError": 0.12458273,
    "humanStScoreError": 8.32995224,
}
UNFAMILIAR = "was not trained for 5x5 boards"  # as KataGo's networks are not
PRIORS = {"D1": 0.0218406972, "E2": 0.0142866243, "A3": 0.0254031457, "C5": 0.0152110159}


def started(**options: Any) -> Engine:
    return Engine(MODEL, device="cpu", precision="float32", **options)


def test_katrain_s_human_style_query_is_answered_as_by_katago() -> None:
    with started(human_model=HUMAN) as engine:
        engine.say(KATRAIN)
        assert UNFAMILIAR in engine.answer()["warning"]
        answer = engine.answer()
        engine.say({**KATRAIN, "id": "none", "overrideSettings": {}})
        without = engine.answer()
        engine.say({"id": "models", "action": "query_models"})
        models = engine.answer()["models"]
        assert engine.finish() == (0, [])
    assert answer["humanPolicy"] == pytest.approx(POLICY, rel=2e-6)
    assert {name: answer["rootInfo"][name] for name in ROOT} == pytest.approx(ROOT, rel=2e-6)
    found = {each["move"]: each["humanPrior"] for each in answer["moveInfos"]}
    assert {move: found[move] for move in PRIORS} == pytest.approx(PRIORS, rel=2e-6)
    assert "humanPolicy" not in without
    assert not any(name.startswith("human") for name in without["rootInfo"])
    assert not any("humanPrior" in each for each in without["moveInfos"])
    names = [(each["name"], each["usesHumanSLProfile"]) for each in models]
    assert names == [("conv-mish-v16-q.bin.gz", False), ("human-nbt-mish-v15.bin.gz", True)]


def test_a_main_network_that_imitates_people_takes_the_profile_of_each_query() -> None:
    with Engine(HUMAN, device="cpu", precision="float32") as engine:
        policies: list[list[float]] = []
        for profile in ("preaz_3k", "rank_9d"):
            settings = {**KATRAIN["overrideSettings"], "humanSLProfile": profile}  # type: ignore[dict-item]
            engine.say({**KATRAIN, "overrideSettings": settings})
            if not policies:
                assert UNFAMILIAR in engine.answer()["warning"]
            policies.append(engine.answer()["policy"])
        engine.say({**KATRAIN, "overrideSettings": {"humanSLChosenMoveProp": 0.5}})
        refused = engine.answer()
    # The policy of a network that imitates people is the same, whatever its place.
    assert policies[0] == pytest.approx(POLICY, abs=1e-6)
    assert abs(policies[1][-1] - policies[0][-1]) > 1e-3
    assert refused["field"] == "overrideSettings"
    assert "--human-model" in refused["error"]


@pytest.mark.parametrize(
    ("name", "value"), [("humanSLProfile", "rank_5k"), ("humanSLRootExploreProbWeightful", 0.5)]
)
def test_parameters_about_people_need_their_network(name: str, value: object) -> None:
    with Conversation() as client:
        client.say(query(overrideSettings={name: value}))
        (answer,) = client.until(lambda answers: len(answers) == 1)
    assert answer["field"] == "overrideSettings"
    assert answer["error"].startswith(f"Could not set settings: {name}")
    assert "--human-model" in answer["error"]
