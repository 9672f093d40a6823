"""The back end of NVIDIA's and AMD's GPUs: torch with CUDA or ROCm, which torch calls CUDA, too."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.game.geometry import Size
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator
    from tengen.network.inference_buffers import InferenceBuffers

SELFPLAY_GAMES = 8192
# Files of the drivers of NVIDIA, of AMD and of Windows' Linux.
_LINUX_DRIVERS = (
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/proc/driver/nvidia/version",
    "/dev/kfd",
    "/dev/dxg",
)
_WINDOWS_DRIVERS = ("C:/Windows/System32/nvcuda.dll",)


def probe() -> Probe:
    """The GPU; torch, which takes a second to import, is asked only if there is a driver."""
    if not is_installed("torch"):
        return Probe(False, "torch is not installed", "pip install 'tengen[train]'")
    if not has_driver():
        return Probe(False, "no driver of a GPU is loaded", "nvidia-smi")
    import torch

    version = f"torch {torch.__version__}"
    if torch.cuda.is_available():
        return Probe(True, f"{torch.cuda.get_device_name()}, {version}")
    if torch.version.cuda is None and torch.version.hip is None:
        missing = f"{version} is built for the CPU alone"
        return Probe(False, missing, "pip install --force-reinstall torch")
    return Probe(False, f"{version} finds no usable GPU; is the driver installed?", "nvidia-smi")


def has_driver() -> bool:
    """Is there a file of a GPU's driver?"""
    drivers = _WINDOWS_DRIVERS if platform.system() == "Windows" else _LINUX_DRIVERS
    return any(Path(driver).exists() for driver in drivers)


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:  # noqa: ARG001
    """A network on the GPU, in bf16."""
    from tengen.network.backends.torch_evaluator import TorchEvaluator

    return TorchEvaluator(data, "cuda")


def open_buffers(data: NetworkData, rows: int, size: Size) -> list[InferenceBuffers]:
    """Two sets of pinned buffers, each evaluated by one graph launch."""
    from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
    from tengen.network.torch.model import network_from

    network = PlayingNetwork(network_from(data).cuda(), data.scaling)
    return [CudaBuffers(network, rows, size) for _ in range(2)]
