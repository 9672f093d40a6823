"""The device of a run: where its network learns and plays, and what suits it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numba
import torch

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.network.backends.cuda_buffers import CudaBuffers, PlayingNetwork
from tengen.network.backends.torch_gpu import TorchEvaluator
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import EvaluatorBuffers, InferenceBuffers
from tengen.network.torch.model import network_from
from tengen.training.losses import SCALING
from tengen.training.trainer import Trainer


class Suits(NamedTuple):
    """What suits a device where the settings leave it open."""

    games: int  # at a time
    iteration_rows: int
    first_rows: int
    most_rows: int
    ticks_to_publish: int  # between two changes of the network that plays; 0: at ends of iterations


SUITS_GPU = Suits(8192, 100_000, 40_000, 3_000_000, 256)
SUITS_CPU = Suits(64, 2_000, 1_000, 300_000, 0)


class Players(Protocol):
    """The network that plays."""

    @property
    def buffers(self) -> Sequence[InferenceBuffers]:
        """Where the halves of the fleet meet it."""

    def publish(self, trainer: Trainer) -> None:
        """Play with what has been learned so far."""

    def play(self, data: NetworkData) -> None:
        """Play with this network."""


class CudaPlayers:
    """On the GPU that learns: weights are copied there."""

    def __init__(self, trainer: Trainer, games: int, size: Size) -> None:
        self._network = PlayingNetwork(trainer.ema, SCALING)
        self.buffers = [CudaBuffers(self._network, games // 2, size) for _ in range(2)]

    def publish(self, trainer: Trainer) -> None:
        """Copy the weights while nothing is under way."""
        torch.cuda.synchronize()
        with torch.cuda.stream(trainer.stream):
            self._network.publish(trainer.ema)
        torch.cuda.synchronize()

    def play(self, data: NetworkData) -> None:
        """Copy the weights while nothing is under way."""
        torch.cuda.synchronize()
        self._network.publish(network_from(data).cuda())
        torch.cuda.synchronize()


class CpuPlayers:
    """On the processor, by the runtime that is fastest there."""

    def __init__(self, trainer: Trainer, games: int, size: Size) -> None:
        evaluator = cpu_evaluator(trainer.ema_data("playing", {}))
        self.buffers = [EvaluatorBuffers(evaluator, games // 2, size) for _ in range(2)]

    def publish(self, trainer: Trainer) -> None:
        """Build the network anew with the weights of now."""
        self.play(trainer.ema_data("playing", {}))

    def play(self, data: NetworkData) -> None:
        """Build the network."""
        evaluator = cpu_evaluator(data)
        for buffers in self.buffers:
            buffers.use(evaluator)


def cpu_evaluator(data: NetworkData) -> Evaluator:
    """A network on the processor: OpenVINO's where it is installed, else torch's."""
    if find_spec("openvino") is None:
        return TorchEvaluator(data, "cpu")
    from tengen.network.backends.openvino import OpenVinoEvaluator

    # As many threads as the kernels use; with one, the same weights always say the same.
    return OpenVinoEvaluator(data, threads=numba.get_num_threads())


def evaluator_on(device: str, data: NetworkData) -> Evaluator:
    """A network for matches."""
    return TorchEvaluator(data, device) if device == "cuda" else cpu_evaluator(data)


def new_players(trainer: Trainer, games: int, side: int) -> Players:
    """The network that plays, on the trainer's device."""
    kind = CudaPlayers if trainer.device.type == "cuda" else CpuPlayers
    return kind(trainer, games, Size(side, side))


def learning_device(name: str) -> str:
    """The device that a name stands for; raises ValueError where there is none such."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("torch finds no CUDA GPU here; see `tengen doctor`, or take --device cpu")
    return name


def unused_planes(features: FeatureSet) -> list[int]:
    """The planes of a feature set that are never filled."""
    return [features.planes.index(plane) for plane in features.empty]
