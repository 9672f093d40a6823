"""Choosing what runs a network: found, missing, failing."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tengen.game.position import Position
from tengen.network.architecture import named_architecture
from tengen.network.backends import registry as devices
from tengen.network.backends.openvino import Precision
from tengen.network.backends.registry import (
    CPU,
    CUDA,
    Device,
    best_device,
    find_devices,
    open_evaluator,
)
from tengen.network.backends.torch_gpu import TorchEvaluator
from tengen.network.data import NetworkData
from tengen.network.evaluator import encode, evaluate
from tengen.network.torch.model import Network


@pytest.fixture(scope="module")
def data() -> NetworkData:
    torch.manual_seed(2)
    architecture = named_architecture("b2c32")
    state = Network(architecture).state_dict()
    return NetworkData("small", architecture, {name: t.numpy() for name, t in state.items()})


def test_the_cpu_is_always_there() -> None:
    found = list(find_devices())
    assert any(device.name == CPU and device.ready for device in found)
    assert best_device(found).name in (CPU, CUDA, "mps")


def test_what_is_missing_comes_with_the_command_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_spec", lambda _: None)
    missing = [device for device in find_devices() if not device.ready]
    assert {device.name: device.remedy for device in missing} == {
        CUDA: "pip install 'tengen[train]'",
        CPU: "pip install openvino",
        "onnxruntime": "pip install 'tengen[onnxruntime]'",
    }
    with pytest.raises(ValueError, match="pip install openvino"):
        best_device(missing)


def test_without_a_driver_torch_is_not_even_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from tengen.network import devices; "
        "devices._LINUX_DRIVERS = devices._WINDOWS_DRIVERS = ('nowhere',); "
        "import platform; platform.machine = lambda: 'x86_64'; "
        "print(devices.best_device(devices.find_devices()).name, 'torch' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert found.stdout.split() == [CPU, "False"]


def test_a_driver_makes_torch_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for drivers in ("_LINUX_DRIVERS", "_WINDOWS_DRIVERS"):
        monkeypatch.setattr(devices, drivers, ("nowhere", str(tmp_path)))
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert devices.may_have_gpu()
    first = next(iter(find_devices()))
    assert first.name == CUDA
    assert "torch " in first.what


def test_the_first_that_is_ready_is_chosen() -> None:
    found = [Device(CUDA, False, "no"), Device(CPU, True, "yes"), Device("x", True, "too")]
    assert best_device(found).name == CPU


def test_a_device_that_fails_gives_way_with_one_line(
    data: NetworkData, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "find_devices", lambda: [Device(CUDA, True, "promised")])

    def fails(*_: object) -> None:
        raise RuntimeError("CUDA error: out of luck\nand much more")

    monkeypatch.setattr(TorchEvaluator, "__init__", fails)
    evaluator = open_evaluator(data)
    said = capfd.readouterr().err
    assert said == "tengen: cuda failed (CUDA error: out of luck); using the CPU\n"
    batch = encode(evaluator.features, [Position(5)])
    assert evaluate(evaluator, batch).policy.shape == (1, 26)


def test_an_unknown_device_is_refused(data: NetworkData) -> None:
    with pytest.raises(ValueError, match="'abacus'; there are auto, cpu, cuda, mps"):
        open_evaluator(data, "abacus")


def test_all_runtimes_agree(data: NetworkData) -> None:
    positions = [Position(9).play("E5"), Position((7, 5)).play("C3").play("D4")]
    ours = open_evaluator(data, CPU, precision=Precision.FLOAT32)
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
