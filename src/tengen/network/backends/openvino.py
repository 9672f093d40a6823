"""The back end of the CPU: OpenVINO. Imports it only when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator


def probe() -> Probe:
    """The processor and the precisions it computes in."""
    if not is_installed("openvino"):
        return Probe(False, "OpenVINO is not installed", "pip install openvino")
    import openvino

    from tengen.network.backends.openvino_core import openvino_core

    core = openvino_core()
    name = core.get_property("CPU", "FULL_DEVICE_NAME")
    able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    precisions = [p for p in ("FP32", "BF16", "INT8") if p in able]
    version = openvino.get_version().split("-")[0]
    return Probe(True, f"{name}, OpenVINO {version}, {', '.join(precisions)}")


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:
    """A network on the CPU, in bf16 where the CPU has it."""
    from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator

    return OpenVinoEvaluator(data, threads=options.threads, streams=options.streams)
