"""Networks as ONNX files."""

from __future__ import annotations

import warnings
from pathlib import Path

import torch

from tengen.atomic_files import unfinished_file
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network.data import NetworkData
from tengen.network.evaluator import INPUTS
from tengen.network.torch.model import Outputs, network_from

OPSET = 17


def export_onnx(data: NetworkData, path: Path) -> None:
    """Write a network as ONNX with dynamic batch and board size; needs torch and onnx.

    The board size is fixed if the network plays on one alone.
    """
    network = network_from(data)
    fixed = data.architecture.board_size
    side = fixed or 9
    planes = torch.zeros(2, data.architecture.planes, side, side)
    planes[:, 0] = 1
    inputs = [planes, torch.zeros(2, data.architecture.globals)]
    if data.architecture.metadata_hidden1:
        inputs.append(torch.zeros(2, METADATA_INPUTS))
    board = {0: "batch"} if fixed else {0: "batch", 2: "height", 3: "width"}
    points = {0: "batch"} if fixed else {0: "batch", 1: "height", 2: "width"}
    with warnings.catch_warnings(), unfinished_file(path) as unfinished:
        # The exporter that handles dynamic board sizes is the older one, and says so at length.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            tuple(inputs),
            str(unfinished),
            dynamo=False,
            opset_version=OPSET,
            input_names=list(INPUTS[: len(inputs)]),
            output_names=list(Outputs._fields),
            dynamic_axes={
                "planes": board,
                "globals": {0: "batch"},
                "metadata": {0: "batch"},
                "policy": {0: "batch"} if fixed else {0: "batch", 2: "moves"},
                "value": {0: "batch"},
                "score": {0: "batch"},
                "ownership": points,
            },
        )
