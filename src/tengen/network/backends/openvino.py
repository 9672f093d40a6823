"""Networks on the CPU, by OpenVINO. Torch-free."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.network.backends.openvino_core import openvino_core
from tengen.network.backends.openvino_graph import OUTPUTS, build_graph
from tengen.network.backends.openvino_int8 import (
    Ranges,
    calibrate,
    calibration_batches,
    kept_ranges,
    quantize,
)
from tengen.network.data import NetworkData
from tengen.network.evaluator import Batch, Evaluation, RawOutputs, check_boards, decode
from tengen.user_messages import say

Shape: TypeAlias = tuple[int, ...]  # batch, planes, height, width
# Each board size has its graph: what depends on the size alone is then computed once, in float32.
# A graph for one size of batch alone saves a small network up to a third of its time at batch 1,
# and a millisecond or two whenever the size changes; a large one it saves little. The sizes below
# get their own when they come again, as long as there is room; those between are filled up.
ANY = -1
GRAPHS_BY_BATCH = 16
LARGE_BATCH = 16
SIZES_BY_BATCH = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
LARGEST_BY_BATCH = 5_000_000  # weights
BEST_BATCH = 8


class Precision(StrEnum):
    """What a network computes with."""

    FLOAT32 = "float32"
    BF16 = "bf16"
    INT8 = "int8"


_CAPABILITY = {Precision.FLOAT32: "FP32", Precision.BF16: "BF16", Precision.INT8: "INT8"}


class OpenVinoEvaluator:
    """A network on one of OpenVINO's devices, the CPU unless told otherwise.

    Evaluations run in threads of their own: several can be under way, and are answered in any
    order. What a device cannot do is done in float32 on the CPU, after a line on stderr.
    """

    def __init__(
        self,
        data: NetworkData,
        precision: Precision | None = None,
        *,
        device: str = "CPU",
        threads: int | None = None,
        streams: int = 1,
        policy_optimism: float = 0.0,
        ranges: Ranges | None = None,
    ) -> None:
        """Without a precision, bf16 if the device has it; without threads, all processors.

        For int8, `ranges` are those of `calibrate`; without, they are found at first use and kept.

        `streams` is how many batches are computed at the same time, each by its share of the
        threads; further ones wait.
        """
        self._data = data
        self._core = openvino_core()
        self._where, self._threads, self._streams = device, threads, streams
        self._policy_optimism = policy_optimism
        self._networks: dict[tuple[bool, Shape], _Compiled] = {}
        self._asked: Counter[tuple[bool, Shape]] = Counter()
        self._by_batch = sum(w.size for w in data.weights.values()) <= LARGEST_BY_BATCH
        self._ranges = ranges or {}
        self._choose(precision)

    def _choose(self, precision: Precision | None) -> None:
        """Settle device and precision, and give way where they are not to be had."""
        try:
            able = self._core.get_property(self._where, "OPTIMIZATION_CAPABILITIES")
        except RuntimeError as error:
            return self._fall_back(f"no device {self._where}: {_first_line(error)}")
        self._half = "BF16" in able
        usual = Precision.BF16 if self._half else Precision.FLOAT32
        self._precision = usual if precision is None else Precision(precision)
        if _CAPABILITY[self._precision] not in able:
            return self._fall_back(f"{self._where} has no {self._precision}")
        return None

    def _fall_back(self, why: str) -> None:
        say(f"{why}; {self.name} runs in float32 on the CPU")
        self._where, self._precision, self._half = "CPU", Precision.FLOAT32, False
        self._networks.clear()

    @property
    def name(self) -> str:
        """Whose opinion it is."""
        return self._data.name

    @property
    def device(self) -> str:
        """Where and how it is computed, for people."""
        return f"{self._where}, OpenVINO {self._precision}"

    @property
    def precision(self) -> Precision:
        """What it computes with, which may be less than what was asked for."""
        return self._precision

    @property
    def features(self) -> FeatureSet:
        """What it must be shown."""
        return FEATURE_SETS[self._data.architecture.features]

    @property
    def streams(self) -> int:
        """How many batches it computes at the same time."""
        return self._streams

    @property
    def best_batch(self) -> int:
        """From about how many positions on a larger batch gains little."""
        return BEST_BATCH

    def submit(self, batch: Batch) -> OpenVinoPending:
        """Start an evaluation; the caller leaves the batch alone until it has the result."""
        check_boards(self.name, self._data.architecture.board_size, batch.planes.shape)
        compiled, size = self._network_for(batch)
        return OpenVinoPending(self, compiled, batch, size)

    def decode(self, raw: RawOutputs, batch: Batch) -> Evaluation:
        """Chances and points from what the heads said."""
        return decode(raw, batch, self._data.scaling, self._policy_optimism)

    def _network_for(self, batch: Batch) -> tuple[_Compiled, int]:
        """The fastest of the graphs that are right for a batch, and the size of batch it takes.

        It is compiled when first needed.
        """
        masked = not bool((self.features.on_board(batch.planes) == 1).all())
        n, *board = batch.planes.shape
        shape = (_filled_up(n), *board)
        if (masked, shape) in self._networks:
            return self._networks[masked, shape], shape[0]
        self._asked[masked, shape] += 1
        again = self._asked[masked, shape] > 1
        if not (again and shape[0] in SIZES_BY_BATCH and self._has_room()):
            shape = (ANY, *board)
        if (masked, shape) not in self._networks:
            network = self._compile(masked, shape)  # which may forget all others
            self._networks[masked, shape] = network
        return self._networks[masked, shape], n if shape[0] == ANY else shape[0]

    def _has_room(self) -> bool:
        by_batch = sum(shape[0] != ANY for _, shape in self._networks)
        return self._by_batch and by_batch < GRAPHS_BY_BATCH

    def _compile(self, masked: bool, shape: Shape) -> _Compiled:
        try:
            return _Compiled(self._compile_as_is(masked, shape))
        except RuntimeError as error:
            if (self._where, self._precision) == ("CPU", Precision.FLOAT32):
                raise
            self._fall_back(f"{self.device} failed: {_first_line(error)}")
            return _Compiled(self._compile_as_is(masked, shape))

    def _compile_as_is(self, masked: bool, shape: Shape) -> Any:
        graph = build_graph(self._data, masked)
        if self._precision is Precision.INT8:
            self._ranges = self._ranges or kept_ranges(self._data, self._calibrate)
            quantize(graph, self._ranges)
        graph.reshape(
            {"planes": list(shape), "globals": [shape[0], self._data.architecture.globals]}
        )
        half = self._half and self._precision is not Precision.FLOAT32
        settings: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
            "NUM_STREAMS": self._streams,
        }
        if self._where == "CPU":
            # Pinned threads of two programs would sit on the same cores.
            settings["ENABLE_CPU_PINNING"] = False
            if self._threads is not None:
                settings["INFERENCE_NUM_THREADS"] = self._threads
        return self._core.compile_model(graph, self._where, settings)

    def _calibrate(self) -> Ranges:
        say(f"calibrating {self.name} for int8 (first use only, some seconds) ...")
        player = OpenVinoEvaluator(self._data, Precision.FLOAT32, threads=self._threads)
        side = self._data.architecture.board_size
        games = calibration_batches(player, (side,)) if side else calibration_batches(player)
        return calibrate(self._data, games)


class _Compiled:
    """A compiled graph and its requests that are not under way."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.idle: list[Any] = []

    def take(self) -> Any:
        """A request that nobody uses."""
        try:
            return self.idle.pop()
        except IndexError:
            return self.network.create_infer_request()


