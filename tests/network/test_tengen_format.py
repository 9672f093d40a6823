"""Our network files keep what they are given, and appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from tengen.features.feature_set import RICH
from tengen.network.architecture import Architecture
from tengen.network.architecture_names import named_architecture
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.network_data import NetworkData, Scaling
from tengen.network.torch.model import network_from
from tengen.network.weights import weights_of
from tests.network.test_architecture import ODD_ONE

SMALL = ["b2c32", "b2c32nbt", "b2c32h2tf"]
WITHOUT_GLOBALS = replace(
    named_architecture("b2c32"), features=RICH.name, planes=len(RICH.planes), globals=0
)


def random_network(architecture: str | Architecture, seed: int = 1, **rest: Any) -> NetworkData:
    """A network with random weights, of about the size that keeps its outputs moderate."""
    if isinstance(architecture, str):
        architecture = named_architecture(architecture)
    random = np.random.default_rng(seed)
    weights = {}
    for name, shape, *_ in weights_of(architecture):
        values = random.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        if name.endswith((".scale", "norm.weight")):
            values = 1 + 0.3 * random.normal(size=shape)
        elif name.endswith(".variance"):
            values = random.uniform(0.5, 2.0, shape)
        elif name.endswith(".epsilon"):
            values = np.array(1e-5)
        weights[name] = np.asarray(values, np.float32)
    return NetworkData("random", architecture, weights, **rest)


def outputs(data: NetworkData) -> list[np.ndarray[Any, Any]]:
    """What a network says of random inputs on a board of 5x4 and one of 4x4."""
    random = torch.Generator().manual_seed(3)
    a = data.architecture
    planes = (torch.rand(2, a.planes, 5, 4, generator=random) < 0.3).float()
    planes[:, 0] = 1
    planes[1, :, 4] = 0
    with torch.no_grad():
        said = network_from(data)(planes, torch.rand(2, a.globals, generator=random))
    return [output.numpy() for output in said]


def assert_same(one: NetworkData, other: NetworkData) -> None:
    assert one.architecture == other.architecture
    assert one.scaling == other.scaling
    assert one.weights.keys() == other.weights.keys()
    for name, values in one.weights.items():
        assert other.weights[name].dtype == np.float32
        np.testing.assert_array_equal(values, other.weights[name], name)


@pytest.mark.parametrize("architecture", [*SMALL, ODD_ONE, WITHOUT_GLOBALS], ids=str)
def test_a_network_comes_back_as_it_was(architecture: str | Architecture, tmp_path: Path) -> None:
    data = random_network(
        architecture,
        scaling=Scaling(1.5, 2.5, 3.5, 4.5, 5.5, 6.5, halved_errors=False),
        provenance={"games": "12,345", "棋": "go"},
    )
    save_network(data, tmp_path / "net.safetensors")
    loaded = load_network_file(tmp_path / "net.safetensors")
    assert_same(data, loaded)
    assert (loaded.name, loaded.provenance) == (data.name, data.provenance)


def test_half_precision_halves_matrices_and_spares_the_rest(tmp_path: Path) -> None:
    data = random_network(ODD_ONE)
    save_network(data, tmp_path / "net", half=True)
    loaded = load_network_file(tmp_path / "net")
    halved = 0
    for name, values in data.weights.items():
        whole = values.ndim < 2 or name.endswith("frequencies")
        rounded = values if whole else values.astype(np.float16).astype(np.float32)
        np.testing.assert_array_equal(loaded.weights[name], rounded, name)
        halved += not whole
    assert halved > 10
    with safe_open(tmp_path / "net", "numpy") as file:
        assert file.get_slice("conv.weight").get_dtype() == "F16"
        assert file.get_slice("tip.epsilon").get_dtype() == "F32"


def test_a_weight_too_large_for_float16_is_not_made_infinite(tmp_path: Path) -> None:
    data = random_network("b2c32")
    data.weights["conv.weight"][0, 0, 0, 0] = 1e6
    with pytest.raises(NetworkFileError, match=r"conv\.weight.*float16"):
        save_network(data, tmp_path / "net", half=True)
    assert list(tmp_path.iterdir()) == []
    save_network(data, tmp_path / "net")
    assert_same(load_network_file(tmp_path / "net"), data)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.safetensors"
    old, new = random_network("b2c32", seed=1), random_network("b2c32", seed=2)
    save_network(old, path)

    def disk_full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", disk_full)
        with pytest.raises(NetworkFileError, match="No space left"):
            save_network(new, path)
    assert_same(load_network_file(path), old)
    assert list(tmp_path.iterdir()) == [path]
    save_network(new, path)
    assert_same(load_network_file(path), new)


@pytest.mark.parametrize("place", ["missing/net", ".", "nul\0l"])
def test_a_place_that_cannot_be_written_is_a_clear_error(place: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match="cannot be written"):
        save_network(random_network("b2c32"), tmp_path / place)
    assert list(tmp_path.iterdir()) == []


def damaged(change: str) -> NetworkData:
    data = random_network("b2c32")
    weights = dict(data.weights)
    match change:
        case "missing":
            del weights["tip.bias"]
        case "extra":
            weights["tip.extra"] = np.zeros(1, np.float32)
        case "shape":
            weights["tip.bias"] = np.zeros(31, np.float32)
        case "nan":
            weights["tip.bias"] = np.full(32, np.nan, np.float32)
        case "variance":
            weights["tip.variance"] = np.full(32, -1, np.float32)
        case "features":
            return replace(data, architecture=replace(data.architecture, features="tarot"))
        case "planes":
            return replace(data, architecture=replace(data.architecture, planes=23))
    return replace(data, weights=weights)


@pytest.mark.parametrize(
    "change", ["missing", "extra", "shape", "nan", "variance", "features", "planes"]
)
def test_what_could_not_be_loaded_again_is_not_saved(change: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError):
        save_network(damaged(change), tmp_path / "net")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["weight", "scaling", "provenance", "name"])
def test_the_checksum_notices_every_change(what: str, tmp_path: Path) -> None:
    path = tmp_path / "net"
    save_network(random_network("b2c32"), path)
    tensors = load_file(path)
    with safe_open(path, "numpy") as file:
        metadata: dict[str, str] = file.metadata()
    save_file(tensors, path, metadata)
    load_network_file(path)  # rewritten as it was
    match what:
        case "weight":
            tensors["tip.bias"][3] += 1
        case "scaling":
            metadata["scaling"] = metadata["scaling"].replace("30.0", "31.0")
        case "provenance":
            metadata["provenance"] = '{"games": "1"}'
        case "name":
            metadata["name"] = "another"
    save_file(tensors, path, metadata)
    with pytest.raises(NetworkFileError, match="checksum"):
        load_network_file(path)


def test_files_are_read_and_written_without_torch(tmp_path: Path) -> None:
    save_network(random_network("b2c32"), tmp_path / "net")
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from tengen.network.files.loading import load_network\n"
        "from tengen.network.files.katago_export import save_katago\n"
        "from tengen.network.files.tengen_format import save_network\n"
        "data = load_network('net')\n"
        "save_network(data, 'copy')\n"
        "save_katago(data, 'net.bin.gz')\n"
        "print(load_network('net.bin.gz').name)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"TENGEN_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert (run.stdout, run.stderr) == ("random\n", "")
    assert_same(load_network_file(tmp_path / "copy"), load_network_file(tmp_path / "net"))
