"""KataGo's networks give here what KataGo says they give: the truth for features and blocks.

The small networks have random weights, so that no part of them can be left out unnoticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.human_profile import metadata_rows, parse_profile
from tengen.game.position import Position
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.openvino_int8 import calibrate
from tengen.network.backends.registry import ONNX_RUNTIME, open_evaluator
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import Batch, Evaluation, Evaluator, encode, evaluate
from tengen.network.files.loading import read_katago
from tengen.network.network_data import NetworkData
from tests.game.test_katago_positions import replay
from tests.katago_data import FOLDER, SMALL_NETWORKS, answers, network_path

NETWORKS = ["g170-b6c96", "b7c96h3tfrs"]
OPTIMISM_OF_ANSWERS = 0.2
# KataGo prints six places of chances and three of points and turns.
TOLERANCE = {"chances": 1e-5, "points": 1e-3, "squares": 3e-3}
WITH_NETWORK = [
    *SMALL_NETWORKS,
    *(
        pytest.param(name, marks=pytest.mark.skipif(not FOLDER.is_dir(), reason="not at hand"))
        for name in NETWORKS
    ),
]


def network_data(name: str) -> NetworkData:
    return read_katago(network_path(name).read_bytes(), name)


def batch_of(data: NetworkData, asked: list[dict[str, Any]], optimism: float) -> Batch:
    """The positions of some answers as one batch."""
    positions = [replay(answer) for answer in asked]
    batch = encode(FEATURE_SETS[data.architecture.features], positions)
    batch = batch._replace(optimism=np.full(len(asked), optimism, np.float32))
    if data.architecture.metadata_hidden1:
        rows = [
            metadata_rows(parse_profile(answer["humanSLProfile"]), position.size.area)
            for answer, position in zip(asked, positions, strict=True)
        ]
        colors = [position.to_play for position in positions]
        chosen = np.stack([row[color] for row, color in zip(rows, colors, strict=True)])
        batch = batch._replace(metadata=chosen)
    return batch


def chances(evaluation: Evaluation, i: int, position: Position) -> NDArray[np.float64]:
    """The policy over a position's own points and pass, 0 where it is illegal."""
    height, width = evaluation.ownership.shape[1:]
    points = evaluation.policy[i, :-1].reshape(height, width)[: position.height, : position.width]
    logits = np.append(points.ravel(), evaluation.policy[i, -1]).astype(float)
    logits[~position.legal_mask()] = -np.inf
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def stated_chances(answer: dict[str, Any]) -> NDArray[np.float64]:
    stated = [p or 0.0 for row in answer["policy"] for p in row]
    return np.array([*stated, np.ravel(answer["policyPass"])[0]])


def deviations(
    ours: Evaluation, i: int, position: Position, raw: dict[str, Any], white: bool
) -> dict[str, float]:
    """By kind: how far an evaluation is from KataGo's answer, except for the policy."""
    sign = 1 if white else -1
    win, loss = (0, 1) if white else (1, 0)
    owned = sign * ours.ownership[i, : position.height, : position.width]
    score, spread = float(ours.score[i]), float(ours.spread[i])
    square = score**2 + spread**2
    unit = max(1.0, square / 1000)  # a float has seven digits
    pairs: dict[str, list[tuple[Any, Any]]] = {
        "chances": [
            (ours.value[i, win], raw["whiteWin"]),
            (ours.value[i, loss], raw["whiteLoss"]),
            (ours.value[i, 2], raw["noResult"]),
            (owned, np.array(raw["whiteOwnership"])),
        ],
        "points": [
            (sign * ours.lead[i], raw["whiteLead"]),
            (sign * score, raw["whiteScoreSelfplay"]),
        ],
        "squares": [(square / unit, raw["whiteScoreSelfplaySq"] / unit)],
    }
    if raw["varTimeLeft"] >= 0:
        pairs["points"] += [
            (ours.variance_time[i], raw["varTimeLeft"]),
            (ours.value_error[i], raw["shorttermWinlossError"]),
            (ours.score_error[i], raw["shorttermScoreError"]),
        ]
    return {
        kind: max(float(np.abs(mine - theirs).max()) for mine, theirs in each)
        for kind, each in pairs.items()
    }


