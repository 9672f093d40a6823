"""Where learning starts: random weights of the right size, or a network that has learned."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tengen.network.architecture import Architecture
from tengen.network.data import NetworkData
from tengen.network.torch.blocks import (
    AttentionBlock,
    BottleneckBlock,
    FeedForwardBlock,
    OrdinaryBlock,
    PoolingBlock,
)
from tengen.network.torch.model import PolicyHead, network_from
from tengen.training.heads import TrainingNetwork
from tengen.training.losses import SCALING

OUTPUT_SCALE = 0.3  # of the last layers: a new network has hardly an opinion
BIAS_SCALE = 0.6  # of what is pooled over the board, against 0.8 of what the point itself sees
POINT_SCALE = 0.8  # together they have a variance of one
VARIANCE_TIME = 3  # the score output that is not trained
SCORE_OUTPUTS = 6  # that losses look at


def initial_network(
    architecture: Architecture, seed: int, unused_planes: Sequence[int] = ()
) -> TrainingNetwork:
    """A network with random weights, ready to learn; planes that stay empty have no weights."""
    generator = torch.Generator().manual_seed(seed)
    network = TrainingNetwork(architecture).train()
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                _fill(module.weight, 1.0, generator)
                if module.bias is not None:
                    module.bias.zero_()
        _scale_trunk(network)
        _scale_heads(network)
        network.network.conv.weight[:, list(unused_planes)] = 0
    return network


def network_to_go_on(
    data: NetworkData, seed: int, unused_planes: Sequence[int] = ()
) -> TrainingNetwork:
    """A network that goes on learning; the heads that only training looks at are random.

    Raises ValueError if its outputs are not those that are trained here.
    """
    if data.scaling != SCALING or data.architecture.score_outputs < SCORE_OUTPUTS:
        raise ValueError(
            f"{data.name} cannot be trained on: its outputs are not those of `tengen train`; start "
            "from a network of another run"
        )
    training = initial_network(data.architecture, seed)
    training.network.load_state_dict(network_from(data).state_dict())
    with torch.no_grad():
        training.network.conv.weight[:, list(unused_planes)] = 0
    return training


def _fill(weight: Tensor, scale: float, generator: torch.Generator) -> None:
    """Normally distributed so that activations neither grow nor fade: half of the inputs are 0."""
    fan_in = weight[0].numel()
    deviation = scale * (2 / fan_in) ** 0.5
    weight.normal_(0, deviation, generator=generator).clamp_(-2 * deviation, 2 * deviation)


def _scale_trunk(training: TrainingNetwork) -> None:
    network = training.network
    network.conv.weight.mul_(POINT_SCALE)
    if network.globals is not None:
        network.globals.weight.mul_(BIAS_SCALE)
    _scale_branches(network.blocks)


def _scale_branches(blocks: nn.ModuleList) -> None:
    """Make the last layer of each branch so small that all of them add a variance of about one."""
    share = len(blocks) ** -0.5
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
        training.policies,
        training.passes,
        training.values,
        training.scores,
    ]
    for layer in last:
        layer.weight.mul_(OUTPUT_SCALE)
    if len(value.score.weight) > VARIANCE_TIME:
        value.score.weight[VARIANCE_TIME] = 0
