"""The tutorial's way to learn: an iteration's rows for some epochs, two losses, plain Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from tengen.network.tutorial import TutorialNetwork


@dataclass(frozen=True)
class TutorialParams:
    """How the tutorial learns. Raises ValueError for what cannot be."""

    rate: float = 1e-3
    batch: int = 32
    epochs: int = 10  # over the rows of an iteration

    def __post_init__(self) -> None:
        for name in ("rate", "batch", "epochs"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)}")


class TutorialRows(NamedTuple):
    """Positions with their targets, for the side to play."""

    planes: NDArray[np.float32]  # [rows, planes, side, side]
    policy: NDArray[np.float32]  # [rows, area + 1] shares of the visits
    value: NDArray[np.float32]  # [rows] 1 for a win, -1 for a loss


class TutorialLosses(NamedTuple):
    """Means over the last epoch."""

    policy: float
    value: float


def new_optimizer(network: TutorialNetwork, params: TutorialParams) -> torch.optim.Adam:
    """The optimizer, to be kept from one iteration to the next."""
    return torch.optim.Adam(network.parameters(), params.rate)


def learn(
    network: TutorialNetwork,
    optimizer: torch.optim.Optimizer,
    rows: TutorialRows,
    params: TutorialParams,
    generator: torch.Generator,
) -> TutorialLosses:
    """Train on an iteration's rows, in a new random order each epoch; there must be two or more."""
    device = next(network.parameters()).device
    planes, policy, value = (torch.from_numpy(array).to(device) for array in rows)
    network.train()
    for _ in range(params.epochs):
        order = torch.randperm(len(value), generator=generator).to(device)
        seen, sums = 0, torch.zeros(2, device=device)
        for chosen in torch.split(order, params.batch):
            if len(chosen) == 1:  # which has no variance
                continue
            losses = _losses(network, planes[chosen], policy[chosen], value[chosen])
            optimizer.zero_grad()
            losses.sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            sums += losses.detach() * len(chosen)
            seen += len(chosen)
    network.eval()
    return TutorialLosses(*(sums / seen).tolist())


def _losses(network: TutorialNetwork, planes: Tensor, policy: Tensor, value: Tensor) -> Tensor:
    """[2] cross-entropy of the policy, squared error of the value"""
    logits, said = network(planes)
    by_policy = -(policy * functional.log_softmax(logits, 1)).sum(1).mean()
    return torch.stack([by_policy, functional.mse_loss(said, value)])
