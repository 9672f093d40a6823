"""Networks that imitate people in GTP: as the main one and beside it, as KataGo has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tests.frontends.gtp.client import SMALL, Client, session
from tests.katago_data import answers, network_path, parse_raw_nn

HUMAN = str(network_path("human-nbt-mish-v15"))
MODEL = str(network_path("conv-mish-v16-q"))

# KataGo 1.17.2: `katago gtp -model conv-mish-v16-q.bin.gz -human-model human-nbt-mish-v15.bin.gz`,
# boardsize 5, kata-set-param humanSLProfile rank_5k, kata-raw-human-nn 0; ownership left out.
RAW = """\
symmetry 0
whiteWin 0.306095
whiteLoss 0.693905
noResult 0.000000
whiteScore 2.102
whiteScoreSq 163.458
shorttermWinlossError 0.264
shorttermScoreError 8.076
policy
0.026831 0.018815 0.017061 0.016853 0.018517
0.023250 0.019142 0.019427 0.018051 0.017672
0.024078 0.025639 0.023231 0.020497 0.018688
0.021768 0.022975 0.023541 0.021273 0.018498
0.021423 0.023050 0.023326 0.022721 0.017587
policyPass 0.476087
whiteOwnership"""


@contextmanager
def with_networks(options: GtpOptions) -> Iterator[Client]:
    """A session with the networks that the options name."""
    engine = Engine(options.model, human_model=options.human_model, precision="float32")
    loader = EngineLoader(lambda: engine)
    loader.wait()
    client = Client(loader, options)
    try:
        yield client
    finally:
        client.close()
        engine.close()


BESIDE = replace(SMALL, model=MODEL, human_model=HUMAN, komi=7.5)


def test_a_network_beside_the_main_one_is_asked_by_its_own_command() -> None:
    with with_networks(BESIDE) as client:
        assert "humanSLProfile" in client.error("kata-raw-human-nn 0")
        client.body("kata-set-param humanSLProfile rank_5k")
        assert client.body("kata-get-param humanSLProfile") == "rank_5k"
        lines = client.body("kata-raw-human-nn 0").splitlines()
        assert lines[:16] == RAW.splitlines()
        assert client.error("kata-raw-human-nn 0 0.5").startswith("syntax error")
        assert len(client.body("kata-raw-human-nn b all").split("symmetry")) == 9
        models = json.loads(client.body("kata-get-models"))
        assert [(each["internalName"], each["usesHumanSLProfile"]) for each in models] == [
            ("conv-mish-v16-q", False),
            ("human-nbt-mish-v15", True),
        ]


def test_the_parameters_about_people_are_set_and_read() -> None:
    with with_networks(BESIDE) as client:
        for name, value in (
            ("humanSLChosenMoveProp", "0.5"),
            ("humanSLChosenMoveIgnorePass", "true"),
            ("humanSLRootExploreProbWeightless", "0.8"),
            ("humanSLCpuctPermanent", "2.0"),
        ):
            client.body(f"kata-set-param {name} {value}")
            assert client.body(f"kata-get-param {name}") == value
        client.body('kata-set-params {"humanSLProfile": "preaz_3d", "humanSLChosenMoveProp": ""}')
        assert client.body("kata-get-param humanSLProfile") == "preaz_3d"
        assert client.body("kata-get-param humanSLChosenMoveProp") == "0.0"
        assert "rank_77k" in client.error("kata-set-param humanSLProfile rank_77k")
        client.error("kata-set-param humanSLChosenMoveProp 2")
        client.body("kata-set-param humanSLProfile")
        assert client.body("kata-get-param humanSLProfile") == ""


def test_moves_are_drawn_as_people_choose() -> None:
    # People pass here in 48 games of 100, as the answer above says; else any move is as likely.
    style = "humanSLChosenMoveProp 1", "chosenMoveTemperature 1", "chosenMoveTemperatureEarly 1"
    moves = []
    for seed in range(12):
        with with_networks(replace(BESIDE, seed=seed, visits=2)) as client:
            client.body("kata-set-param humanSLProfile rank_5k")
            for each in style:
                client.body(f"kata-set-param {each}")
            moves.append(client.body("kata-search b"))
    assert 2 <= moves.count("pass") <= 10
    assert len(set(moves)) >= 3


def test_the_main_network_may_imitate_people_itself() -> None:
    stated = [each for each in answers("human-nbt-mish-v15") if not each["moves"]]
    profiles = {each["humanSLProfile"] for each in stated}
    assert profiles
    with with_networks(replace(SMALL, model=HUMAN)) as client:
        for known in stated:
            size = known["boardsize"]
            client.body(
                f"boardsize {size}" if isinstance(size, int) else "boardsize {} {}".format(*size)
            )
            client.body(f"kata-set-rules {known['rules']}")
            client.body(f"komi {known['komi']}")
            client.body(f"kata-set-param humanSLProfile {known['humanSLProfile']}")
            raw, expected = parse_raw_nn(client.body("kata-raw-nn 0")), known["raw_nn"]
            assert raw["whiteWin"] == pytest.approx(expected["whiteWin"], abs=1e-5)
            assert raw["policyPass"] == pytest.approx(expected["policyPass"], abs=1e-5)
            assert raw["policy"][0] == pytest.approx(expected["policy"][0], abs=1e-5)
        assert "--human-model" in client.error("kata-set-param humanSLChosenMoveProp 0.5")
        assert "--human-model" in client.error("kata-raw-human-nn 0")


def test_searches_of_a_main_network_that_imitates_people_follow_the_profile() -> None:
    with with_networks(replace(SMALL, model=HUMAN)) as client:
        priors = []
        for profile in ("rank_20k", "proyear_1800"):
            client.body(f"kata-set-param humanSLProfile {profile}")
            client.body("kata-search b")
            result, raw = client.session.last_result, parse_raw_nn(client.body("kata-raw-nn 0"))
            assert result is not None
            assert result.policy[-1] == pytest.approx(raw["policyPass"], rel=1e-4)
            priors.append(float(result.policy[-1]))
        assert abs(priors[0] - priors[1]) > 1e-3


def test_without_such_a_network_the_commands_say_what_to_do() -> None:
    with session() as client:
        for command in (
            "kata-set-param humanSLProfile rank_5k",
            "kata-set-param humanSLRootExploreProbWeightful 0.5",
            "kata-raw-human-nn 0",
        ):
            assert "--human-model" in client.error(command)


def test_a_network_that_imitates_nobody_takes_no_profile() -> None:
    with with_networks(replace(SMALL, human_model=MODEL, model=MODEL)) as client:
        client.error("kata-set-param humanSLProfile rank_5k")
        client.body("kata-set-param humanSLChosenMoveProp 0.5")
        client.body("kata-search b")
        assert client.body("kata-raw-human-nn 0").startswith("symmetry 0")


@pytest.mark.parametrize("options", [BESIDE, replace(SMALL, model=HUMAN)])
def test_levels_by_rank_play(options: GtpOptions) -> None:
    options = replace(options, level="human:5k", visits=None)
    with with_networks(options) as client:
        client.body("genmove b")
        assert client.session.position.move_number == 1


def test_a_level_by_rank_without_such_a_network_says_what_to_do() -> None:
    with session(options=replace(SMALL, level="human:5k", visits=None)) as client:
        assert "--human-model" in client.error("genmove b")
