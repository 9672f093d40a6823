"""Learning: an iteration's examples for some epochs, two losses, plain Adam."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from tengen.tutorial.network import TwoHeadNetwork
from tengen.tutorial.recipe import LearningParams
from tengen.tutorial.self_play import Examples


class Losses(NamedTuple):
    """Means over the last epoch."""

    policy: float
    value: float


def new_optimizer(network: TwoHeadNetwork, params: LearningParams) -> torch.optim.Adam:
    """The optimizer, kept from one iteration to the next."""
    return torch.optim.Adam(network.parameters(), params.rate)


def learn(
    network: TwoHeadNetwork,
    optimizer: torch.optim.Optimizer,
    examples: Examples,
    params: LearningParams,
    generator: torch.Generator,
) -> Losses:
    """Train on two or more examples, in a new random order each epoch."""
    device = next(network.parameters()).device
    planes, policy, value = (torch.from_numpy(array).to(device) for array in examples)
    network.train()
    for _ in range(params.epochs):
        order = torch.randperm(len(value), generator=generator).to(device)
        seen, sums = 0, torch.zeros(2, device=device)
        for chosen in torch.split(order, params.batch):
            if len(chosen) == 1:  # one example has no variance to norm by
                continue
            losses = _losses(network, planes[chosen], policy[chosen], value[chosen])
            optimizer.zero_grad()
            losses.sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            sums += losses.detach() * len(chosen)
            seen += len(chosen)
    network.eval()
    return Losses(*(sums / seen).tolist())


def _losses(network: TwoHeadNetwork, planes: Tensor, policy: Tensor, value: Tensor) -> Tensor:
    """[2] cross-entropy of the policy, squared error of the value"""
    logits, said = network(planes)
    by_policy = -(policy * functional.log_softmax(logits, 1)).sum(1).mean()
    return torch.stack([by_policy, functional.mse_loss(said, value)])
