"""The back end of CPUs without OpenVINO: torch."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator


def probe() -> Probe:
    """The version of torch, which is not imported."""
    if not is_installed("torch"):
        return Probe(False, "torch is not installed", "pip install 'tengen[train]'")
    return Probe(True, f"torch {version('torch')}, FP32")


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:  # noqa: ARG001
    """A network on the CPU, in float32."""
    from tengen.network.backends.torch_evaluator import TorchEvaluator

    return TorchEvaluator(data, "cpu")
