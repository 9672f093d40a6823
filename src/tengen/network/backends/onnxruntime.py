"""The back ends of ONNX Runtime: a device for each execution provider that may be worth having.

What is installed decides which there are: the packages onnxruntime-gpu, onnxruntime-directml and
others bring them. Networks are written as ONNX when they are opened, which needs the package onnx.
"""

from __future__ import annotations

import platform
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tengen.network.backends.backend import Backend, Probe, ProcessorOptions, is_installed
from tengen.pip_package import install_command

if TYPE_CHECKING:
    from tengen.network.evaluator import Evaluator
    from tengen.network.network_data import NetworkData

ONNX_RUNTIME = "onnxruntime"
CPU_PROVIDER = "CPUExecutionProvider"


class Provider(NamedTuple):
    """An execution provider as a device."""

    device: str  # as `--device` names it
    names: tuple[str, ...]  # of providers, without their ending; the first one that is there counts
    systems: tuple[str, ...] = ()  # of computers that may have it; none: all
    static: bool = False  # it compiles a graph for each batch size

    def found(self) -> str | None:
        """The provider in the installed ONNX Runtime, if there is one."""
        import onnxruntime

        known = onnxruntime.get_available_providers()
        wanted = (f"{name}ExecutionProvider" for name in self.names)
        return next((name for name in wanted if name in known), None)


# `onnxruntime` takes the best one. TensorRT needs libraries that are often missing, and minutes to
# compile a graph, so it has to be asked for.
PROVIDERS = (
    Provider(ONNX_RUNTIME, ("CUDA", "MIGraphX", "ROCM", "Dml", "CoreML", "CPU")),
    Provider("tensorrt", ("Tensorrt", "NvTensorRTRTX"), ("Linux", "Windows"), static=True),
    Provider("rocm", ("MIGraphX", "ROCM"), ("Linux", "Windows")),
    Provider("directml", ("Dml",), ("Windows",)),
    Provider("coreml", ("CoreML",), ("Darwin",), static=True),
)


def probe(provider: Provider) -> Probe | None:
    """The version of ONNX Runtime, if it has the provider; None where it cannot have it."""
    everywhere = provider.device == ONNX_RUNTIME
    if not (everywhere or platform.system() in provider.systems):
        return None
    for package in ("onnxruntime", "onnx"):
        if not is_installed(package):
            missing = Probe(False, f"{package} is not installed", install_command("onnxruntime"))
            return missing if everywhere else None
    import onnxruntime

    found = provider.found()
    if found is None:
        return None
    name = found.removesuffix("ExecutionProvider")
    return Probe(True, f"ONNX Runtime {onnxruntime.__version__}, {name}")


def open_evaluator(provider: Provider, data: NetworkData, options: ProcessorOptions) -> Evaluator:
    """A network on an execution provider, in float32."""
    from tengen.network.backends.onnxruntime_evaluator import OnnxEvaluator

    options.warn_unless("float32", provider.device)
    return OnnxEvaluator(data, provider.found() or CPU_PROVIDER, static=provider.static)


BACKENDS = tuple(
    Backend(
        "onnxruntime",
        each.device,
        partial(probe, each),
        partial(open_evaluator, each),
        falls_back=each.device != ONNX_RUNTIME,
    )
    for each in PROVIDERS
)
