"""The back end of Apple's GPUs: torch with MPS."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator


def probe() -> Probe | None:
    """The GPU of a Mac with Apple's processor; None on other machines."""
    if (platform.system(), platform.machine()) != ("Darwin", "arm64"):
        return None
    if not is_installed("torch"):
        return Probe(False, "torch is not installed", "pip install 'tengen[train]'")
    import torch

    ready = torch.backends.mps.is_available()
    found = "Apple GPU" if ready else "no usable GPU"
    return Probe(ready, f"{found}, torch {torch.__version__}")


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:  # noqa: ARG001
    """A network on the GPU, in float32."""
    from tengen.network.backends.torch_evaluator import TorchEvaluator

    return TorchEvaluator(data, "mps")
