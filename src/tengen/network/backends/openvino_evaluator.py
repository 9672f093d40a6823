"""Networks run by OpenVINO, on the CPU or another of its devices."""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.backends.batch_sizes import (
    LARGE_BATCH,
    SIZES_BY_BATCH,
    padded,
    padded_size,
    static_size,
)
from tengen.network.backends.network_graph import ANY, input_shapes
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.openvino_graph import OUTPUTS, build_graph
from tengen.network.backends.openvino_int8 import (
    SIZES,
    Ranges,
    cached_ranges,
    calibrate,
    calibration_batches,
    quantize,
)
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import INPUTS, Batch, Evaluation, batch_for, network_inputs
from tengen.network.network_data import NetworkData
from tengen.user_messages import say

Shape: TypeAlias = tuple[int, ...]  # batch, planes, height, width
# Each board size has its own graph: what depends on the size alone is then computed once, in
# float32. A graph for one batch size saves a small network up to a third of its time at batch 1,
# and a millisecond or two whenever the batch size changes; a large network of convolutions little,
# but one with attention a fifth to a third, since OpenVINO joins the steps around its products only
# where it knows all shapes. The batch sizes below get their own graph when they have occurred so
# often that compiling it pays, if there is room or one that has long been idle makes room; batches
# of a size between are padded to the next of them. In the graph for all other sizes each new one
# takes some megabytes and tens of milliseconds, so that larger batches are padded there, too.
# A graph of a small network takes ten megabytes and more for each stream, one of a large network
# hundreds, so that their memory is bounded, too.
GRAPHS_BY_BOARD, GRAPHS_BY_BATCH = 8, 6  # kept at most
GRAPH_BYTES = 2 << 30  # of all graphs of a network, unless two take more
FEWEST_GRAPHS = 2
BYTES_PER_WEIGHT = 9  # for each stream: float32 as given, and a copy in the kernels' order
BYTES_WITH_ATTENTION = 15  # as measured; OpenVINO keeps more copies of linear layers
LAYERS_AT_A_TIME = 2  # whose outputs are in memory
LONG_IDLE = 1_000  # evaluations by other graphs
LARGEST_BY_BATCH = 5_000_000  # weights of networks without attention
PAYS_FROM = 2  # batches of a size, from which on a graph of its own is worth compiling
PAYS_FROM_WITH_ATTENTION = 40  # it takes a second of a core and saves some 20 ms a batch


class Precision(StrEnum):
    """The numbers that a network computes with."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BF16 = "bf16"
    INT8 = "int8"


_CAPABILITY = {
    Precision.FLOAT32: "FP32",
    Precision.FLOAT16: "FP16",
    Precision.BF16: "BF16",
    Precision.INT8: "INT8",
}
_HINTS = {Precision.FLOAT32: "f32", Precision.FLOAT16: "f16", Precision.BF16: "bf16"}


def precisions_of(device: str = "CPU") -> list[Precision]:
    """What one of OpenVINO's devices computes in, the usual precision first."""
    able = openvino_core().get_property(device, "OPTIMIZATION_CAPABILITIES")
    fast = Precision.BF16 if device == "CPU" else Precision.FLOAT16
    order = dict.fromkeys((fast, Precision.FLOAT32, *Precision))
    return [precision for precision in order if _CAPABILITY[precision] in able]


