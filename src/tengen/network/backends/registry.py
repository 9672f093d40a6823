"""What can run networks here, which of it is chosen, and what is missing."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.network.backends.openvino import Precision
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator

CPU, CUDA, MPS = "cpu", "cuda", "mps"
AUTO = "auto"
NAMES = (AUTO, CPU, CUDA, MPS)

# What the drivers of NVIDIA, of AMD and of Windows' Linux put there.
_LINUX_DRIVERS = (
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/proc/driver/nvidia/version",
    "/dev/kfd",
    "/dev/dxg",
)
_WINDOWS_DRIVERS = ("C:/Windows/System32/nvcuda.dll",)


class Device(NamedTuple):
    """A way to run networks."""

    name: str
    ready: bool
    what: str  # what was found, or why it is not to be had
    remedy: str = ""  # the command that would get it


def find_devices() -> Iterator[Device]:
    """All ways to run networks, the best first; each is looked for when it is asked for."""
    yield from _torch_devices()
    yield _cpu()
    yield _onnx_runtime()


def best_device(devices: Iterable[Device]) -> Device:
    """The device that `auto` stands for; raises ValueError if there is none."""
    for device in devices:
        if device.ready:
            return device
    raise ValueError("nothing here can run networks: pip install openvino")


def open_evaluator(
    data: NetworkData,
    device: str = AUTO,
    precision: Precision | None = None,
    *,
    streams: int = 1,
) -> Evaluator:
    """A network on a device; raises ValueError for a device that has no such name.

    A device that fails gives way to the CPU, after one line on stderr. On the CPU, `streams`
    batches are computed at the same time.
    """
    if device not in NAMES:
        raise ValueError(f"no device is called {device!r}; there are {', '.join(NAMES)}")
    wanted = best_device(find_devices()).name if device == AUTO else device
    if wanted in (CUDA, MPS):
        try:
            from tengen.network.backends.torch_gpu import TorchEvaluator

            return TorchEvaluator(data, wanted)
        except Exception as error:  # drivers fail in many ways, and none may stop a game
            why = (str(error) or type(error).__name__).splitlines()[0]
            say(f"{wanted} failed ({why}); using the CPU")
    from tengen.network.backends.openvino import OpenVinoEvaluator

    return OpenVinoEvaluator(data, precision, streams=streams)


def may_have_gpu() -> bool:
    """Is there a sign of a GPU? Asking torch would take a second that most machines can save."""
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    drivers = _WINDOWS_DRIVERS if platform.system() == "Windows" else _LINUX_DRIVERS
    return any(Path(driver).exists() for driver in drivers)


def _torch_devices() -> list[Device]:
    if find_spec("torch") is None:
        return [Device(CUDA, False, "torch is not installed", "pip install 'tengen[train]'")]
    if not may_have_gpu():
        return [Device(CUDA, False, "no driver of a GPU is loaded", "nvidia-smi")]
    import torch

    found = []
    version = f"torch {torch.__version__}"
    if torch.cuda.is_available():
        found.append(Device(CUDA, True, f"{torch.cuda.get_device_name()}, {version}"))
    elif torch.version.cuda is None and torch.version.hip is None:
        missing = f"{version} is built for the CPU alone"
        found.append(Device(CUDA, False, missing, "pip install --force-reinstall torch"))
    else:
        missing = f"{version} finds no GPU it can use; is the driver installed?"
        found.append(Device(CUDA, False, missing, "nvidia-smi"))
    if torch.backends.mps.is_available():
        found.append(Device(MPS, True, f"Apple GPU, {version}"))
    return found


def _cpu() -> Device:
    if find_spec("openvino") is None:
        return Device(CPU, False, "OpenVINO is not installed", "pip install openvino")
    import openvino

    from tengen.network.backends.openvino_core import openvino_core

    core = openvino_core()
    name = core.get_property("CPU", "FULL_DEVICE_NAME")
    able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    precisions = [p for p in ("FP32", "BF16", "INT8") if p in able]
    version = openvino.get_version().split("-")[0]
    return Device(CPU, True, f"{name}, OpenVINO {version}, {', '.join(precisions)}")


def _onnx_runtime() -> Device:
    if find_spec("onnxruntime") is None:
        remedy = "pip install 'tengen[onnxruntime]'"
        return Device("onnxruntime", False, "ONNX Runtime is not installed", remedy)
    import onnxruntime

    providers = [p.removesuffix("ExecutionProvider") for p in onnxruntime.get_available_providers()]
    return Device("onnxruntime", True, f"{onnxruntime.__version__}, {', '.join(providers)}")
