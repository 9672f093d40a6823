"""The network: what it says as data, by every back end, and from its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save
from torch import nn

from tengen.engine.engine import Engine
from tengen.features.feature_set import BASIC
from tengen.game.position import Position
from tengen.network.backends.onnxruntime_evaluator import OnnxEvaluator
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import Batch, encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import save_network
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import network_from
from tengen.tutorial.network import TwoHeadNetwork, network_data
from tengen.tutorial.self_play import player


def trained_network() -> TwoHeadNetwork:
    """With norms that do something, as after training."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = TwoHeadNetwork(side=5, blocks=2, channels=16)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2)
            module.weight.data.uniform_(0.5, 2)
            module.bias.data.normal_(0, 0.3)
    return network.eval()


def trained_data() -> NetworkData:
    return network_data(trained_network(), "trained", {"run": "test"})


def some_batch(rows: int) -> Batch:
    draw = np.random.default_rng(1)
    planes = (draw.random((rows, len(BASIC.planes), 5, 5)) < 0.4).astype(np.float32)
    color = draw.integers(0, 3, (rows, 1, 5, 5))  # a point is one of these
    planes[:, :3] = color == np.arange(3)[:, None, None]
    return Batch(planes, np.zeros((rows, 0), np.float32))


def test_the_network_has_two_heads() -> None:
    network = TwoHeadNetwork().eval()
    policy, value = network(torch.zeros(2, 7, 9, 9))
    assert policy.shape == (2, 82)
    assert value.shape == (2,)
    assert value.abs().max() <= 1
    # 4 blocks of 64 channels: 2 * 4 convolutions of 64 * 64 * 9 and the first one of 7 * 64 * 9.
    convolutions = sum(
        p.numel() for key, p in network.named_parameters() if p.dim() == 4 and p.shape[2] == 3
    )
    assert convolutions == 8 * 64 * 64 * 9 + 7 * 64 * 9


def test_the_data_say_what_the_network_says() -> None:
    network, batch = trained_network(), some_batch(6)
    with torch.no_grad():
        policy, value = network(torch.from_numpy(batch.planes))
        outputs = network_from(trained_data())(*map(torch.from_numpy, batch[:2]))
    np.testing.assert_allclose(outputs.policy[:, 0], policy, atol=1e-5)
    assert policy.std() > 0.05  # so that the comparison says something
    found = evaluate(TorchEvaluator(trained_data(), "cpu"), batch)
    np.testing.assert_allclose(found.policy, policy, atol=1e-5)
    np.testing.assert_allclose(found.value[:, 0] - found.value[:, 1], value, atol=1e-5)
    assert value.std() > 0.001
    np.testing.assert_allclose(found.value.sum(1), 1, atol=1e-6)
    assert not found.value[:, 2].any()
    for nothing in (found.score, found.lead, found.spread, found.value_error, found.ownership):
        assert not nothing.any()


@pytest.mark.parametrize("precision", [Precision.FLOAT32, None, Precision.INT8])
def test_openvino_says_the_same_for_every_size_of_batch(precision: Precision | None) -> None:
    data = trained_data()
    exact = TorchEvaluator(data, "cpu")
    openvino = (
        player(data, "cpu", threads=1)
        if precision is Precision.INT8
        else OpenVinoEvaluator(data, precision, threads=1)
    )
    near = 1e-4 if precision is Precision.FLOAT32 else 0.1
    for rows in (1, 6, 3):
        batch = some_batch(rows)
        expected, found = evaluate(exact, batch), evaluate(openvino, batch)
        spread = float(expected.policy.std())
        np.testing.assert_allclose(found.policy, expected.policy, atol=near * spread)
        np.testing.assert_allclose(found.value, expected.value, atol=near / 5)
    assert spread > 0.05


def test_answers_are_those_of_their_own_questions() -> None:
    openvino = player(trained_data(), "cpu", threads=1)
    one = some_batch(2)
    other = Batch(one.planes[:, [1, 0, 2, 3, 4, 5, 6]], one.globals)
    for _ in range(2):  # until the graph for batches of two is made
        openvino.submit(one).result()
    first, second = openvino.submit(one), openvino.submit(other)
    there, here = second.result(), first.result()
    np.testing.assert_array_equal(here.policy, openvino.submit(one).result().policy)
    assert abs(there.policy - here.policy).max() > 0.01


def test_a_file_is_one_that_every_part_of_the_program_reads(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    save_network(trained_data(), path)
    loaded = load_network(path)
    assert loaded.architecture == trained_data().architecture
    assert (loaded.name, loaded.provenance) == ("trained", {"run": "test"})
    with Engine(loaded, device="cpu") as engine:
        position = Position(5, "chinese", 0.5)
        result = engine.search(position, visits=30)
        assert result.visits >= 30
        position = position.play(result.move)
        assert position.move_number == 1


def test_another_board_size_is_refused_by_name() -> None:
    batch = encode(BASIC, [Position(6)])
    for evaluator in (OpenVinoEvaluator(trained_data()), TorchEvaluator(trained_data(), "cpu")):
        with pytest.raises(ValueError, match="trained plays on 5x5 boards only, not on 6x6"):
            evaluator.submit(batch)
    with (
        Engine(trained_data(), device="cpu") as engine,
        pytest.raises(ValueError, match="5x5 boards only"),
    ):
        engine.search(Position(19), visits=5)


def test_onnx_says_the_same_and_katago_s_format_is_refused(tmp_path: Path) -> None:
    data, batch = trained_data(), some_batch(3)
    found = evaluate(OnnxEvaluator(data), batch)
    expected = evaluate(TorchEvaluator(data, "cpu"), batch)
    np.testing.assert_allclose(found.policy, expected.policy, atol=1e-4)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-5)
    with pytest.raises(NetworkFileError, match=r"trained: KataGo's format cannot hold .* --onnx"):
        save_katago(data, tmp_path / "network.bin.gz")


def test_files_of_earlier_versions_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    path.write_bytes(save({"x": np.zeros(1, np.float32)}, {"format": "tengen tutorial 1"}))
    with pytest.raises(NetworkFileError, match="go on with the run"):
        load_network(path)
