"""The back ends of OpenVINO's devices, and its core. Imports it only when asked.

The CPU is what it is used for; GPUs and NPUs of Intel come with it, and are tried nowhere here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tengen.network.evaluator import Evaluator
    from tengen.network.network_data import NetworkData

CPU, GPU, NPU = "CPU", "GPU", "NPU"  # as OpenVINO calls its devices


def probe(device: str = CPU) -> Probe | None:
    """One of OpenVINO's devices and the precisions it computes in; None where there is none."""
    if not is_installed("openvino"):
        missing = Probe(False, "OpenVINO is not installed", "pip install openvino")
        return missing if device == CPU else None
    import openvino

    core = openvino_core()
    if not any(each.split(".")[0] == device for each in core.available_devices):
        return None
    name = core.get_property(device, "FULL_DEVICE_NAME")
    able = core.get_property(device, "OPTIMIZATION_CAPABILITIES")
    precisions = [p for p in ("FP32", "FP16", "BF16", "INT8") if p in able]
    version = openvino.get_version().split("-")[0]
    return Probe(True, f"{name}, OpenVINO {version}, {', '.join(precisions)}")


def opener(device: str = CPU) -> Callable[[NetworkData, ProcessorOptions], Evaluator]:
    """What opens a network on one of OpenVINO's devices."""

    def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:
        from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision

        named = options.precision
        if named is None and device == CPU:
            named = _best_precision(data)
        precision = Precision(named) if named in tuple(Precision) else None
        return OpenVinoEvaluator(
            data,
            precision,
            device=device,
            threads=options.threads,
            streams=options.streams,
            static=device == NPU,
        )

    return open_evaluator


def _best_precision(data: NetworkData) -> str | None:
    """What was measured to be best on this processor, if anything was."""
    from tengen.network.best_precision import best_precision

    best = best_precision(data)
    return None if best is None else best.precision


@cache
def openvino_core() -> Any:
    """The object that finds devices and compiles graphs: one for the lifetime of the process.

    Each core that uses the CPU gives its thread a new signal stack, and unmaps it when destroyed.
    Unless cores are destroyed in reverse order and in the same thread, the thread is left with an
    unmapped stack, and Ctrl-C then kills the process without a message.
    """
    import openvino

    return openvino.Core()
