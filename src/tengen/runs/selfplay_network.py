"""The network that plays a run's games, and other choices that depend on the run's device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import torch

from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.backends.registry import AUTO, CPU, CUDA, open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network, network_from
from tengen.training.heads_and_losses import SCALING
from tengen.training.trainer import Trainer


class DeviceDefaults(NamedTuple):
    """Values for the settings that are 0, that is, left to the device."""

    games: int  # at a time
    iteration_rows: int
    first_rows: int
    most_rows: int
    ticks_to_publish: int  # new weights play every so many ticks; 0: at the end of an iteration


DEFAULTS = {
    CUDA: DeviceDefaults(8192, 100_000, 40_000, 3_000_000, 256),
    CPU: DeviceDefaults(64, 2_000, 1_000, 300_000, 0),
}


class SelfPlayNetwork:
    """The network that plays the games.

    On a GPU weights are copied while the device is idle; on the CPU they need a new evaluator.
    """

    def __init__(self, network: Network | NetworkData, halves: Sequence[BufferShape]) -> None:
        """With a network on the GPU, or with data to play on the CPU."""
        self._on_gpu = PlayingNetwork(network, SCALING) if isinstance(network, Network) else None
        self.buffers: list[CudaBuffers] | list[EvaluatorBuffers]  # one for each half of the fleet
        if isinstance(network, NetworkData):
            evaluator = evaluator_on(CPU, network)
            self.buffers = [EvaluatorBuffers(evaluator, half) for half in halves]
        else:
            assert self._on_gpu is not None
            self.buffers = [CudaBuffers(self._on_gpu, half) for half in halves]

    def publish(self, trainer: Trainer) -> None:
        """Play with the trainer's weights from now on."""
        if self._on_gpu is None:
            self.play(trainer.ema_data("playing", {}))
            return
        torch.cuda.synchronize()
        with torch.cuda.stream(trainer.stream):
            self._on_gpu.publish(trainer.ema)
        torch.cuda.synchronize()

    def play(self, data: NetworkData) -> None:
        """Play with this network from now on."""
        if self._on_gpu is None:
            evaluator = evaluator_on(CPU, data)
            for buffers in self.buffers:
                assert isinstance(buffers, EvaluatorBuffers)
                buffers.use(evaluator)
            return
        torch.cuda.synchronize()
        self._on_gpu.publish(network_from(data).cuda())
        torch.cuda.synchronize()


def evaluator_on(device: str, data: NetworkData) -> Evaluator:
    """A network on a device, with as many threads as the kernels use on the processor.

    With one thread, evaluations are reproducible.
    """
    return open_evaluator(data, device, threads=numba.get_num_threads())


def learning_device(name: str) -> str:
    """`auto` resolved to cuda or cpu; raises ValueError for cuda where there is none."""
    if name == AUTO:
        return CUDA if torch.cuda.is_available() else CPU
    if name == CUDA and not torch.cuda.is_available():
        raise ValueError("torch finds no CUDA GPU here; see `tengen doctor`, or take --device cpu")
    return name
