"""The back ends of torch: CUDA and ROCm, Apple's GPUs, and CPUs without OpenVINO.

torch calls ROCm CUDA, too. It takes a second to import, which is left until it is needed.
"""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed
from tengen.pip_package import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tengen.network.evaluator import Evaluator
    from tengen.network.inference_buffers import BufferShape, InferenceBuffers
    from tengen.network.network_data import NetworkData

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


def _missing() -> Probe | None:
    """The probe of machines without torch."""
    if is_installed("torch"):
        return None
    return Probe(False, "torch is not installed", install_command("train"))


def probe_cpu() -> Probe:
    """The version of torch, which is not imported."""
    return _missing() or Probe(True, f"torch {version('torch')}, FP32")


def probe_mps() -> Probe | None:
    """The GPU of a Mac with Apple's processor; None on other machines."""
    if (platform.system(), platform.machine()) != ("Darwin", "arm64"):
        return None
    if missing := _missing():
        return missing
    import torch

    ready = torch.backends.mps.is_available()
    found = "Apple GPU" if ready else "no usable GPU"
    return Probe(ready, f"{found}, torch {torch.__version__}")


def probe_cuda() -> Probe:
    """The GPU; torch is asked only if there is a driver."""
    if missing := _missing():
        return missing
    if not has_driver():
        return Probe(False, "no driver of a GPU is loaded", "nvidia-smi")
    import torch

    found = f"torch {torch.__version__}"
    if torch.cuda.is_available():
        return Probe(True, f"{torch.cuda.get_device_name()}, {found}")
    if torch.version.cuda is None and torch.version.hip is None:
        what = f"{found} is built for the CPU alone"
        return Probe(False, what, "pip install --force-reinstall torch")
    return Probe(False, f"{found} finds no usable GPU; is the driver installed?", "nvidia-smi")


def has_driver() -> bool:
    """Is there a file of a GPU's driver?"""
    drivers = _WINDOWS_DRIVERS if platform.system() == "Windows" else _LINUX_DRIVERS
    return any(Path(driver).exists() for driver in drivers)


def opener(device: str) -> Callable[[NetworkData, ProcessorOptions], Evaluator]:
    """What opens a network on one of torch's devices: on CUDA in bf16, elsewhere in float32."""

    def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:
        from tengen.network.backends.torch_evaluator import TorchEvaluator

        options.warn_unless("bf16" if device == "cuda" else "float32", device)
        return TorchEvaluator(data, device)

    return open_evaluator


def open_cuda_buffers(data: NetworkData, shapes: Sequence[BufferShape]) -> list[InferenceBuffers]:
    """Pinned buffers of these shapes, each evaluated by one graph launch."""
    from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
    from tengen.network.torch.model import network_from

    network = PlayingNetwork(network_from(data).cuda(), data.scaling)
    return [CudaBuffers(network, shape) for shape in shapes]
