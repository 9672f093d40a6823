"""OpenVINO computes what the torch network computes, needs no torch, and never fails silently."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import torch
from benchmarks.precision_price import quantization_error
from openvino import opset13 as op

from tengen.features.feature_set import KATAGO
from tengen.features.human_profile import METADATA_INPUTS
from tengen.game.position import Position
from tengen.network.architecture import (
    Activation,
    Architecture,
    Attention,
    Block,
    Bottleneck,
    FeedForward,
    Ordinary,
    Pooling,
    Rope,
)
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.openvino_graph import OUTPUTS, build_graph
from tengen.network.backends.openvino_int8 import (
    Range,
    Ranges,
    cached_ranges,
    calibrate,
    calibration_batches,
    quantize,
)
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import Batch, Evaluation, batch_for, encode, evaluate, network_inputs
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network, network_from
from tests.game.test_katago_positions import replay
from tests.katago_data import answers, needs_katago_data
from tests.network.test_katago_parity import NETWORKS, network_data

TOLERANCE = 1e-4
OWN_POINTS = ("policy", "ownership")  # of an evaluation, what is said of each point
HAS_BF16 = "BF16" in openvino_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
BLOCKS: dict[str, tuple[Block, ...]] = {
    "ordinary": (Ordinary(12), Ordinary(16)),
    "pooling": (Pooling(12, 8), Pooling(16, 4)),
    "bottleneck": (Bottleneck(8, (Ordinary(8), Pooling(4, 4))),),
    "attention": (Attention(4, 2, 8, 4, Rope.THETA), Attention(2, 2, 4, 8, Rope.LEARNED)),
    "attention, no rope": (Attention(2, 1, 6, 4, Rope.NONE),),
    "feed-forward": (FeedForward(24, gated=True), FeedForward(24, gated=False)),
}


def random_network(blocks: tuple[Block, ...], activation: Activation, **kwargs: Any) -> NetworkData:
    """A small network in which every weight and statistic is random."""
    architecture = Architecture(
        blocks,
        channels=16,
        activation=activation,
        tip_activation=activation,
        policy_mid=8,
        policy_pool=6,
        value_mid=8,
        value_hidden=10,
        **kwargs,
    )
    choice = np.random.default_rng(len(blocks))
    weights = {}
    for name, tensor in Network(architecture).state_dict().items():
        shape = tuple(tensor.shape)
        if name.endswith(("variance", "epsilon", "scale", "norm.weight")):
            values = choice.uniform(0.5, 1.5, shape)
        else:
            values = choice.normal(size=shape) / np.sqrt(max(1, np.prod(shape[1:])))
        weights[name] = np.asarray(values, np.float32)
    return NetworkData("random", architecture, weights)


def random_batch(*sizes: tuple[int, int], seed: int = 0) -> Batch:
    """Boards of these heights and widths in one batch, with random features."""
    choice = np.random.default_rng(seed)
    height, width = (max(side) for side in zip(*sizes, strict=True))
    planes = np.zeros((len(sizes), len(KATAGO.planes), height, width), np.float32)
    for board, (h, w) in zip(planes, sizes, strict=True):
        board[:, :h, :w] = choice.random((len(KATAGO.planes), h, w)) < 0.3
        board[0, :h, :w] = 1
    globals_, metadata = (
        choice.normal(size=(len(sizes), count)).astype(np.float32)
        for count in (len(KATAGO.globals), METADATA_INPUTS)
    )
    return Batch(planes, globals_, metadata=metadata)


def by_torch(data: NetworkData, batch: Batch) -> RawOutputs:
    with torch.no_grad():
        inputs = network_inputs(batch_for(batch, data.name, data.architecture))
        outputs = network_from(data)(*map(torch.from_numpy, inputs))
    return RawOutputs(*(output.numpy() for output in outputs))


def by_graph(graph: openvino.Model, batch: Batch) -> RawOutputs:
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    inputs = [batch.planes, batch.globals, batch.metadata][: len(graph.inputs)]
    found = openvino_core().compile_model(graph, "CPU", settings)(inputs)
    return RawOutputs(*(found[name] for name in OUTPUTS))


def assert_same(mine: Any, theirs: Any, tolerance: float = TOLERANCE) -> None:
    for name, one, other in zip(mine._fields, mine, theirs, strict=True):
        assert one.shape == other.shape, name
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=name)


def part(evaluation: Evaluation, i: int, height: int, width: int) -> Evaluation:
    """What was said of one position, over its own points only."""
    whole = evaluation.ownership.shape[1:]
    points = evaluation.policy[i, :-1].reshape(whole)[:height, :width]
    policy = np.append(points.ravel(), evaluation.policy[i, -1])
    one = evaluation._replace(policy=policy, ownership=evaluation.ownership[i, :height, :width])
    rest = {name: getattr(one, name)[i] for name in one._fields if name not in OWN_POINTS}
    return one._replace(**rest)


# The graph


@pytest.mark.parametrize("activation", list(Activation))
@pytest.mark.parametrize("kind", list(BLOCKS))
def test_graphs_say_what_the_torch_network_says(kind: str, activation: Activation) -> None:
    data = random_network(BLOCKS[kind], activation)
    full, padded = random_batch((7, 5), (7, 5)), random_batch((5, 7), (7, 7), (3, 2))
    assert_same(by_graph(build_graph(data, masked=False), full), by_torch(data, full))
    masked = build_graph(data, masked=True)
    assert_same(by_graph(masked, full), by_torch(data, full))
    assert_same(by_graph(masked, padded), by_torch(data, padded))


@pytest.mark.parametrize(
    "options",
    [
        {"first_kernel": 5},
        {"tip_rms_norm": True},
        {"tip_rms_norm": True, "tip_spatial": True},
        {"metadata_hidden1": 6, "metadata_hidden2": 5},
        {"policy_outputs": 2, "pass_hidden": 7},
        {"score_outputs": 4},
    ],
)
def test_graphs_follow_every_option_of_the_architecture(options: dict[str, Any]) -> None:
    data = random_network(BLOCKS["ordinary"], Activation.MISH, **options)
    padded = random_batch((5, 7), (7, 7))
    assert_same(by_graph(build_graph(data, masked=True), padded), by_torch(data, padded))


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_a_network_may_do_without_global_values() -> None:
    data = random_network(BLOCKS["pooling"], Activation.RELU, globals=0)
    batch = Batch(random_batch((5, 7), (7, 7)).planes, np.zeros((2, 0), np.float32))
    assert_same(by_graph(build_graph(data, masked=True), batch), by_torch(data, batch))


# The evaluator


@pytest.mark.parametrize("name", NETWORKS)
@needs_katago_data
def test_katago_s_networks_say_the_same_in_openvino_and_torch(name: str) -> None:
    data = network_data(name)
    positions = [replay(answer) for answer in answers(name)]
    evaluator = OpenVinoEvaluator(data, Precision.FLOAT32)
    square = [position for position in positions if position.size == (9, 9)]
    assert square
    for group in (positions[:8], square[:4]):  # the masked graph and the other one
        batch = encode(KATAGO, group)
        expected = decode(by_torch(data, batch), batch, data.scaling)
        assert_same(evaluate(evaluator, batch), expected, tolerance=1e-3)


@pytest.mark.parametrize("kind", ["pooling", "attention"])
def test_boards_of_two_sizes_in_one_batch_are_judged_as_alone(kind: str) -> None:
    sizes = [(9, 9), (5, 7), (9, 9)]
    evaluator = OpenVinoEvaluator(random_network(BLOCKS[kind], Activation.RELU), Precision.FLOAT32)
    batch = random_batch(*sizes)
    together = evaluate(evaluator, batch)
    for i, (height, width) in enumerate(sizes):
        own = np.ascontiguousarray(batch.planes[i : i + 1, :, :height, :width])
        alone = evaluate(evaluator, Batch(own, batch.globals[i : i + 1]))
        assert_same(part(together, i, height, width), part(alone, 0, height, width))


def test_batches_in_flight_are_answered_in_any_order() -> None:
    data = random_network(BLOCKS["pooling"], Activation.RELU)
    evaluator = OpenVinoEvaluator(data, Precision.FLOAT32)
    batches = [random_batch((9, 9), (9, 9), seed=seed) for seed in range(3)]
    expected = [decode(by_torch(data, batch), batch, data.scaling) for batch in batches]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):  # the second time, the shape has its own graph
        pending = [evaluator.submit(batch) for batch in batches]
        for i in order:
            assert_same(pending[i].result(), expected[i])
        assert_same(pending[0].result(), expected[0])  # once more


def test_a_later_evaluation_leaves_earlier_results_alone() -> None:
    evaluator = OpenVinoEvaluator(random_network(BLOCKS["ordinary"], Activation.RELU))
    first = evaluate(evaluator, random_batch((9, 9), seed=1))
    before = Evaluation(*(array.copy() for array in first))
    for seed in range(2, 5):
        evaluate(evaluator, random_batch((9, 9), seed=seed))
    for mine, theirs in zip(first, before, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_optimistic_policy_is_mixed_in_as_asked() -> None:
    data = random_network(BLOCKS["ordinary"], Activation.RELU, policy_outputs=2)
    batch = random_batch((5, 5))
    raw = by_torch(data, batch)
    evaluator = OpenVinoEvaluator(data, Precision.FLOAT32)
    for share in (0.0, 0.25, 1.0):
        asked = batch._replace(optimism=np.full(len(batch.planes), share, np.float32))
        mixed = (1 - share) * raw.policy[:, 0] + share * raw.policy[:, 1]
        np.testing.assert_allclose(evaluate(evaluator, asked).policy, mixed, atol=TOLERANCE)


def test_an_unknown_device_is_replaced_by_the_cpu_in_one_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    data = random_network(BLOCKS["ordinary"], Activation.RELU)
    evaluator = OpenVinoEvaluator(data, device="ABACUS")
    out, err = capfd.readouterr()
    assert out == ""
    assert "ABACUS" in err
    assert err.endswith("random runs in float32 on the CPU\n")
    assert err.count("\n") == 1
    assert evaluator.device == "CPU, OpenVINO float32"
    batch = random_batch((5, 5))
    assert_same(evaluate(evaluator, batch), decode(by_torch(data, batch), batch, data.scaling))


class CannotCompileBf16:
    """OpenVINO's core on a machine whose driver promises more than it does."""

    def __init__(self) -> None:
        self.core = openvino_core()

    def get_property(self, device: str, name: str) -> Any:
        assert (device, name) == ("CPU", "OPTIMIZATION_CAPABILITIES")
        return ["FP32", "BF16"]

    def compile_model(self, graph: Any, device: str, settings: dict[str, Any]) -> Any:
        if settings["INFERENCE_PRECISION_HINT"] == "bf16":
            raise RuntimeError("Exception from src/plugin.cpp:1:\nno such instruction\n")
        return self.core.compile_model(graph, device, settings)


