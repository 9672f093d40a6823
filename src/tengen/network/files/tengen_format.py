"""Tengen's network files: safetensors with architecture, scaling and provenance in the header.

Files may be hostile: sizes are checked before memory is allocated, and nothing is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tengen.atomic_files import replace_file
from tengen.features.feature_set import FEATURE_SETS
from tengen.network.architecture import Architecture
from tengen.network.files.errors import AGAIN, NetworkFileError, describe_foreign_file, one_line
from tengen.network.network_data import NetworkData, Scaling
from tengen.network.trained_on import TrainedOn, trained_on
from tengen.network.weights import weights_of

FORMAT_VERSION = 1
MAX_HEADER_BYTES = 8 << 20  # a network with hundreds of blocks has one of some 100 KB
OWN = "own."  # how the names of weights begin that belong to a trunk of one's own
LENGTH_BYTES = 8  # of the header's length, which comes first

Tensors: TypeAlias = dict[str, NDArray[Any]]
_NUMPY_TYPES = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16)}


def save_network(data: NetworkData, path: str | Path, half: bool = False) -> None:
    """Write a network file atomically; raises NetworkFileError. See `network_bytes` for `half`."""
    write_atomically(Path(path), network_bytes(data, str(path), half))


def network_bytes(data: NetworkData, where: str, half: bool = False) -> bytes:
    """The content of a network file; `where` it goes is for messages. Raises NetworkFileError.

    `half` stores matrices and convolutions as float16. Norms, biases and frequencies, which are
    small and would lose accuracy, stay float32.
    """
    check_network(data, where)
    tensors: Tensors = {}
    for name, values in data.weights.items():
        small = half and values.ndim >= 2 and not name.endswith(".frequencies")
        with np.errstate(over="ignore"):
            stored = values.astype(np.float16 if small else np.float32)
        if not np.isfinite(stored).all():
            raise NetworkFileError(f"{where}: {name} does not fit float16; save it in full instead")
        tensors[name] = np.ascontiguousarray(stored).reshape(values.shape)
    features = data.architecture.features
    metadata = {
        "format": f"tengen {FORMAT_VERSION}",
        "name": data.name,
        "architecture": data.architecture.to_json(),
        "features": features,
        "features_version": str(_feature_version(features)),
        "scaling": json.dumps(data.scaling._asdict()),
        "provenance": json.dumps(data.provenance),
    }
    metadata["sha256"] = checksum(tensors, metadata)
    return save(tensors, metadata)


def load_network_file(path: str | Path) -> NetworkData:
    """Load a file of this format; raises NetworkFileError for whatever is wrong with it."""
    path = Path(path)
    _check_header_length(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            architecture = _read_architecture(metadata, path)
            _check_form(file, architecture, path)
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        reason = f"damaged: {one_line(str(error))}; {AGAIN}"
        raise NetworkFileError(f"{path}: {reason}") from None
    except OSError as error:
        raise cannot_read(path, error) from None
    stated = metadata.pop("sha256", "")
    if checksum(tensors, metadata) != stated:
        raise NetworkFileError(f"{path}: damaged: its checksum does not match; {AGAIN}")
    weights = {name: values.astype(np.float32) for name, values in tensors.items()}
    data = NetworkData(
        one_line(metadata.get("name", "")),
        architecture,
        weights,
        _read_scaling(metadata, path),
        _read_provenance(metadata, path),
    )
    check_network(data, str(path))
    return data


def read_trained_on(path: str | Path) -> TrainedOn:
    """What a file says that its network was trained on, without reading it whole.

    Raises NetworkFileError.
    """
    path = Path(path)
    metadata = _read_metadata(path)
    side = _read_architecture(metadata, path).board_size
    return trained_on(_read_provenance(metadata, path), side)


def read_provenance(path: str | Path) -> dict[str, str]:
    """Where a file says that its network comes from, without reading it whole.

    Raises NetworkFileError.
    """
    return _read_provenance(_read_metadata(Path(path)), Path(path))


def _read_metadata(path: Path) -> dict[str, str]:
    _check_header_length(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise NetworkFileError(f"{path}: damaged: {one_line(str(error))}; {AGAIN}") from None
    return metadata


def check_network(data: NetworkData, source: str) -> None:
    """Raise NetworkFileError unless the weights match the architecture and are finite."""
    architecture = data.architecture
    try:
        architecture.check()
    except ValueError as error:
        raise NetworkFileError(f"{source}: no such network can be built: {error}") from None
    features = FEATURE_SETS.get(architecture.features)
    if features is None:
        known = ", ".join(FEATURE_SETS)
        what = f"its inputs are {architecture.features[:40]!r}"
        raise NetworkFileError(f"{source}: {what}, which this version does not know, but {known}")
    inputs = len(features.planes), len(features.globals)
    if (architecture.planes, architecture.globals) != inputs:
        got = f"{architecture.planes} planes and {architecture.globals} globals"
        wanted = f"{features.name} has {inputs[0]} and {inputs[1]}"
        raise NetworkFileError(f"{source}: made for {got}, but {wanted}")
    shapes = {name: values.shape for name, values in data.weights.items()}
    _check_shapes(shapes, architecture, source)
    for name, values in data.weights.items():
        if not np.isfinite(values).all():
            raise NetworkFileError(f"{source}: {name} holds numbers that are not finite; {AGAIN}")
        epsilon = data.weights.get(name.removesuffix("variance") + "epsilon")
        is_variance = name.endswith(".variance") and epsilon is not None
        if is_variance and values.min() + epsilon <= 0:
            raise NetworkFileError(f"{source}: {name} is not positive; {AGAIN}")


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file as `replace_file` does; raises NetworkFileError."""
    try:
        replace_file(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NetworkFileError(f"{path}: cannot be written: {reason}; name another file") from None


def looks_like_safetensors(start: bytes) -> bool:
    """Whether a file starts as safetensors do: the header's length, then JSON."""
    length = start[:LENGTH_BYTES]
    return start[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{" and not length.isalnum()


def cannot_read(path: Path, error: OSError) -> NetworkFileError:
    """The error for a file that is missing or not readable."""
    return NetworkFileError(f"{path}: cannot be read: {error.strerror or error}; check the path")


def _check_header_length(path: Path) -> None:
    """Raise NetworkFileError unless this is a safetensors file with a plausible header length."""
    try:
        if path.exists() and not path.is_file():
            raise NetworkFileError(f"{path}: is no file; name a network file")
        with path.open("rb") as file:
            start = file.read(LENGTH_BYTES + 1)
        size = path.stat().st_size
    except OSError as error:
        raise cannot_read(path, error) from None
    except ValueError as error:  # a path with a null character
        raise NetworkFileError(f"{str(path)!r}: cannot be read: {error}; check the path") from None
    if not looks_like_safetensors(start):
        foreign = describe_foreign_file(start) or "is no safetensors file; name a network file"
        raise NetworkFileError(f"{path}: {foreign}")
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    if length > MAX_HEADER_BYTES:
        what = f"claims a header of {length:,} bytes; at most {MAX_HEADER_BYTES:,} are read"
        raise NetworkFileError(f"{path}: {what}; {AGAIN}")
    if LENGTH_BYTES + length > size:
        raise NetworkFileError(f"{path}: the file ends within its header; {AGAIN}")


def _read_architecture(metadata: Mapping[str, str], path: Path) -> Architecture:
    form = metadata.get("format", "")
    if not form.startswith("tengen "):
        what = "is a safetensors file, but no network of Tengen's"
        raise NetworkFileError(f"{path}: {what}; name another, or a file of KataGo's")
    if form == "tengen tutorial 1":
        what = "is of a tutorial run that began before its networks could play"
        raise NetworkFileError(f"{path}: {what}; go on with the run, which saves one that can")
    if form != f"tengen {FORMAT_VERSION}":
        what = f"has the format {form[:40]!r}; this version reads 'tengen {FORMAT_VERSION}'"
        raise NetworkFileError(f"{path}: {what}; update Tengen")
    try:
        architecture = Architecture.from_json(metadata.get("architecture", ""))
    except ValueError as error:
        raise NetworkFileError(f"{path}: {one_line(str(error))}; {AGAIN}") from None
    features, version = metadata.get("features"), metadata.get("features_version")
    if features != architecture.features or version != str(_feature_version(features)):
        what = f"its inputs are {str(features)[:40]!r}, version {str(version)[:20]!r}"
        raise NetworkFileError(f"{path}: {what}, which this version does not know; update Tengen")
    return architecture


def _feature_version(features: str) -> int:
    return FEATURE_SETS[features].version if features in FEATURE_SETS else 1


def _check_form(file: Any, architecture: Architecture, path: Path) -> None:
    """Check the tensors' types and shapes before they are read."""
    slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
    for name, tensor in slices.items():
        if tensor.get_dtype() not in _NUMPY_TYPES:
            what = f"{one_line(name)} is {tensor.get_dtype()}, neither F32 nor F16"
            raise NetworkFileError(f"{path}: {what}; {AGAIN}")
    shapes = {name: tuple(tensor.get_shape()) for name, tensor in slices.items()}
    _check_shapes(shapes, architecture, str(path))


def _check_shapes(
    shapes: Mapping[str, tuple[int, ...]], architecture: Architecture, source: str
) -> None:
    wanted = {weight.name: weight.shape for weight in weights_of(architecture)}
    for name, shape in wanted.items():
        if name not in shapes:
            raise NetworkFileError(f"{source}: {name} is missing; {AGAIN}")
        if shapes[name] != shape:
            what = f"{name} has the shape {shapes[name]} instead of {shape}"
            raise NetworkFileError(f"{source}: {what}; {AGAIN}")
    own = {name for name in shapes if architecture.trunk and name.startswith(OWN)}
    if extra := sorted(shapes.keys() - wanted.keys() - own):
        what = f"{one_line(extra[0])} does not belong to this architecture"
        raise NetworkFileError(f"{source}: {what}; {AGAIN}")


def _read_scaling(metadata: Mapping[str, str], path: Path) -> Scaling:
    try:
        values: dict[str, Any] = json.loads(metadata.get("scaling", ""))
        halved = values.pop("halved_errors")
        factors = {name: float(factor) for name, factor in values.items()}
        if not isinstance(halved, bool):
            raise ValueError("neither true nor false")
        if not all(0 < factor < math.inf for factor in factors.values()):
            raise ValueError("not positive and finite")
        if factors.keys() != Scaling()._asdict().keys() - {"halved_errors"}:
            raise ValueError("other names")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, OverflowError):
        raise NetworkFileError(f"{path}: the header has no valid scaling; {AGAIN}") from None
    return Scaling(**factors, halved_errors=halved)


def _read_provenance(metadata: Mapping[str, str], path: Path) -> dict[str, str]:
    try:
        values: dict[str, str] = json.loads(metadata.get("provenance", ""))
        if not all(isinstance(value, str) for value in values.values()):
            raise ValueError("not text")
    except (AttributeError, ValueError, RecursionError):
        raise NetworkFileError(f"{path}: the header has no valid provenance; {AGAIN}") from None
    try:
        trained_on(values)
    except ValueError as error:
        what = f"its provenance is not understood: {one_line(str(error))}"
        raise NetworkFileError(f"{path}: {what}; {AGAIN}, or update Tengen") from None
    return values


def checksum(tensors: Tensors, metadata: Mapping[str, str]) -> str:
    """A digest of all tensors (name, type, shape, bytes) and of the header."""
    digest = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name, values in sorted(tensors.items()):
        digest.update(f"{name}\n{values.dtype.str}\n{values.shape}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
