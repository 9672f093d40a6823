"""Networks run by ONNX Runtime."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.backends.batch_sizes import padded, static_size
from tengen.network.backends.network_graph import ANY
from tengen.network.backends.onnx_graph import BATCH, HEIGHT, WIDTH, onnx_model
from tengen.network.backends.onnxruntime import CPU_PROVIDER
from tengen.network.decoding import PendingOutputs, RawOutputs
from tengen.network.evaluator import INPUTS, Batch, batch_for, network_inputs
from tengen.network.files.errors import NetworkFileError
from tengen.network.network_data import NetworkData

SESSIONS = 8  # that are kept


class _Kind(NamedTuple):
    """What a session is made for."""

    masked: bool  # do boards smaller than the tensor occur?
    batch: int  # or ANY
    height: int
    width: int


class OnnxEvaluator:
    """A network on one of ONNX Runtime's execution providers, in float32.

    Each board size has its own session, since most providers are slow where sides are not known.
    """

    best_batch = 8
    parallel_batches = 1

    def __init__(
        self, data: NetworkData, provider: str = CPU_PROVIDER, *, static: bool = False
    ) -> None:
        """`static`: the provider takes graphs of one batch size alone, to which batches are padded.

        Raises ValueError for a provider that is not there.
        """
        import onnxruntime

        known = onnxruntime.get_available_providers()
        if provider not in known:
            raise ValueError(f"ONNX Runtime has no {provider} here; it has {', '.join(known)}")
        self._data, self._provider, self._static = data, provider, static
        self._models: dict[bool, bytes] = {}  # by whether there is a mask
        self._sessions: OrderedDict[_Kind, Any] = OrderedDict()
        self.name = data.name
        self.features = FEATURE_SETS[data.architecture.features]
        self.has_optimism = data.architecture.has_optimism
        self.imitates_people = data.architecture.imitates_people
        self.device = f"ONNX Runtime, {provider.removesuffix('ExecutionProvider')}"
        self.on_processor = provider == CPU_PROVIDER
        self._worker = ThreadPoolExecutor(1, "onnxruntime")

    def submit(self, batch: Batch) -> PendingOutputs:
        """Start an evaluation."""
        batch = batch_for(batch, self.name, self._data.architecture)
        future = self._worker.submit(self._run, batch)
        return PendingOutputs(future.result, batch, self._data.scaling, self.name)

    def _run(self, batch: Batch) -> RawOutputs:
        n, _, height, width = batch.planes.shape
        size = static_size(n) if self._static else n
        masked = not bool((self.features.on_board(batch.planes) == 1).all())
        kind = _Kind(masked, size if self._static else ANY, height, width)
        session = self._session(kind)
        given = dict(zip(INPUTS, network_inputs(batch), strict=False))
        # A network without globals has no such input.
        wanted = [each.name for each in session.get_inputs()]
        inputs = {name: padded(given[name], size - n) for name in wanted}
        outputs = session.run(list(RawOutputs._fields), inputs)
        return RawOutputs(*(output[:n] for output in outputs))

    def _session(self, kind: _Kind) -> Any:
        """The session for a kind of batch; the least recently used one makes room for a new one."""
        found = self._sessions.pop(kind, None)
        if found is None:
            found = self._new_session(kind)
            if len(self._sessions) >= SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions[kind] = found
        return found

    def _new_session(self, kind: _Kind) -> Any:
        import onnxruntime

        if kind.masked not in self._models:
            self._models[kind.masked] = onnx_model(self._data, masked=kind.masked)
        options = onnxruntime.SessionOptions()
        sides = {HEIGHT: kind.height, WIDTH: kind.width, BATCH: kind.batch}
        for name, side in sides.items():
            if side != ANY:
                options.add_free_dimension_override_by_name(name, side)
        try:
            return onnxruntime.InferenceSession(
                self._models[kind.masked], options, providers=[self._provider]
            )
        except Exception as error:  # its errors share no base class
            what = f"{self.device} cannot run it: {error}"
            raise NetworkFileError(f"{self.name}: {what}") from None
