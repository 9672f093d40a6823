"""Files of the tutorial's networks: safetensors with its size and where it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tengen.network.files.errors import AGAIN, NetworkFileError, one_line
from tengen.network.files.tengen_format import cannot_read, checksum, write_atomically
from tengen.network.tutorial import TutorialArchitecture, TutorialNetwork

FORMAT = "tengen tutorial 1"
_LARGEST = {"side": 19, "blocks": 100, "channels": 1000, "value_hidden": 10_000, "planes": 100}


def save_tutorial(
    network: TutorialNetwork,
    architecture: TutorialArchitecture,
    path: str | Path,
    facts: Mapping[str, str],
) -> None:
    """Write a file that appears whole or not at all; raises NetworkFileError."""
    tensors = {
        name: np.ascontiguousarray(tensor.cpu().numpy()).reshape(tensor.shape)
        for name, tensor in network.state_dict().items()
    }
    metadata = {
        "format": FORMAT,
        "architecture": json.dumps(asdict(architecture)),
        "provenance": json.dumps(dict(facts)),
    }
    metadata["sha256"] = checksum(tensors, metadata)
    write_atomically(Path(path), save(tensors, metadata))


def load_tutorial(path: str | Path) -> TutorialNetwork:
    """The network in a file, ready to be asked; raises NetworkFileError."""
    path = Path(path)
    try:
        with path.open("rb"), safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                what = "is no network of the tutorial's"
                raise NetworkFileError(f"{path}: {what}; name one that `tengen train` saved")
            network = TutorialNetwork(_architecture(metadata, path))
            _check_shapes(file, network, path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise NetworkFileError(f"{path}: damaged: {one_line(str(error))}; {AGAIN}") from None
    except OSError as error:
        raise cannot_read(path, error) from None
    stated = metadata.pop("sha256", "")
    if checksum(tensors, metadata) != stated:
        raise NetworkFileError(f"{path}: damaged: its checksum does not match; {AGAIN}")
    network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
    return network.eval()


def _architecture(metadata: Mapping[str, str], path: Path) -> TutorialArchitecture:
    try:
        values: dict[str, int] = json.loads(metadata.get("architecture", ""))
        sizes = {name: int(values[name]) for name in _LARGEST}
        if not all(0 < sizes[name] <= most for name, most in _LARGEST.items()):
            raise ValueError("too large")
    except (KeyError, TypeError, ValueError, RecursionError):
        raise NetworkFileError(f"{path}: the header has no valid size; {AGAIN}") from None
    return TutorialArchitecture(**sizes)


def _check_shapes(file: Any, network: TutorialNetwork, path: Path) -> None:
    """Compare names and shapes with the architecture's before anything is read."""
    found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    if found != {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}:
        raise NetworkFileError(f"{path}: its weights are not those of its size; {AGAIN}")