def worst_deviations(data: NetworkData, evaluator: Evaluator, name: str) -> dict[str, float]:
    """By kind: the largest deviation from KataGo over all answers, at all optimisms given."""
    asked = answers(name)
    worst = dict.fromkeys(TOLERANCE, 0.0)

    def count(kind: str, deviation: float) -> None:
        worst[kind] = max(worst[kind], deviation)

    for optimism in (OPTIMISM_OF_ANSWERS, 0.0, 1.0):
        ours = evaluate(evaluator, batch_of(data, asked, optimism))
        for i, answer in enumerate(asked):
            position, raw = replay(answer), answer["raw_nn"]
            policy = raw
            if optimism != OPTIMISM_OF_ANSWERS:
                policy = answer.get(f"policy_optimism_{optimism:.0f}", raw)
            deviation = np.abs(chances(ours, i, position) - stated_chances(policy)).max()
            count("chances", float(deviation))
            white = answer["next_player"] == "W"
            for kind, each in deviations(ours, i, position, raw, white).items():
                count(kind, each)
    print(name, evaluator.device, {kind: f"{deviation:.1e}" for kind, deviation in worst.items()})
    return worst


@pytest.mark.parametrize("backend", ["torch", "OpenVINO"])
@pytest.mark.parametrize("name", WITH_NETWORK)
def test_katago_s_networks_say_what_they_say_in_katago(name: str, backend: str) -> None:
    data = network_data(name)
    evaluator: Evaluator = TorchEvaluator(data, "cpu")
    if backend == "OpenVINO":
        evaluator = OpenVinoEvaluator(data, Precision.FLOAT32)
    worst = worst_deviations(data, evaluator, name)
    assert {kind for kind, each in worst.items() if each > TOLERANCE[kind]} == set()


@pytest.mark.parametrize(
    "name", ["human-nbt-mish-v15", "nbt-silu-rsnh-v17", "tf-lrope-gqa-qk16v8-silu-rsnh-v17"]
)
def test_onnx_runtime_says_it_too(name: str) -> None:
    data = network_data(name)
    worst = worst_deviations(data, open_evaluator(data, ONNX_RUNTIME), name)
    assert {kind for kind, each in worst.items() if each > TOLERANCE[kind]} == set()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", SMALL_NETWORKS)
def test_a_gpu_comes_close(name: str) -> None:
    """It computes in bf16, with three digits."""
    data, asked = network_data(name), answers(name)
    batch = batch_of(data, asked, 0.2)
    exact = evaluate(TorchEvaluator(data, "cpu"), batch)
    rounded = evaluate(TorchEvaluator(data, "cuda"), batch)
    assert np.abs(exact.value - rounded.value).max() < 0.02
    assert np.abs(exact.ownership - rounded.ownership).max() < 0.1


def test_eight_bits_come_close() -> None:
    """Eight bits leave the norm of the tip and the metadata alone."""
    for name in ("human-nbt-mish-v15", "nbt-silu-rsnh-v17"):
        data, asked = network_data(name), answers(name)
        batch = batch_of(data, asked, 0.2)
        ranges = calibrate(data, [batch_of(data, [answer], 0.2) for answer in asked])
        exact = evaluate(TorchEvaluator(data, "cpu"), batch)
        rounded = evaluate(OpenVinoEvaluator(data, Precision.INT8, ranges=ranges), batch)
        assert 1e-6 < np.abs(exact.value - rounded.value).max() < 0.05


def test_the_small_networks_are_all_there() -> None:
    assert len(SMALL_NETWORKS) == 11
    assert sum(len(answers(name)) for name in SMALL_NETWORKS) > 80
