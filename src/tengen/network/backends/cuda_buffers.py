"""Inference buffers on CUDA: bits in, evaluations out, one graph launch between them."""

from __future__ import annotations

import copy

import numba
import torch
from torch import Tensor

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.backends.torch_evaluator import prepared
from tengen.network.evaluator import Evaluation, check_boards
from tengen.network.inference_buffers import BufferShape
from tengen.network.network_data import Scaling
from tengen.network.torch.blocks import Norm
from tengen.network.torch.compiling import compiled
from tengen.network.torch.decoding import decode, unpack_inputs
from tengen.network.torch.model import Network

_WARM_UPS = 3  # runs before the graph is captured, in which libraries choose their kernels


class PlayingNetwork:
    """A network in bf16 whose weights can be replaced without capturing graphs anew."""

    def __init__(self, network: Network, scaling: Scaling) -> None:
        """Copy a network that is on the GPU; raises ValueError for one that imitates people."""
        if network.metadata is not None:
            raise ValueError("networks that imitate people have no buffers here")
        self.features = FEATURE_SETS[network.architecture.features]
        self.board_size = network.architecture.board_size
        self._staging = copy.deepcopy(network).eval().requires_grad_(False)
        self._half = prepared(copy.deepcopy(self._staging), torch.device("cuda"))
        self._scaling = scaling
        self.evaluate = compiled(self._evaluate)

    def publish(self, network: Network) -> None:
        """Replace the weights; no evaluation may be under way."""
        with torch.no_grad():
            _copy_tensors(self._staging, network)
            for module in self._staging.modules():
                if isinstance(module, Norm):
                    module.fold()
            _copy_tensors(self._half, self._staging)

    def _evaluate(self, bits: Tensor, packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        planes, globals_ = unpack_inputs(self.features, bits, packed, torch.bfloat16)
        outputs = self._half.on_full_boards(planes, globals_.to(torch.bfloat16))
        return decode(outputs, globals_, self._scaling)


def _copy_tensors(target: Network, source: Network) -> None:
    pairs = zip(
        (*target.parameters(), *target.buffers()),
        (*source.parameters(), *source.buffers()),
        strict=True,
    )
    for mine, theirs in pairs:
        mine.copy_(theirs)


class CudaBuffers:
    """Buffers for games on boards of one size: pinned memory, a stream and a captured graph."""

    def __init__(self, network: PlayingNetwork, shape: BufferShape) -> None:
        size, rows = shape
        check_boards("this network", network.board_size, (size.height, size.width))
        self._network = network  # a graph does not keep the weights that it reads
        self.features = network.features
        self.threads = numba.get_num_threads()
        bits = torch.ones((rows, size.height, size.width), dtype=torch.int32).pin_memory()
        globals_ = torch.zeros((rows, self.features.packed_globals)).pin_memory()
        self._host = (bits, globals_)
        self._inputs = tuple(tensor.cuda() for tensor in self._host)
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.stream(self._stream):
            for _ in range(_WARM_UPS):
                outputs = network.evaluate(*self._inputs)
            self._results = tuple(torch.zeros(o.shape).pin_memory() for o in outputs)
            torch.cuda.synchronize()
            with torch.cuda.graph(self._graph, stream=self._stream):
                self._send_evaluate_fetch()
        policy, value, numbers = (result.numpy() for result in self._results)
        self.planes = bits.numpy().view("uint32")
        self.globals = globals_.numpy()
        no_ownership = torch.zeros((0, size.height, size.width)).numpy()
        self.evaluation = Evaluation._make((policy, value, *numbers, no_ownership))

    def _send_evaluate_fetch(self) -> None:
        for on_device, host in zip(self._inputs, self._host, strict=True):
            on_device.copy_(host, non_blocking=True)
        for result, output in zip(
            self._results, self._network.evaluate(*self._inputs), strict=True
        ):
            result.copy_(output, non_blocking=True)

    def launch(self) -> None:
        """Start copying, evaluating and fetching all rows."""
        with torch.cuda.stream(self._stream):
            self._graph.replay()

    def wait(self) -> None:
        """Wait for the evaluations."""
        self._stream.synchronize()
