"""KataGo's own network through the analysis engine says what it says in KataGo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tests.frontends.analysis.conversation import Conversation, query
from tests.frontends.analysis.engine import Engine
from tests.katago_data import FOLDER, answers, needs_katago_data

NETWORK = FOLDER / "g170-b6c96.bin.gz"
pytestmark = [
    needs_katago_data,
    pytest.mark.skipif(not NETWORK.exists(), reason=f"{NETWORK.name} is not at hand"),
]


def as_query(number: int, stated: dict[str, Any]) -> dict[str, Any]:
    size = stated["boardsize"]
    width, height = size if isinstance(size, list) else (size, size)
    return {
        "id": str(number),
        "moves": stated["moves"],
        "rules": stated["rules"],
        "komi": stated["komi"],
        "boardXSize": width,
        "boardYSize": height,
        "maxVisits": 1,
        "includePolicy": True,
        "includeOwnership": True,
        "overrideSettings": {
            "reportAnalysisWinratesAs": "WHITE",
            "ignorePreRootHistory": False,
            "conservativePass": False,  # what `kata-raw-nn` knows nothing of
            "enablePassingHacks": False,
        },
    }


def test_one_visit_is_what_katago_s_raw_network_says() -> None:
    stated = answers("g170-b6c96")
    evaluator = OpenVinoEvaluator(load_network(NETWORK), Precision.FLOAT32)
    with Conversation(evaluator) as client:
        for number, each in enumerate(stated):
            client.say(as_query(number, each))
        found = client.until(lambda answers: len(answers) == len(stated))
    for answer in found:
        said = stated[int(answer["id"])]
        raw, root = said["raw_nn"], answer["rootInfo"]
        assert root["currentPlayer"] == said["next_player"]
        winrate = 0.5 * (1 + raw["whiteWin"] - raw["whiteLoss"])
        assert root["rawWinrate"] == pytest.approx(winrate, abs=1e-4)
        assert root["winrate"] == pytest.approx(winrate, abs=1e-4)
        assert root["rawNoResultProb"] == pytest.approx(raw["noResult"], abs=1e-4)
        assert root["rawLead"] == pytest.approx(raw["whiteLead"], abs=1e-3)
        assert root["rawScoreSelfplay"] == pytest.approx(raw["whiteScoreSelfplay"], abs=2e-3)
        assert root["rawVarTimeLeft"] == raw["varTimeLeft"]
        assert root["rawStScoreError"] == raw["shorttermScoreError"]
        assert root["rawStWrError"] == raw["shorttermWinlossError"] / 2
        policy = [-1 if p is None else p for row in raw["policy"] for p in row]
        assert answer["policy"] == pytest.approx([*policy, raw["policyPass"]], abs=2e-4)
        owned = np.array(raw["whiteOwnership"]).ravel()
        assert answer["ownership"] == pytest.approx(owned, abs=0.01)  # kept in 1/127


def test_the_program_itself_reviews_a_game_that_black_has_won() -> None:
    """Five stones on 9x9 and no komi: whatever White does, Black is far ahead."""
    moves = ["E7", "C5", "G5", "E3"]
    asked = {
        "id": "review",
        "initialStones": [["B", point] for point in ("C3", "G7", "G3", "C7", "E5")],
        "moves": [["WB"[k % 2], move] for k, move in enumerate(moves)],
        "rules": "tromp-taylor",
        "komi": 0,
        "boardXSize": 9,
        "boardYSize": 9,
        "analyzeTurns": list(range(len(moves) + 1)),
        "maxVisits": 20,
        "includeOwnership": True,
        "overrideSettings": {"ignorePreRootHistory": False},
    }
    with Engine(str(NETWORK)) as engine:
        engine.say(asked)
        code, found = engine.finish()
    assert code == 0
    assert {answer["turnNumber"] for answer in found} == set(range(5))
    for answer in found:
        root = answer["rootInfo"]
        assert root["visits"] == 20
        assert root["currentPlayer"] == "WB"[answer["turnNumber"] % 2]
        assert root["winrate"] > 0.95
        assert root["scoreLead"] > 10
        assert sum(answer["ownership"]) > 10


MOVES = [["BW"[k % 2], move] for k, move in enumerate(["C3", "G7", "G3", "C7", "E5", "E3", "D2"])]
PASSED = [["B", "E5"], ["W", "C3"], ["B", "pass"], ["W", "pass"]]
JAPANESE = {"rules": "japanese", "initialPlayer": "B"}


@pytest.fixture(scope="module")
def client() -> Iterator[Conversation]:
    evaluator = OpenVinoEvaluator(load_network(NETWORK), Precision.FLOAT32)
    with Conversation(evaluator) as client:
        yield client


def asked_of(client: Conversation, **fields: Any) -> dict[str, Any]:
    """The last answer to a query on 9x9."""
    before = len(client.answers)
    client.say(query(**{"boardXSize": 9, "boardYSize": 9, "maxVisits": 1, **fields}))
    found = client.until(lambda answers: any("rootInfo" in each for each in answers[before:]))
    return found[-1]


@pytest.mark.parametrize(
    ("fields", "winrate", "lead"),
    [
        # The network is not shown the moves before the position, unless it is asked for.
        ({"moves": MOVES}, 0.160800099, -4.8658123),
        (
            {"moves": MOVES, "overrideSettings": {"ignorePreRootHistory": False}},
            0.207871556,
            -4.32053518,
        ),
        # A finished game goes on; under simple ko a pass where one was passed before ends it.
        ({"moves": PASSED, "rules": "japanese"}, 0.45883958, 0.0886350125),
        # Stones are put down one after the other. Captured ones are prisoners, and so are two that
        # have no liberty; one is left out.
        (
            {"initialStones": [["W", "A1"], ["B", "A2"], ["B", "B1"]], "rules": "japanese"},
            0.127476603,
            -7.2494278,
        ),
        (
            {
                "initialStones": [
                    *(["B", point] for point in ("A2", "B2", "C1")),
                    *(["W", point] for point in ("E5", "A1", "B1")),
                ],
                **JAPANESE,
            },
            0.519483685,
            0.508816004,
        ),
        (
            {"initialStones": [["B", "A2"], ["B", "B1"], ["W", "E5"], ["W", "A1"]], **JAPANESE},
            0.12183696,
            -6.3268714,
        ),
        ({"komi": 400}, 2.8014183e-06, -53.8362274),
        ({"komi": -400}, 0.9999789, 7.41790724),
        ({"rules": {"ko": "SPIGHT", "scoring": "AREA"}}, 0.485401496, 0.285701752),
    ],
)
def test_what_katago_1_17_2_says_of_a_position(
    client: Conversation, fields: dict[str, Any], winrate: float, lead: float
) -> None:
    root = asked_of(client, **fields)["rootInfo"]
    assert root["rawWinrate"] == pytest.approx(winrate, abs=1e-5)
    assert root["rawLead"] == pytest.approx(lead, abs=1e-3)


def test_symmetric_moves_priors_and_bounds_are_katago_s(client: Conversation) -> None:
    answer = asked_of(client, maxVisits=8, overrideSettings={"wideRootNoise": 0})
    told = [(move["move"], move.get("isSymmetryOf")) for move in answer["moveInfos"]]
    assert told == [
        ("F5", None),
        *((image, "F5") for image in ("D5", "E4", "E6")),
        ("E5", None),
        ("F6", None),
        *((image, "F6") for image in ("F4", "D6", "D4")),
    ]
    priors = {move["move"]: move["prior"] for move in answer["moveInfos"]}
    assert priors["F5"] == pytest.approx(0.111955397, abs=1e-5)
    assert priors["E5"] == pytest.approx(0.26968199, abs=1e-5)
    last = answer["moveInfos"][-1]
    assert (last["visits"], last["winrate"]) == (1, pytest.approx(0.446099803, abs=1e-5))
    assert last["lcb"] == pytest.approx(-0.803900204, abs=1e-5)  # of one visit, far below 0


def test_priors_of_allowed_moves_are_the_network_s_own(client: Conversation) -> None:
    allow = [{"player": "W", "moves": ["E2", "C2", "pass"], "untilDepth": 1}]
    answer = asked_of(client, moves=MOVES, maxVisits=4, allowMoves=allow)
    priors = {move["move"]: move["prior"] for move in answer["moveInfos"]}
    assert priors == {
        "E2": pytest.approx(0.00244240719, rel=1e-3),
        "C2": pytest.approx(3.54596596e-05, rel=1e-3),
        "pass": pytest.approx(6.49574133e-07, rel=1e-2),
    }