def test_a_precision_that_fails_is_replaced_by_float32_in_one_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, batch = random_network(BLOCKS["ordinary"], Activation.RELU), random_batch((5, 5))
    core = CannotCompileBf16()
    monkeypatch.setattr("tengen.network.backends.openvino_evaluator.openvino_core", lambda: core)
    unable = OpenVinoEvaluator(data, Precision.INT8)
    assert unable.precision is Precision.FLOAT32
    assert "CPU has no int8" in capfd.readouterr().err
    evaluator = OpenVinoEvaluator(data)
    assert evaluator.precision is Precision.BF16
    expected = decode(by_torch(data, batch), batch, data.scaling)
    for _ in range(3):
        assert_same(evaluate(evaluator, batch), expected)
    err = capfd.readouterr().err
    why = "CPU, OpenVINO bf16 failed: no such instruction"
    assert err == f"tengen: {why}; random runs in float32 on the CPU\n"
    assert evaluator.device == "CPU, OpenVINO float32"


def test_playing_needs_no_torch(tmp_path: Path) -> None:
    data, batch = random_network(BLOCKS["pooling"], Activation.MISH), random_batch((5, 5))
    path = tmp_path / "network"
    path.write_bytes(pickle.dumps((data, tuple(batch))))
    program = (
        "import pickle, sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from tengen.network.evaluator import Batch, evaluate\n"
        "from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision\n"
        "data, batch = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        "found = evaluate(OpenVinoEvaluator(data, Precision.FLOAT32), Batch(*batch))\n"
        "print(float(found.value[0, 0]))\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    expected = decode(by_torch(data, batch), batch, data.scaling).value[0, 0]
    assert float(printed) == pytest.approx(float(expected), abs=TOLERANCE)


def test_signals_are_heard_after_networks_have_gone(tmp_path: Path) -> None:
    """Those that come first go first, in a process that would die of it."""
    path = tmp_path / "network"
    path.write_bytes(pickle.dumps(random_network(BLOCKS["ordinary"], Activation.RELU)))
    program = (
        "import pickle, signal, sys\n"
        "from pathlib import Path\n"
        "from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator\n"
        "data = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        "first, second = OpenVinoEvaluator(data), OpenVinoEvaluator(data)\n"
        "del first\n"
        "del second\n"
        "signal.signal(signal.SIGINT, lambda *_: print('heard'))\n"
        "signal.raise_signal(signal.SIGINT)\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "heard\n")


# Fewer bits


@cache
def games_of(name: str) -> tuple[NetworkData, OpenVinoEvaluator, list[Batch]]:
    """A network of KataGo in float32, and positions of its games."""
    data = network_data(name)
    exact = OpenVinoEvaluator(data, Precision.FLOAT32)
    return data, exact, list(calibration_batches(exact, (9, 13), games=4, every=8, seed=3))


@pytest.mark.skipif(not HAS_BF16, reason="this CPU has no bf16")
@pytest.mark.parametrize(("name", "policy"), [(NETWORKS[0], 5e-4), (NETWORKS[1], 4e-3)])
@needs_katago_data
def test_bf16_is_close_to_float32(name: str, policy: float) -> None:
    data, exact, batches = games_of(name)
    rounded = OpenVinoEvaluator(data)
    assert rounded.device == "CPU, OpenVINO bf16"
    error = quantization_error(exact, rounded, batches)
    assert 1e-6 < error.policy < policy  # what does not err at all is not bf16
    assert error.win < 0.0065
    assert error.lead < 0.2
    assert error.ownership < 0.005


@needs_katago_data
def test_int8_is_close_to_float32(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data, exact, batches = games_of(NETWORKS[0])
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(
        "tengen.network.backends.openvino_evaluator.calibration_batches",
        lambda evaluator, _: calibration_batches(evaluator, (9, 13)),
    )
    rounded = OpenVinoEvaluator(data, Precision.INT8)
    error = quantization_error(exact, rounded, batches)
    assert rounded.device == "CPU, OpenVINO int8"
    assert 5e-4 < error.policy < 0.01  # bf16 errs less
    assert error.win < 0.015
    assert error.lead < 0.8
    assert error.ownership < 0.015
    assert "calibrating" in capfd.readouterr().err
    padded = encode(KATAGO, [Position(9), Position(13)])
    alone, together = evaluate(rounded, encode(KATAGO, [Position(9)])), evaluate(rounded, padded)
    np.testing.assert_allclose(together.value[0], alone.value[0], atol=0.01)
    again = OpenVinoEvaluator(data, Precision.INT8)
    evaluate(again, padded)
    assert "calibrating" not in capfd.readouterr().err


def simulate(graph: openvino.Model, ranges: Ranges) -> None:
    """Round the same layers by plain arithmetic that OpenVINO computes in float32."""
    for node in graph.get_ordered_ops():
        if node.friendly_name not in ranges:
            continue
        low, high = ranges[node.friendly_name]
        step = (high - low) / 255
        steps = op.round(op.divide(node.input_value(0), np.float32(step)), "half_to_even")
        clipped = op.clamp(steps, float(round(low / step)), float(round(high / step)))
        weights = node.input_value(1).get_node().data
        scale = np.abs(weights).max((1, 2, 3), keepdims=True) / 127
        rounded = op.constant(np.asarray(np.round(weights / scale) * scale, np.float32))
        node.input(0).replace_source_output(op.multiply(clipped, np.float32(step)).output(0))
        node.input(1).replace_source_output(rounded.output(0))


@pytest.mark.parametrize("activation", [Activation.RELU, Activation.MISH])
@pytest.mark.parametrize("kind", ["ordinary", "pooling", "bottleneck"])
def test_rounded_layers_compute_what_rounding_by_hand_does(
    kind: str, activation: Activation
) -> None:
    data = random_network(BLOCKS[kind], activation)
    padded, full = random_batch((5, 7), (7, 7), (3, 2)), random_batch((7, 7), (7, 7))
    ranges = calibrate(data, [full])
    assert {name.rpartition(".")[0] for name in ranges} >= {"blocks.0"}
    for low, _ in ranges.values():
        assert (low < 0) == (activation is Activation.MISH)
    for masked, batch in ((True, padded), (False, full)):
        graph, by_hand = build_graph(data, masked), build_graph(data, masked)
        quantize(graph, ranges)
        simulate(by_hand, ranges)
        found, expected, exact = (
            by_graph(graph, batch),
            by_graph(by_hand, batch),
            by_torch(data, batch),
        )
        assert_same(found, expected, tolerance=1e-3)
        assert np.abs(found.policy - exact.policy).max() > 1e-3  # something was rounded


def test_cached_ranges_are_those_of_this_very_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    data = random_network(BLOCKS["ordinary"], Activation.RELU)
    made: list[Ranges] = []

    def make() -> Ranges:
        made.append({"blocks.0.conv1": Range(0.0, len(made) + 1.0)})
        return made[-1]

    assert cached_ranges(data, make) == cached_ranges(data, make) == made[0]
    assert len(made) == 1
    weights = {name: weight + 1 for name, weight in data.weights.items()}
    assert cached_ranges(replace(data, weights=weights), make) == made[1]
    for path in (tmp_path / "ranges").iterdir():
        path.write_text("[1, 2")
    assert cached_ranges(data, make) == made[2]