class OpenVinoEvaluator:
    """A network on one of OpenVINO's devices, the CPU by default.

    Evaluations run in OpenVINO's threads: several can be under way, and their results can be asked
    for in any order. If the device or the precision is missing or fails, the network runs in
    float32 on the CPU, after a warning on stderr.
    """

    best_batch = 8

    def __init__(
        self,
        data: NetworkData,
        precision: Precision | None = None,
        *,
        device: str = "CPU",
        threads: int | None = None,
        streams: int = 1,
        ranges: Ranges | None = None,
        static: bool = False,
    ) -> None:
        """The default precision is bf16 or float16 where there is one; a thread a core.

        `streams` batches are computed at the same time, each by its share of the threads; further
        ones wait. For int8, `ranges` come from `calibrate`; by default they are found at first use
        and cached. `static`: the device takes graphs of one batch size alone, as NPUs do.
        """
        self._data = data
        self._core = openvino_core()
        self._where, self._threads, self._static = device, threads, static
        self.name, self.parallel_batches = data.name, streams
        self.features = FEATURE_SETS[data.architecture.features]
        self.has_optimism = data.architecture.has_optimism
        self.imitates_people = data.architecture.imitates_people
        self._graphs = _Graphs()
        self._asked: Counter[GraphKey] = Counter()
        self._n_weights = sum(w.size for w in data.weights.values())
        attention = data.architecture.has_attention
        self._bytes_per_weight = BYTES_WITH_ATTENTION if attention else BYTES_PER_WEIGHT
        self._pays_from: float = PAYS_FROM
        if self._n_weights > LARGEST_BY_BATCH:
            self._pays_from = PAYS_FROM_WITH_ATTENTION if attention else math.inf
        self._ranges = ranges or {}
        self._choose(precision)

    def _choose(self, precision: Precision | None) -> None:
        """Choose device and precision, or fall back if the device does not have them."""
        try:
            able = precisions_of(self._where)
        except RuntimeError as error:
            return self._fall_back(f"no device {self._where}: {_first_line(error)}")
        self._usual, self._precision = able[0], precision or able[0]
        if self._precision not in able:
            return self._fall_back(f"{self._where} has no {self._precision}")
        return None

    def _fall_back(self, why: str) -> None:
        say(f"{why}; {self.name} runs in float32 on the CPU")
        self._where, self._static = "CPU", False
        self._precision = self._usual = Precision.FLOAT32
        self._graphs.clear()

    @property
    def device(self) -> str:
        """The device and precision, as text for people."""
        return f"{self._where}, OpenVINO {self._precision}"

    @property
    def precision(self) -> Precision:
        """The precision in use, which is float32 after a fallback."""
        return self._precision

    @property
    def on_processor(self) -> bool:
        """Whether the device is the CPU, perhaps after a fallback."""
        return self._where == "CPU"

    def drop_graphs(self) -> None:
        """Free all graphs; those in use end with their evaluations."""
        self._graphs.clear()
        self._asked.clear()

    def submit(self, batch: Batch) -> OpenVinoPending:
        """Start an evaluation; the caller must not change the batch until it has the result."""
        batch = batch_for(batch, self.name, self._data.architecture)
        compiled, size = self._network_for(batch)
        return OpenVinoPending(self, compiled, batch, size)

    def decode(self, raw: RawOutputs, batch: Batch) -> Evaluation:
        """Turn raw outputs into probabilities and points."""
        return decode(raw, batch, self._data.scaling, self.name)

    def _network_for(self, batch: Batch) -> tuple[_Compiled, int]:
        """The fastest graph for a batch and the batch size it takes; compiled when first needed."""
        masked = not bool((self.features.on_board(batch.planes) == 1).all())
        n, *board = batch.planes.shape
        size = static_size(n) if self._static else padded_size(n)
        key = GraphKey(masked, (size, *board))
        if (found := self._graphs.get(key)) is not None:
            return found, key.batch
        self._asked[key] += 1
        if not (self._static or self._pays(key)):
            key = GraphKey(masked, (ANY, *board))
        found = self._graphs.get(key)
        if found is None:
            self._graphs.make_room(key, self._graph_bytes(key.shape))
            found = self._compile(*key)  # a fallback drops all others
            self._graphs.add(key, found)
        return found, n if key.batch == ANY and n <= LARGE_BATCH else size

    def _pays(self, key: GraphKey) -> bool:
        """Is a graph for one batch size worth compiling now?"""
        often = key.batch in SIZES_BY_BATCH and self._asked[key] >= self._pays_from
        return often and self._graphs.has_room_by_batch(self._graph_bytes(key.shape))

    def _compile(self, masked: bool, shape: Shape) -> _Compiled:
        try:
            return _Compiled(self._compile_as_is(masked, shape), self._graph_bytes(shape))
        except RuntimeError as error:
            if (self._where, self._precision) == ("CPU", Precision.FLOAT32):
                raise
            self._fall_back(f"{self.device} failed: {_first_line(error)}")
            return _Compiled(self._compile_as_is(masked, shape), self._graph_bytes(shape))

    def _graph_bytes(self, shape: Shape) -> int:
        """The memory that a graph takes, about: OpenVINO does not tell."""
        batch = SIZES_BY_BATCH[-1] if shape[0] == ANY else shape[0]
        outputs = batch * shape[-2] * shape[-1] * self._data.architecture.channels * 4
        each = self._bytes_per_weight * self._n_weights + LAYERS_AT_A_TIME * outputs
        return self.parallel_batches * each

    def _compile_as_is(self, masked: bool, shape: Shape) -> Any:
        graph = build_graph(self._data, masked)
        if self._precision is Precision.INT8:
            self._ranges = self._ranges or cached_ranges(self._data, self._calibrate)
            quantize(graph, self._ranges)
        # The other inputs have the same batch size, and no free side.
        shapes = [
            shape,
            *((shape[0], *each[1:]) for each in input_shapes(self._data.architecture)[1:]),
        ]
        graph.reshape(dict(zip(INPUTS, map(list, shapes), strict=False)))
        # What is not quantized is computed in the usual precision.
        rest = self._usual if self._precision is Precision.INT8 else self._precision
        settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": _HINTS[rest]}
        if self._where == "CPU":
            # Pinned threads of two programs would share the same cores.
            settings["ENABLE_CPU_PINNING"] = False
            settings["NUM_STREAMS"] = self.parallel_batches
            if self._threads is not None:
                settings["INFERENCE_NUM_THREADS"] = self._threads
        return self._core.compile_model(graph, self._where, settings)

    def _calibrate(self) -> Ranges:
        say(f"calibrating {self.name} for int8 (first use only, some seconds) ...")
        player = OpenVinoEvaluator(self._data, Precision.FLOAT32, threads=self._threads)
        side = self._data.architecture.board_size
        return calibrate(self._data, calibration_batches(player, (side,) if side else SIZES))


