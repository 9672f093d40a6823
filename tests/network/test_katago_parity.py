"""KataGo's networks give here what KataGo says they give: the truth for features and blocks."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.data import NetworkData
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import Evaluation, encode
from tengen.network.files.katago_format import read_network
from tengen.network.torch.model import network_from
from tests.game.test_katago_positions import replay
from tests.katago_data import FOLDER, answers, needs_katago_data

pytestmark = needs_katago_data
NETWORKS = ["g170-b6c96", "b7c96h3tfrs"]
TOLERANCE = 1e-3


def network_data(name: str) -> NetworkData:
    data = gzip.decompress((FOLDER / f"{name}.bin.gz").read_bytes())
    return read_network(data, name)


def evaluate_all(name: str) -> tuple[list[dict[str, Any]], Evaluation, list[Position]]:
    """KataGo's answers for a network, and ours, all boards in one batch."""
    data, asked = network_data(name), answers(name)
    positions = [replay(answer) for answer in asked]
    batch = encode(KATAGO, positions)
    with torch.no_grad():
        outputs = network_from(data)(*map(torch.from_numpy, batch))
    raw = RawOutputs(*(output.numpy() for output in outputs))
    return asked, decode(raw, batch, data.scaling), positions


def chances(evaluation: Evaluation, i: int, legal: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The policy over a position's own points and pass, 0 where it is illegal."""
    height, width = evaluation.ownership.shape[1:]
    points = evaluation.policy[i, :-1].reshape(height, width)[: legal.shape[0], : legal.shape[1]]
    logits = np.append(points.ravel(), evaluation.policy[i, -1]).astype(float)
    logits[:-1][~legal.ravel()] = -np.inf
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("name", NETWORKS)
def test_katago_s_networks_say_what_they_say_in_katago(name: str) -> None:
    asked, ours, positions = evaluate_all(name)
    worst: dict[str, float] = {}

    def deviates(output: str, mine: Any, theirs: Any) -> None:
        worst[output] = max(worst.get(output, 0.0), float(np.abs(mine - theirs).max()))

    for i, (answer, position) in enumerate(zip(asked, positions, strict=True)):
        raw = answer["raw_nn"]
        policy = answer.get("policy_optimism_0", raw)
        legal = position.legal_mask()[:-1].reshape(position.height, position.width)
        stated = np.array([p or 0.0 for row in policy["policy"] for p in row])
        deviates("policy", chances(ours, i, legal), np.append(stated, policy["policyPass"]))
        white = answer["next_player"] == "W"
        sign = 1 if white else -1
        win, loss = (0, 1) if white else (1, 0)
        deviates("win", ours.value[i, win], raw["whiteWin"])
        deviates("loss", ours.value[i, loss], raw["whiteLoss"])
        deviates("no result", ours.value[i, 2], raw["noResult"])
        deviates("lead, points", sign * ours.lead[i], raw["whiteLead"])
        deviates("score, points", sign * ours.score[i], raw["whiteScoreSelfplay"])
        owned = sign * ours.ownership[i, : position.height, : position.width]
        deviates("ownership", owned, np.array(raw["whiteOwnership"]))
        if raw["varTimeLeft"] >= 0:
            deviates("turns, errors", ours.variance_time[i], raw["varTimeLeft"])
            deviates("turns, errors", ours.value_error[i], raw["shorttermWinlossError"])
            deviates("turns, errors", ours.score_error[i], raw["shorttermScoreError"])
    print(name, {output: f"{deviation:.1e}" for output, deviation in worst.items()})
    for output, deviation in worst.items():
        assert deviation < TOLERANCE, output
