"""ONNX files say what the torch network says, for every batch and board size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.architecture import named_architecture
from tengen.network.backends.onnxruntime_evaluator import OnnxEvaluator
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluation, encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.torch.model import Network, Outputs
from tengen.network.torch.onnx_export import export_onnx


def random_network(name: str) -> tuple[Network, NetworkData]:
    torch.manual_seed(1)
    network = Network(named_architecture(name)).eval()
    weights = {key: tensor.numpy() for key, tensor in network.state_dict().items()}
    return network, NetworkData(name, network.architecture, weights)


@pytest.mark.parametrize("name", ["b2c32", "b1c32nbt", "b1c32h2tf"])
def test_onnx_agrees_with_torch(name: str, tmp_path: Path) -> None:
    network, data = random_network(name)
    path = tmp_path / "network.onnx"
    export_onnx(data, path)
    # OpenVINO's reader of ONNX is a second opinion on the file.
    model = openvino_core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for batch, height, width in [(1, 9, 9), (3, 13, 13), (2, 5, 7)]:
        planes = torch.randint(0, 2, (batch, 22, height, width)).float()
        planes[:, 0] = 1
        planes[0, :, :, -1] = 0  # a board smaller than the tensor
        globals_ = torch.randn(batch, 19)
        with torch.no_grad():
            expected = network(planes, globals_)
        found = model([planes.numpy(), globals_.numpy()])
        for output, tensor in zip(Outputs._fields, expected, strict=True):
            np.testing.assert_allclose(found[output], tensor.numpy(), atol=2e-4, err_msg=output)


def test_onnx_runtime_evaluates_as_torch_does(tmp_path: Path) -> None:
    _, data = random_network("b2c32")
    path = tmp_path / "network.onnx"
    export_onnx(data, path)
    positions = [Position(9).play("E5"), Position((5, 7)).play("C3").play("D4")]
    batch = encode(KATAGO, positions)
    ours, theirs = OnnxEvaluator(path, data), TorchEvaluator(data, "cpu")
    first, second = ours.submit(batch), ours.submit(batch)
    expected = evaluate(theirs, batch)
    for evaluation in (second.result(), first.result()):
        for field, mine, other in zip(Evaluation._fields, evaluation, expected, strict=True):
            np.testing.assert_allclose(mine, other, atol=2e-4, err_msg=field)


def test_a_provider_that_is_not_there_is_named(tmp_path: Path) -> None:
    _, data = random_network("b2c32")
    with pytest.raises(ValueError, match=r"no NoSuchExecutionProvider here; it has .*CPU"):
        OnnxEvaluator(tmp_path / "x.onnx", data, "NoSuchExecutionProvider")


def test_a_file_that_is_no_onnx_is_one_clear_error(tmp_path: Path) -> None:
    _, data = random_network("b2c32")
    path = tmp_path / "x.onnx"
    path.write_bytes(b"nonsense")
    with pytest.raises(NetworkFileError, match=r"x\.onnx"):
        OnnxEvaluator(path, data)
