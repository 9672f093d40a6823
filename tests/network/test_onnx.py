"""ONNX files, and ONNX Runtime, say what the torch network says, for every batch and board size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.architecture_names import named_architecture
from tengen.network.backends import onnxruntime_evaluator
from tengen.network.backends.onnx_graph import export_onnx
from tengen.network.backends.onnxruntime_evaluator import OnnxEvaluator
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import Evaluation, encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network, Outputs


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


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", ["b2c32", "b1c32h2tf"])
def test_onnx_runtime_evaluates_as_torch_does(name: str, static: bool) -> None:
    """On boards that fill the batch and others, of any size, and padded to some batch sizes."""
    _, data = random_network(name)
    ours, theirs = OnnxEvaluator(data, static=static), TorchEvaluator(data, "cpu")
    full = [Position(9).play("E5"), Position(9), Position(9).play("C3").play("D4")]
    mixed = [Position(9).play("E5"), Position((5, 7)).play("C3").play("D4")]
    batches = [encode(KATAGO, positions) for positions in (full, mixed, full[:1])]
    for batch, pending in zip(batches, [ours.submit(batch) for batch in batches], strict=True):
        expected = evaluate(theirs, batch)
        for field, mine, other in zip(Evaluation._fields, pending.result(), expected, strict=True):
            np.testing.assert_allclose(mine, other, atol=2e-4, err_msg=field)


def test_a_file_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from tengen.network.backends.onnx_graph import onnx_model; "
        "from tengen.network.files.bundled import bundled_networks; "
        "from tengen.network.files.loading import load_network; "
        "print(len(onnx_model(load_network(bundled_networks()[0]), masked=True)) > 1e6, "
        "'torch' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert found.stdout.split() == ["True", "False"]


def test_a_provider_that_is_not_there_is_named() -> None:
    _, data = random_network("b2c32")
    with pytest.raises(ValueError, match=r"no NoSuchExecutionProvider here; it has .*CPU"):
        OnnxEvaluator(data, "NoSuchExecutionProvider")


def test_what_onnx_runtime_cannot_run_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _, data = random_network("b2c32")
    monkeypatch.setattr(onnxruntime_evaluator, "onnx_model", lambda *_, **__: b"nonsense")
    with pytest.raises(NetworkFileError, match=r"b2c32: ONNX Runtime, CPU cannot run it: "):
        evaluate(OnnxEvaluator(data), encode(KATAGO, [Position(5)]))
