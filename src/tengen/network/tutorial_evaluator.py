"""The tutorial's network run by torch, and what is made of its two heads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.features.feature_set import BASIC
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.tutorial import TutorialNetwork


class TutorialEvaluator:
    """The network as it is now, on its own device: what it learns later is heard, too."""

    features = BASIC
    name = "tutorial"
    parallel_batches = 1

    def __init__(self, network: TutorialNetwork) -> None:
        self._network = network
        self._device = next(network.parameters()).device
        self.device = f"{self._device.type.upper()}, torch float32"
        self.on_processor = self._device.type == "cpu"
        self.best_batch = 256 if self._device.type == "cuda" else 32

    def submit(self, batch: Batch) -> _Pending:
        """Start an evaluation; on the CPU it is then done."""
        self._network.eval()
        with torch.inference_mode():
            return _Pending(*self._network(torch.from_numpy(batch.planes).to(self._device)))


class _Pending(NamedTuple):
    policy: Tensor
    value: Tensor

    def result(self) -> Evaluation:
        return evaluation_of(self.policy.cpu().numpy(), self.value.cpu().numpy())


def evaluation_of(policy: NDArray[np.float32], value: NDArray[np.float32]) -> Evaluation:
    """What logits [batch, area + 1] and values [batch] say; of points they know nothing."""
    n, places = policy.shape
    side = round((places - 1) ** 0.5)
    win = (1 + value) / 2
    nothing = np.zeros(n, np.float32)
    return Evaluation(
        policy,
        np.stack([win, 1 - win, nothing], 1),
        nothing,
        nothing,
        nothing,
        nothing,
        nothing,
        nothing,
        np.zeros((n, side, side), np.float32),
    )
