"""Networks run by torch: on CUDA and ROCm in bf16 with CUDA graphs, on MPS and the CPU plainly."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network.decoding import PendingOutputs, RawOutputs
from tengen.network.evaluator import Batch, batch_for, network_inputs
from tengen.network.network_data import NetworkData
from tengen.network.torch.blocks import Norm
from tengen.network.torch.model import Network, Outputs, network_from

IN_FLIGHT = 2  # batches that can be under way at a time


class TorchEvaluator:
    """A network on a torch device.

    On CUDA each batch size, rounded up to a power of two, has a captured graph, so that an
    evaluation costs one launch.
    """

    parallel_batches = 1

    def __init__(self, data: NetworkData, device: str) -> None:
        self._device = torch.device(device)
        self.on_processor = self._device.type == "cpu"
        self._half = self._device.type == "cuda"
        self.name = data.name
        self.features = FEATURE_SETS[data.architecture.features]
        self.has_optimism = data.architecture.has_optimism
        self.imitates_people = data.architecture.imitates_people
        precision = "bf16" if self._half else "float32"
        self.device = f"{_device_name(self._device)}, torch {precision}"
        self.best_batch = 256 if self._half else 8
        self._scaling = data.scaling
        self._network = prepared(network_from(data), self._device)
        self._graphs: dict[tuple[int, ...], list[_Graph]] = {}
        self._turn = 0

    def submit(self, batch: Batch) -> PendingOutputs:
        """Start an evaluation on CUDA; elsewhere, finish it.

        On the CPU a thread of its own would not help: torch is a third slower in a second thread.
        """
        batch = batch_for(batch, self.name, self._network.architecture)
        if self._half:
            return self._launch(batch)
        with torch.inference_mode():
            inputs = (torch.from_numpy(a).to(self._device) for a in network_inputs(batch))
            outputs = self._network(*inputs)
        return PendingOutputs(lambda: _on_host(outputs), batch, self._scaling, self.name)

    def _launch(self, batch: Batch) -> PendingOutputs:
        n, _, height, width = batch.planes.shape
        room = 1 << (n - 1).bit_length()
        key = (room, height, width)
        if key not in self._graphs:
            shape = (room, *batch.planes.shape[1:])
            self._graphs[key] = [_Graph(self._network, shape) for _ in range(IN_FLIGHT)]
        self._turn += 1
        graph = self._graphs[key][self._turn % IN_FLIGHT]
        graph.launch(network_inputs(batch))
        return PendingOutputs(lambda: graph.outputs(n), batch, self._scaling, self.name)


def prepared(network: Network, device: torch.device) -> Network:
    """Move a network to a device in its fastest form: on CUDA in bf16, except the last layers."""
    network = network.to(device).eval()
    if device.type == "cuda":
        in_half(network)
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network


def in_half(network: Network) -> None:
    """Convert a network to bf16, except its last layers, which are small."""
    for module in network.modules():
        if isinstance(module, Norm):
            module.fold()
    network.to(torch.bfloat16)
    for layer in (*network.policy.last_layers(), *network.value.last_layers()):
        layer.float()


class _Graph:
    """A captured run of the network for one shape, with its own buffers and stream."""

    def __init__(self, network: Network, shape: tuple[int, ...]) -> None:
        more = [network.architecture.globals]
        if network.metadata is not None:
            more.append(METADATA_INPUTS)
        self._host = [
            torch.zeros(shape, pin_memory=True),
            *(torch.zeros((shape[0], count), pin_memory=True) for count in more),
        ]
        # Padding rows need a board: pooling divides by its area.
        self._host[0][:, 0] = 1
        self._inputs = [tensor.cuda() for tensor in self._host]
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._graph = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.stream(self._stream):
            for _ in range(3):
                self._forward(network)
            torch.cuda.synchronize()
            # Other threads may use the device meanwhile.
            with torch.cuda.graph(
                self._graph, stream=self._stream, capture_error_mode="thread_local"
            ):
                self._outputs = self._forward(network)
        self._results = [torch.zeros(o.shape, pin_memory=True) for o in self._outputs]

    def _forward(self, network: Network) -> Outputs:
        planes, *others = (tensor.to(torch.bfloat16) for tensor in self._inputs)
        outputs = network(planes.to(memory_format=torch.channels_last), *others)
        return Outputs(*(output.float() for output in outputs))

    def launch(self, inputs: list[NDArray[np.float32]]) -> None:
        self._stream.synchronize()  # the buffers may still be in use
        n = len(inputs[0])
        for host, array, on_device in zip(self._host, inputs, self._inputs, strict=True):
            host[:n] = torch.from_numpy(array)
            with torch.cuda.stream(self._stream):
                on_device.copy_(host, non_blocking=True)
        with torch.cuda.stream(self._stream):
            self._graph.replay()
            for result, output in zip(self._results, self._outputs, strict=True):
                result.copy_(output, non_blocking=True)

    def outputs(self, n: int) -> RawOutputs:
        self._stream.synchronize()
        return RawOutputs(*(np.array(result[:n].numpy()) for result in self._results))


def _on_host(outputs: Outputs) -> RawOutputs:
    def array(output: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return output.float().cpu().numpy()

    return RawOutputs(*map(array, outputs))


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()
