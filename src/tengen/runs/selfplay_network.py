"""The network that plays a run's games, and other choices that depend on the run's device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numba
import torch

from tengen.game.geometry import Size
from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.backends.registry import AUTO, CPU, CUDA, open_evaluator
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import EvaluatorBuffers, InferenceBuffers
from tengen.network.torch.model import network_from
from tengen.training.heads_and_losses import SCALING
from tengen.training.trainer import Trainer


class DeviceDefaults(NamedTuple):
    """Values for the settings that are 0, that is, left to the device."""

    games: int  # at a time
    iteration_rows: int
    first_rows: int
    most_rows: int
    ticks_to_publish: int  # new weights play every so many ticks; 0: at the end of an iteration


GPU_DEFAULTS = DeviceDefaults(8192, 100_000, 40_000, 3_000_000, 256)
CPU_DEFAULTS = DeviceDefaults(64, 2_000, 1_000, 300_000, 0)
DEFAULTS = {CUDA: GPU_DEFAULTS, CPU: CPU_DEFAULTS}


class SelfPlayNetwork(Protocol):
    """The network that plays the games."""

    @property
    def buffers(self) -> Sequence[InferenceBuffers]:
        """One for each half of the fleet."""

    def publish(self, trainer: Trainer) -> None:
        """Play with the trainer's weights from now on."""

    def play(self, data: NetworkData) -> None:
        """Play with this network from now on."""


class CudaSelfPlayNetwork:
    """On the GPU that learns, where weights are copied from."""

    def __init__(self, trainer: Trainer, games: int, size: Size) -> None:
        self._network = PlayingNetwork(trainer.ema, SCALING)
        self.buffers = [CudaBuffers(self._network, games // 2, size) for _ in range(2)]

    def publish(self, trainer: Trainer) -> None:
        """Copy the weights while the device is idle."""
        torch.cuda.synchronize()
        with torch.cuda.stream(trainer.stream):
            self._network.publish(trainer.ema)
        torch.cuda.synchronize()

    def play(self, data: NetworkData) -> None:
        """Copy the weights while the device is idle."""
        torch.cuda.synchronize()
        self._network.publish(network_from(data).cuda())
        torch.cuda.synchronize()


class CpuSelfPlayNetwork:
    """On the CPU, where new weights mean a new evaluator."""

    def __init__(self, trainer: Trainer, games: int, size: Size) -> None:
        evaluator = cpu_evaluator(trainer.ema_data("playing", {}))
        self.buffers = [EvaluatorBuffers(evaluator, games // 2, size) for _ in range(2)]

    def publish(self, trainer: Trainer) -> None:
        """Build an evaluator from the trainer's weights."""
        self.play(trainer.ema_data("playing", {}))

    def play(self, data: NetworkData) -> None:
        """Build an evaluator."""
        evaluator = cpu_evaluator(data)
        for buffers in self.buffers:
            buffers.use(evaluator)


def new_selfplay_network(trainer: Trainer, games: int, side: int) -> SelfPlayNetwork:
    """The network that plays, on the trainer's device."""
    kind = CudaSelfPlayNetwork if trainer.device.type == "cuda" else CpuSelfPlayNetwork
    return kind(trainer, games, Size(side, side))


def cpu_evaluator(data: NetworkData) -> Evaluator:
    """A network on the processor."""
    return evaluator_on(CPU, data)


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
