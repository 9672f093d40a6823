"""KataGo's own network through the analysis engine says what it says in KataGo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tests.frontends.analysis.conversation import Conversation
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
        "overrideSettings": {"reportAnalysisWinratesAs": "WHITE"},
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