class GraphKey(NamedTuple):
    """What a graph is compiled for."""

    masked: bool  # do boards smaller than the tensor occur?
    shape: Shape

    @property
    def batch(self) -> int:
        """The batch size, perhaps ANY."""
        return self.shape[0]


class _Graphs:
    """The graphs that are kept, the least recently used first."""

    def __init__(self) -> None:
        self._kept: dict[GraphKey, _Compiled] = {}
        self._uses = 0

    def get(self, key: GraphKey) -> _Compiled | None:
        """The graph for a key, to be used now; None if there is none."""
        found = self._kept.pop(key, None)
        if found is not None:
            self.add(key, found)
        return found

    def has_room_by_batch(self, n_bytes: int) -> bool:
        """Is there room for another graph of one batch size, or a graph that is not in use?"""
        kept = self._alike(by_batch=True)
        if len(kept) < GRAPHS_BY_BATCH and self.n_bytes + n_bytes <= GRAPH_BYTES:
            return True
        return bool(kept) and self._uses - self._kept[kept[0]].last_use > LONG_IDLE

    def make_room(self, key: GraphKey, n_bytes: int) -> None:
        """Drop graphs of which there would be too much with another one.

        That is done before it is compiled: OpenVINO keeps the threads of as many graphs as there
        ever were at a time.
        """
        by_batch = key.batch != ANY
        kept = self._alike(by_batch)
        if len(kept) >= (GRAPHS_BY_BATCH if by_batch else GRAPHS_BY_BOARD):
            del self._kept[kept[0]]
        while self.n_bytes + n_bytes > GRAPH_BYTES and len(self._kept) >= FEWEST_GRAPHS:
            del self._kept[next(iter(self._kept))]

    def add(self, key: GraphKey, graph: _Compiled) -> None:
        """Keep a graph that is used now, for which there is room."""
        self._uses += 1
        graph.last_use = self._uses
        self._kept[key] = graph

    @property
    def n_bytes(self) -> int:
        """The memory of all, about."""
        return sum(graph.n_bytes for graph in self._kept.values())

    def _alike(self, by_batch: bool) -> list[GraphKey]:
        """The graphs of one batch size, or those of any."""
        return [key for key in self._kept if (key.batch != ANY) == by_batch]

    def clear(self) -> None:
        """Drop all."""
        self._kept.clear()


class _Compiled:
    """A compiled graph and its idle requests."""

    def __init__(self, network: Any, n_bytes: int) -> None:
        self.network, self.n_bytes = network, n_bytes
        self.idle: list[Any] = []
        self.last_use = 0

    def take(self) -> Any:
        """Take an idle request, or create one."""
        try:
            return self.idle.pop()
        except IndexError:
            return self.network.create_infer_request()


class OpenVinoPending:
    """An evaluation under way."""

    def __init__(
        self,
        evaluator: OpenVinoEvaluator,
        compiled: _Compiled,
        batch: Batch,
        size: int,
    ) -> None:
        """The graph takes batches of `size`; smaller ones are padded."""
        self._evaluator, self._compiled, self._batch = evaluator, compiled, batch
        self._evaluation: Evaluation | None = None
        self._request = compiled.take()
        more = size - len(batch.planes)
        # `start_async` takes arrays, too, but sorts them in Python, for tens of microseconds.
        self._inputs = [shared_tensor(padded(each, more)) for each in network_inputs(batch)]
        for number, tensor in enumerate(self._inputs):
            self._request.set_input_tensor(number, tensor)
        self._request.start_async()

    def result(self) -> Evaluation:
        """Wait for the evaluation."""
        if self._evaluation is None:
            self._request.wait()
            n = len(self._batch.planes)
            raw = RawOutputs(*(self._request.get_tensor(name).data[:n].copy() for name in OUTPUTS))
            self._evaluation = self._evaluator.decode(raw, self._batch)
            self._compiled.idle.append(self._request)
            del self._request, self._inputs
        return self._evaluation


def shared_tensor(array: NDArray[np.float32]) -> Any:
    """An input of a graph, without a copy; the array must not change while it is in use."""
    import openvino

    return openvino.Tensor(np.require(array, np.float32, ("C", "W")), shared_memory=True)


def _first_line(error: Exception) -> str:
    """The message of an OpenVINO error, without the place in its sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Exception from")), "unknown error")
