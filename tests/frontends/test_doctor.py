"""`tengen doctor` and the ONNX export, as their user meets them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tengen.network.architecture_names import named_architecture
from tengen.network.backends.openvino import openvino_core
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import save_network
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network
from tests.bundled import needs_bundled_network


def run(*arguments: str, without: str | None = None) -> subprocess.CompletedProcess[str]:
    hide = f"sys.modules[{without!r}] = None; " if without else ""
    code = f"import sys; {hide}from tengen.frontends.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "160"},
    )


@needs_bundled_network
def test_the_doctor_says_what_would_be_chosen_and_tries_the_bundled_network() -> None:
    process = run("doctor")
    assert process.returncode == 0, process.stderr
    assert load_network(BUNDLED).name in process.stdout
    assert "OpenVINO" in process.stdout
    assert "Networks run on: " in process.stdout


def test_the_doctor_names_the_command_for_what_is_missing() -> None:
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'torch' else real(name, *a)\n"
        "from tengen.frontends.cli import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "160"},
    )
    assert "pip install 'tengen-go[train]'" in process.stdout


def test_the_doctor_compiles_searches_and_tries_a_network(tmp_path: Path) -> None:
    architecture = named_architecture("b1c32")
    weights = {n: t.numpy() for n, t in Network(architecture).state_dict().items()}
    good, bad = tmp_path / "n.safetensors", tmp_path / "bad.bin.gz"
    save_network(NetworkData("mine", architecture, weights), good)
    bad.write_bytes(b"no network")
    process = run("doctor", "--model", str(good), "--precision", "float32")
    assert process.returncode == 0, process.stdout
    assert "compiled and loaded" in process.stdout
    assert "mine on CPU, OpenVINO float32" in process.stdout
    assert "100 visits" in process.stdout
    refused = run("doctor", "--model", str(bad))
    assert refused.returncode == 1
    assert "FAILED" in refused.stdout
    assert "name another file" in refused.stdout


def test_a_network_is_exported_as_onnx_or_the_remedy_is_named(tmp_path: Path) -> None:
    architecture = named_architecture("b1c32")
    weights = {n: t.numpy() for n, t in Network(architecture).state_dict().items()}
    source, target = tmp_path / "n.safetensors", tmp_path / "n.onnx"
    save_network(NetworkData("n", architecture, weights), source)
    refused = run("net", "export", str(source), "--onnx", str(target), without="onnx")
    assert refused.returncode == 2
    assert "pip install 'tengen-go[onnxruntime]'" in refused.stderr
    assert not target.exists()
    process = run("net", "export", str(source), "--onnx", str(target))
    assert process.returncode == 0, process.stderr
    model = openvino_core().read_model(target)
    assert {name for out in model.outputs for name in out.names} >= {"policy", "ownership"}


def test_training_without_torch_names_what_to_install(tmp_path: Path) -> None:
    refused = run("train", str(tmp_path / "run"), without="torch")
    assert refused.returncode == 1
    assert "needs torch" in refused.stderr
    assert "pip install 'tengen-go[train]'" in refused.stderr
    assert "internal error" not in refused.stderr
    assert not (tmp_path / "run").exists()
