"""The back end of the CPU: OpenVINO, and its core. Imports it only when asked."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator


def probe() -> Probe:
    """The processor and the precisions it computes in."""
    if not is_installed("openvino"):
        return Probe(False, "OpenVINO is not installed", "pip install openvino")
    import openvino

    core = openvino_core()
    name = core.get_property("CPU", "FULL_DEVICE_NAME")
    able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    precisions = [p for p in ("FP32", "BF16", "INT8") if p in able]
    version = openvino.get_version().split("-")[0]
    return Probe(True, f"{name}, OpenVINO {version}, {', '.join(precisions)}")


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:
    """A network on the CPU."""
    from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
    from tengen.network.best_precision import best_precision

    precision = None
    if options.precision is not None:
        precision = Precision(options.precision)
    elif (best := best_precision(data)) is not None:
        with suppress(ValueError):  # of another version of ours
            precision = Precision(best.precision)
    return OpenVinoEvaluator(data, precision, threads=options.threads, streams=options.streams)


@cache
def openvino_core() -> Any:
    """The object that finds devices and compiles graphs: one for the lifetime of the process.

    Each core that uses the CPU gives its thread a new signal stack, and unmaps it when destroyed.
    Unless cores are destroyed in reverse order and in the same thread, the thread is left with an
    unmapped stack, and Ctrl-C then kills the process without a message.
    """
    import openvino

    return openvino.Core()
