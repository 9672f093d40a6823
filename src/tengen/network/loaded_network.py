"""A network file opened on a device, as every front end needs it. Imports little at first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tengen.network.backends.registry import AUTO

if TYPE_CHECKING:
    from tengen.network.architecture import Architecture
    from tengen.network.evaluator import Evaluator
    from tengen.network.network_data import NetworkData
    from tengen.network.trained_on import TrainedOn


class LoadedNetwork(NamedTuple):
    """A network on a device, and what is known about its file."""

    evaluator: Evaluator
    file: str = ""  # its name without folders; empty for data that came from no file
    sha256: str = ""  # of the file
    katago_version: int = 0  # of KataGo's format; 0 for networks that are not KataGo's
    architecture: Architecture | None = None
    trained_on: TrainedOn | None = None  # None: whoever opened the evaluator answers for it


def open_network(
    model: str | Path | NetworkData, device: str, precision: str = AUTO, streams: int = 1
) -> LoadedNetwork:
    """Load a network by its file's name, or take its data, and open it on a device.

    On the CPU `streams` batches are computed at the same time. Raises NetworkFileError for the
    file, ValueError for the device or the precision.
    """
    from tengen.network.backends.registry import open_evaluator
    from tengen.network.files.loading import file_sha256, find_network, load_network

    if isinstance(model, str | Path):
        path = find_network(model)
        file, sha256, data = path.name, file_sha256(path), load_network(model)
    else:
        file, sha256, data = "", "", model
    version = data.provenance.get("katago_version", "")
    return LoadedNetwork(
        evaluator=open_evaluator(data, device, precision, streams=streams),
        file=file,
        sha256=sha256,
        katago_version=int(version) if version.isdecimal() else 0,
        architecture=data.architecture,
        trained_on=data.trained_on,
    )
