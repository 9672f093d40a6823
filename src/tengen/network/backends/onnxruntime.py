"""The back end of whatever ONNX Runtime supports: DirectML, CoreML, CUDA, the CPU and others.

Networks are exported to ONNX when they are opened, for which torch and onnx are needed.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tengen.distribution import install_command
from tengen.network.backends.backend import Probe, ProcessorOptions, is_installed

if TYPE_CHECKING:
    from tengen.network.data import NetworkData
    from tengen.network.evaluator import Evaluator

# The first of these that is built in is used; TensorRT needs libraries that are often missing.
_PREFERRED = ("CUDA", "ROCM", "Dml", "CoreML")


def probe() -> Probe:
    """The version of ONNX Runtime and its execution providers."""
    if not is_installed("onnxruntime"):
        return Probe(False, "ONNX Runtime is not installed", install_command("onnxruntime"))
    if missing := [package for package in ("torch", "onnx") if not is_installed(package)]:
        what = f"exporting networks to ONNX needs {' and '.join(missing)}"
        return Probe(False, what, install_command("train"))
    import onnxruntime

    providers = [p.removesuffix("ExecutionProvider") for p in onnxruntime.get_available_providers()]
    return Probe(True, f"ONNX Runtime {onnxruntime.__version__}, {', '.join(providers)}")


def open_evaluator(data: NetworkData, options: ProcessorOptions) -> Evaluator:
    """A network on the best execution provider, in float32."""
    import onnxruntime

    from tengen.network.backends.onnxruntime_evaluator import CPU_PROVIDER, OnnxEvaluator
    from tengen.network.torch.onnx_export import export_onnx

    options.warn_unless("float32", "onnxruntime")
    built_in = onnxruntime.get_available_providers()
    preferred = [f"{name}ExecutionProvider" for name in _PREFERRED]
    provider = next((name for name in preferred if name in built_in), CPU_PROVIDER)
    with TemporaryDirectory(prefix="tengen-onnx-") as folder:
        path = Path(folder) / "network.onnx"
        export_onnx(data, path)
        return OnnxEvaluator(path, data, provider)
