"""Choosing what runs a network: found, missing, failing."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.network.architecture_names import named_architecture
from tengen.network.backends import openvino, registry, torch_devices
from tengen.network.backends.backend import Probe
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.registry import (
    AUTO,
    CPU,
    CUDA,
    INTEL_GPU,
    MPS,
    NPU,
    ONNX_RUNTIME,
    PRECISIONS,
    best_device,
    open_evaluator,
    open_selfplay_buffers,
    probe_devices,
)
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.decoding import BrokenNetworkError
from tengen.network.evaluator import Evaluator, encode, evaluate
from tengen.network.inference_buffers import BufferShape
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network


@pytest.fixture(scope="module")
def data() -> NetworkData:
    torch.manual_seed(2)
    architecture = named_architecture("b2c32")
    state = Network(architecture).state_dict()
    return NetworkData("small", architecture, {name: t.numpy() for name, t in state.items()})


@pytest.mark.parametrize("device", [CPU, ONNX_RUNTIME, "torch"])
@pytest.mark.parametrize(
    ("part", "complaint"), [("conv", "not finite"), ("value.score.bias", "beyond")]
)
def test_outputs_that_are_no_numbers_to_play_by_are_an_error_with_the_network_s_name(
    device: str, part: str, complaint: str, data: NetworkData
) -> None:
    large = {name: np.full_like(w, 1e30) for name, w in data.weights.items() if part in name}
    assert large
    broken = replace(data, name="overflowing", weights=data.weights | large)
    if device == "torch":
        evaluator: Evaluator = TorchEvaluator(broken, "cpu")
    else:
        evaluator = open_evaluator(broken, device, "float32" if device == CPU else AUTO)
    with pytest.raises(BrokenNetworkError, match=rf"^overflowing: its .* {complaint}"):
        evaluate(evaluator, encode(evaluator.features, [Position(5)]))


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package look as if it were not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *_: None if name == package else real(name)
    )


def test_the_cpu_is_always_there() -> None:
    found = list(probe_devices())
    assert any(device == CPU and probe.ready for device, probe in found)
    assert best_device(found) in (CPU, CUDA, MPS)


def test_what_is_missing_comes_with_the_command_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    missing = [(device, probe) for device, probe in probe_devices() if not probe.ready]
    assert [(device, probe.remedy) for device, probe in missing if device != MPS] == [
        (CUDA, "pip install 'tengen-go[train]'"),
        (CPU, "pip install openvino"),
        (CPU, "pip install 'tengen-go[train]'"),
        (ONNX_RUNTIME, "pip install 'tengen-go[onnxruntime]'"),
    ]
    with pytest.raises(ValueError, match="pip install openvino"):
        best_device(missing)


def test_without_a_driver_torch_is_not_even_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from tengen.network.backends import registry, torch_devices; "
        "torch_devices._LINUX_DRIVERS = torch_devices._WINDOWS_DRIVERS = ('nowhere',); "
        "import platform; platform.machine = lambda: 'x86_64'; "
        "print(registry.best_device(registry.probe_devices()), 'torch' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert found.stdout.split() == [CPU, "False"]


def test_the_list_of_devices_takes_no_time_to_import(tmp_path: Path) -> None:
    code = (
        "import sys; import tengen.network.backends.registry; "
        "print(*{'numba', 'numpy', 'openvino', 'torch'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert found.stdout.split() == []


def test_a_driver_makes_torch_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for drivers in ("_LINUX_DRIVERS", "_WINDOWS_DRIVERS"):
        monkeypatch.setattr(torch_devices, drivers, ("nowhere", str(tmp_path)))
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert torch_devices.has_driver()
    device, probe = next(probe_devices())
    assert device == CUDA
    assert "torch " in probe.what


def test_the_first_that_is_ready_is_chosen() -> None:
    found = [(CUDA, Probe(False, "no")), (CPU, Probe(True, "yes")), ("x", Probe(True, "too"))]
    assert best_device(found) == CPU


def test_a_device_that_fails_gives_way_with_one_line(
    data: NetworkData, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    promised = [replace(each, probe=lambda: Probe(True, "promised")) for each in registry.BACKENDS]
    cuda, cpu = (next(b for b in promised if b.device == name) for name in (CUDA, CPU))
    monkeypatch.setattr(registry, "BACKENDS", (cuda, cpu))

    def fails(*_: object) -> None:
        raise RuntimeError("CUDA error: out of luck\nand much more")

    monkeypatch.setattr(TorchEvaluator, "__init__", fails)
    evaluator = open_evaluator(data)
    said = capfd.readouterr().err
    assert said == "tengen: cuda failed (CUDA error: out of luck); using the CPU\n"
    batch = encode(evaluator.features, [Position(5)])
    assert evaluate(evaluator, batch).policy.shape == (1, 26)


def test_a_gpu_that_is_not_there_gives_way_with_one_line(
    data: NetworkData, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without("torch", monkeypatch)
    assert open_evaluator(data, CUDA).on_processor
    assert capfd.readouterr().err == "tengen: cuda failed (torch is not installed); using the CPU\n"


@pytest.mark.parametrize(
    ("device", "package", "remedy"),
    [
        (ONNX_RUNTIME, "onnxruntime", "pip install 'tengen-go\\[onnxruntime\\]'"),
        (ONNX_RUNTIME, "onnx", "onnx is not .* try: pip install 'tengen-go\\[onnxruntime\\]'"),
    ],
)
def test_a_device_that_lacks_a_package_is_refused_with_the_remedy(
    data: NetworkData, device: str, package: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(package, monkeypatch)
    with pytest.raises(ValueError, match=remedy):
        open_evaluator(data, device)


def test_without_openvino_torch_runs_networks_on_the_cpu(
    data: NetworkData, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("openvino", monkeypatch)
    evaluator = open_evaluator(data, CPU)
    assert isinstance(evaluator, TorchEvaluator)
    assert evaluator.on_processor


def test_a_cpu_with_neither_openvino_nor_torch_is_refused_with_both_remedies(
    data: NetworkData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    remedies = "OpenVINO is not installed; try: pip install openvino, or torch is not installed; "
    with pytest.raises(ValueError, match=remedies):
        open_evaluator(data, CPU)


def test_buffers_have_the_games_that_are_wanted_or_else_suit_the_device(data: NetworkData) -> None:
    def shapes_for(games: int) -> list[BufferShape]:
        return [BufferShape(Size(5, 5), games // 2), BufferShape(Size(3, 4), games // 2)]

    wanted = open_selfplay_buffers(data, CPU, shapes_for, games=6, most_games=100)
    assert [half.planes.shape for half in wanted] == [(3, 22, 5, 5), (3, 22, 4, 3)]
    few = open_selfplay_buffers(data, CPU, shapes_for, games=0, most_games=10)
    usual = open_selfplay_buffers(data, CPU, shapes_for, games=0, most_games=10_000)
    assert [len(few[0].globals), len(usual[0].globals)] == [5, 32]


def test_an_unknown_device_is_refused(data: NetworkData) -> None:
    with pytest.raises(ValueError, match="'abacus'; there are auto, cpu, cuda, mps, intel-gpu"):
        open_evaluator(data, "abacus")


def test_precisions_are_named_and_told(
    data: NetworkData, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ("auto", *Precision) == PRECISIONS  # declared once more, where nothing is imported
    for precision in (Precision.FLOAT32, Precision.INT8):  # which every processor has
        assert open_evaluator(data, CPU, precision).device.endswith(f"OpenVINO {precision}")
    with pytest.raises(ValueError, match="'half'; there are auto, float32, float16, bf16, int8"):
        open_evaluator(data, CPU, "half")
    assert capsys.readouterr().err == ""
    open_evaluator(data, ONNX_RUNTIME, "int8")
    assert "onnxruntime computes in float32, not in int8" in capsys.readouterr().err


def test_devices_that_only_some_machines_have_are_listed_where_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Core:
        available_devices = ("CPU", "GPU.0", "GPU.1")

        def get_property(self, device: str, name: str) -> Any:
            able = ["FP32", "BF16"] if device == "CPU" else ["FP16", "FP32", "INT8"]
            return able if name == "OPTIMIZATION_CAPABILITIES" else f"a {device} of this machine"

    assert {device for device, _ in probe_devices()} <= {CUDA, MPS, CPU, ONNX_RUNTIME}
    monkeypatch.setattr(openvino, "openvino_core", Core)
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    providers = [f"{name}ExecutionProvider" for name in ("Dml", "Tensorrt", "CPU")]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    found = dict(probe_devices())
    assert {*found} >= {CPU, INTEL_GPU, "tensorrt", "directml"}
    assert not {NPU, "coreml", "rocm"} & {*found}
    assert "a GPU of this machine" in found[INTEL_GPU].what
    assert "FP16" in found[INTEL_GPU].what
    assert found["directml"].what.endswith(", Dml")
    assert found[ONNX_RUNTIME].what.endswith(", Dml")
    # Only what was tried is chosen without being asked for.
    assert best_device(probe_devices()) in (CUDA, CPU)


@pytest.mark.parametrize("device", [INTEL_GPU, NPU, "directml", "tensorrt", "coreml", "rocm"])
def test_a_device_that_this_machine_lacks_gives_way_to_the_processor(
    device: str, data: NetworkData, capfd: pytest.CaptureFixture[str]
) -> None:
    if device in dict(probe_devices()):
        pytest.skip(f"this machine has {device}")
    assert open_evaluator(data, device).on_processor
    assert (
        f"{device} failed (this kind of machine has none); using the CPU" in capfd.readouterr().err
    )


def test_graphs_of_one_batch_size_say_the_same(data: NetworkData) -> None:
    """As NPUs need them, here on the processor."""
    positions = [Position(9).play("E5"), Position(9), Position(9).play("C3")]
    usual = OpenVinoEvaluator(data, Precision.FLOAT32)
    static = OpenVinoEvaluator(data, Precision.FLOAT32, static=True)
    for some in (positions, positions[:1]):
        batch = encode(usual.features, some)
        for mine, theirs in zip(evaluate(static, batch), evaluate(usual, batch), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-4)


@pytest.mark.parametrize("device", [CPU, ONNX_RUNTIME])
def test_all_runtimes_agree(data: NetworkData, device: str) -> None:
    positions = [Position(9).play("E5"), Position((7, 5)).play("C3").play("D4")]
    ours = open_evaluator(data, device, precision=Precision.FLOAT32)
    batch = encode(ours.features, positions)
    for mine, theirs in zip(
        evaluate(ours, batch), evaluate(TorchEvaluator(data, "cpu"), batch), strict=True
    ):
        # Off the board both say something else, and nobody asks.
        if mine.ndim == 3:
            mine, theirs = mine[1, :5, :7], theirs[1, :5, :7]
        elif mine.shape[1:] == (82,):
            mine, theirs = mine[0], theirs[0]
        np.testing.assert_allclose(mine, theirs, atol=1e-4)
