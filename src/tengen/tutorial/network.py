"""The network: a residual trunk with two heads, one for the policy and one for the value.

Its last layers see all points at once, which ties a network to one board size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from tengen.features.feature_set import BASIC
from tengen.network.architecture import Architecture, PostActivation
from tengen.network.network_data import NetworkData, Weights

VALUE_HIDDEN = 64
NEVER = -1e4  # the logit of a game without a result, which these rules do not have


class ResidualBlock(nn.Module):
    """Two convolutions that learn what to add to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(x + self.norm2(self.conv2(inner)))


class TwoHeadNetwork(nn.Module):
    """Seven planes to the logits of all moves and a value from -1 to 1, for the side to play."""

    def __init__(self, side: int = 9, blocks: int = 4, channels: int = 64) -> None:
        super().__init__()
        area = side * side
        self.conv = nn.Conv2d(len(BASIC.planes), channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.blocks = nn.Sequential(*(ResidualBlock(channels) for _ in range(blocks)))
        self.policy_conv = nn.Conv2d(channels, 2, 1, bias=False)
        self.policy_norm = nn.BatchNorm2d(2)
        self.policy = nn.Linear(2 * area, area + 1)
        self.value_conv = nn.Conv2d(channels, 1, 1, bias=False)
        self.value_norm = nn.BatchNorm2d(1)
        self.value_hidden = nn.Linear(area, VALUE_HIDDEN)
        self.value = nn.Linear(VALUE_HIDDEN, 1)
        self.side = side

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [batch, area + 1], pass last, and values [batch] from [batch, 7, side, side]."""
        x = self.blocks(functional.relu(self.norm(self.conv(planes))))
        policy = functional.relu(self.policy_norm(self.policy_conv(x))).flatten(1)
        value = functional.relu(self.value_norm(self.value_conv(x))).flatten(1)
        value = torch.tanh(self.value(functional.relu(self.value_hidden(value))))
        return self.policy(policy), value[:, 0]


def initial_network(side: int, blocks: int, channels: int, seed: int) -> TwoHeadNetwork:
    """A network with torch's usual random weights, drawn from the seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return TwoHeadNetwork(side, blocks, channels).eval()


# The same network as data that every part of Tengen can play with


def network_data(network: TwoHeadNetwork, name: str, facts: Mapping[str, str]) -> NetworkData:
    """The network in the form of Tengen's files; outputs that it does not have are 0 there."""
    blocks: list[Any] = list(network.blocks.children())
    # There each block norms and activates its input, and so does the tip of the trunk. Here only
    # the first input needs that: the other norms change nothing.
    trunk = {"conv": network.conv, "blocks.0.norm1": network.norm}
    for k, block in enumerate(blocks):
        trunk |= {f"blocks.{k}.conv1": block.conv1, f"blocks.{k}.norm2": block.norm1}
        trunk |= {f"blocks.{k}.conv2": block.conv2, f"blocks.{k}.norm3": block.norm2}
    channels = network.conv.out_channels
    for place in (*(f"blocks.{k}.norm1" for k in range(1, len(blocks))), "tip"):
        trunk[place] = nn.BatchNorm2d(channels, eps=0.0)
    heads = {
        "policy.conv1": network.policy_conv,
        "policy.norm1": network.policy_norm,
        "policy.linear": network.policy,
        "value.conv1": network.value_conv,
        "value.norm1": network.value_norm,
        "value.linear2": network.value_hidden,
    }
    weights: Weights = {}
    for place, layer in (trunk | heads).items():
        weights |= {f"{place}.{part}": array for part, array in _parts(layer).items()}
    # With logits x and -x a win has the chance (1 + tanh x) / 2.
    value, bias = _array(network.value.weight)[0], _array(network.value.bias)[0]
    weights["value.value.weight"] = np.stack([value, -value, 0 * value])
    weights["value.value.bias"] = np.array([bias, -bias, NEVER], np.float32)
    weights["value.score.weight"] = np.zeros((1, VALUE_HIDDEN), np.float32)
    weights["value.score.bias"] = np.zeros(1, np.float32)
    weights["value.ownership.weight"] = np.zeros((1, 1, 1, 1), np.float32)
    architecture = Architecture(
        blocks=(PostActivation(channels),) * len(blocks),
        channels=channels,
        policy_mid=2,
        value_mid=1,
        value_hidden=VALUE_HIDDEN,
        score_outputs=1,
        board_size=network.side,
    ).seeing(BASIC)
    return NetworkData(name, architecture, weights, provenance=dict(facts))


def _parts(layer: nn.Module) -> dict[str, NDArray[np.float32]]:
    """The arrays of a layer by the names they have in Tengen's files."""
    match layer:
        case nn.BatchNorm2d():
            return {
                "scale": _array(layer.weight),
                "bias": _array(layer.bias),
                "mean": _array(layer.running_mean),
                "variance": _array(layer.running_var),
                "epsilon": np.array(layer.eps, np.float32),
            }
        case nn.Linear():
            return {"weight": _array(layer.weight), "bias": _array(layer.bias)}
        case nn.Conv2d():
            return {"weight": _array(layer.weight)}
    raise TypeError(f"no layer of this network: {layer}")


def _array(tensor: Tensor | None) -> NDArray[np.float32]:
    assert tensor is not None
    return np.array(tensor.detach().cpu().numpy(), np.float32)