class OpenVinoPending:
    """An evaluation under way."""

    def __init__(
        self, evaluator: OpenVinoEvaluator, compiled: _Compiled, batch: Batch, size: int
    ) -> None:
        """The graph takes batches of this size, which may be larger than the batch."""
        self._evaluator, self._compiled, self._batch = evaluator, compiled, batch
        self._evaluation: Evaluation | None = None
        self._request = compiled.take()
        more = size - len(batch.planes)
        self._inputs = batch if not more else Batch(*(_with_last(each, more) for each in batch))
        self._request.start_async(list(self._inputs), share_inputs=True)

    def result(self) -> Evaluation:
        """Wait for it."""
        if self._evaluation is None:
            self._request.wait()
            n = len(self._batch.planes)
            raw = RawOutputs(*(self._request.get_tensor(name).data[:n].copy() for name in OUTPUTS))
            self._evaluation = self._evaluator.decode(raw, self._batch)
            self._compiled.idle.append(self._request)
            del self._request, self._inputs
        return self._evaluation


def _filled_up(n: int) -> int:
    """The next larger size of batch that can have a graph of its own, n itself if there is none.

    A large batch gains less by such a graph than by staying as it is, unless it is almost full.
    """
    size = next((size for size in SIZES_BY_BATCH if size >= n), n)
    return size if n <= LARGE_BATCH or size - n <= n // 10 else n


def _with_last(values: NDArray[np.float32], more: int) -> NDArray[np.float32]:
    """Rows with the last one some times more."""
    return np.concatenate([values, np.repeat(values[-1:], more, 0)])


def _first_line(error: Exception) -> str:
    """What an OpenVINO error says, without where in its sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Exception from")), "unknown error")
