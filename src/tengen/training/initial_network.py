"""Random weights, for training that starts from no network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.architecture import Architecture
from tengen.network.torch.blocks import (
    AttentionBlock,
    BottleneckBlock,
    FeedForwardBlock,
    OrdinaryBlock,
    PoolingBlock,
)
from tengen.network.torch.model import PolicyHead
from tengen.training.heads_and_losses import TrainingNetwork

OUTPUT_SCALE = 0.3  # of the last layers, so that a new network's outputs are nearly even
POINT_SCALE, BIAS_SCALE = 0.8, 0.6  # of a point's own inputs and of pooled ones: variance 1 in sum
VARIANCE_TIME = 3  # the score output that is not trained


def initial_network(architecture: Architecture, seed: int) -> TrainingNetwork:
    """A network with random weights, 0 for planes that its feature set never fills.

    A user-supplied trunk keeps the weights that it was made with, under the same seed.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = TrainingNetwork(architecture).train()
    with torch.no_grad():
        own = network.network.own
        foreign = set() if own is None else set(own.modules())
        for module in network.modules():
            if module not in foreign and isinstance(module, nn.Conv2d | nn.Linear):
                _fill(module.weight, 1.0, generator)
                if module.bias is not None:
                    module.bias.zero_()
        if network.network.conv is not None:
            network.network.conv.weight.mul_(POINT_SCALE)
        if network.network.globals is not None:
            network.network.globals.weight.mul_(BIAS_SCALE)
        _scale_branches(network.network.blocks)
        _scale_heads(network)
        clear_empty_planes(network)
    return network


def clear_empty_planes(training: TrainingNetwork) -> None:
    """Set the weights of planes that its feature set never fills to 0."""
    features = FEATURE_SETS[training.network.architecture.features]
    empty = [features.planes.index(plane) for plane in features.empty]
    if training.network.conv is not None:
        training.network.conv.weight[:, empty] = 0


def _fill(weight: Tensor, scale: float, generator: torch.Generator) -> None:
    """Draw normal weights that keep the variance of activations, of which half are 0."""
    fan_in = weight[0].numel()
    deviation = scale * (2 / fan_in) ** 0.5
    weight.normal_(0, deviation, generator=generator).clamp_(-2 * deviation, 2 * deviation)


def _scale_branches(blocks: nn.ModuleList) -> None:
    """Scale the last layer of each branch so that all branches together add a variance of 1."""
    share = max(1, len(blocks)) ** -0.5
    for block in blocks:
        match block:
            case BottleneckBlock():
                _scale_branches(block.blocks)
                block.conv2.weight.mul_(share)
            case AttentionBlock():
                block.out.weight.mul_(share)
            case FeedForwardBlock():
                block.linear2.weight.mul_(share)
            case PoolingBlock():
                block.conv1.weight.mul_(POINT_SCALE)
                block.pool_to_bias.weight.mul_(BIAS_SCALE)
                block.conv2.weight.mul_(share)
            case OrdinaryBlock():
                block.conv2.weight.mul_(share)


def _scale_heads(training: TrainingNetwork) -> None:
    policy, value = training.network.policy, training.network.value
    assert isinstance(policy, PolicyHead)
    policy.conv1.weight.mul_(POINT_SCALE)
    policy.pool_to_bias.weight.mul_(BIAS_SCALE)
    last: list[nn.Conv2d | nn.Linear] = [
        policy.conv2,
        policy.pass1 if policy.pass2 is None else policy.pass2,
        value.value,
        value.score,
        value.ownership,
        *(head for head in training.children() if isinstance(head, nn.Conv2d | nn.Linear)),
    ]
    for layer in last:
        layer.weight.mul_(OUTPUT_SCALE)
    if len(value.score.weight) > VARIANCE_TIME:
        value.score.weight[VARIANCE_TIME] = 0
