"""Networks run by ONNX Runtime."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.data import NetworkData
from tengen.network.decoding import PendingOutputs, RawOutputs
from tengen.network.evaluator import INPUTS, Batch, batch_for, network_inputs
from tengen.network.files.errors import NetworkFileError

CPU_PROVIDER = "CPUExecutionProvider"


class OnnxEvaluator:
    """A network's ONNX file on one of ONNX Runtime's execution providers."""

    best_batch = 8
    parallel_batches = 1

    def __init__(self, path: Path, data: NetworkData, provider: str = CPU_PROVIDER) -> None:
        """The file is what `export_onnx` wrote for the same data; it is not needed afterwards."""
        import onnxruntime

        known = onnxruntime.get_available_providers()
        if provider not in known:
            raise ValueError(f"ONNX Runtime has no {provider} here; it has {', '.join(known)}")
        try:
            self._session = onnxruntime.InferenceSession(str(path), providers=[provider])
        except Exception as error:  # its errors share no base class
            raise NetworkFileError(f"{path}: ONNX Runtime cannot load it: {error}") from None
        self.name = data.name
        self.features = FEATURE_SETS[data.architecture.features]
        self.has_optimism = data.architecture.has_optimism
        self.imitates_people = data.architecture.imitates_people
        self.device = f"ONNX Runtime, {provider.removesuffix('ExecutionProvider')}"
        self.on_processor = provider == CPU_PROVIDER
        self._scaling = data.scaling
        self._architecture = data.architecture
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._worker = ThreadPoolExecutor(1, "onnxruntime")

    def submit(self, batch: Batch) -> PendingOutputs:
        """Start an evaluation."""
        batch = batch_for(batch, self.name, self._architecture)
        given = zip(INPUTS, network_inputs(batch), strict=False)
        # A network without globals has no such input.
        inputs = {name: array for name, array in given if name in self._inputs}
        future = self._worker.submit(self._session.run, list(RawOutputs._fields), inputs)
        return PendingOutputs(lambda: RawOutputs(*future.result()), batch, self._scaling, self.name)
