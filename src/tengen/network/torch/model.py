"""The main network: KataGo's trunk and heads, for boards of all sizes in one batch."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network.architecture import Activation, Architecture
from tengen.network.network_data import NetworkData
from tengen.network.own_trunks import trunk_named
from tengen.network.torch.blocks import (
    Boards,
    Norm,
    RmsNorm,
    activate,
    apply,
    boards_of,
    build_block,
    convolution,
    pool,
    pool_for_value,
)


class Outputs(NamedTuple):
    """The raw outputs of the heads, for the side to play."""

    policy: Tensor  # [batch, outputs, height * width + 1] logits, pass last
    value: Tensor  # [batch, 3] logits of win, loss and no result
    score: Tensor  # [batch, score outputs]
    ownership: Tensor  # [batch, height, width] before tanh


def with_pass(points: Tensor, passing: Tensor) -> Tensor:
    """[batch, outputs, height * width + 1] from the logits of points and of a pass."""
    return torch.cat([points.flatten(2), passing[:, :, None]], 2)


class TipNorm(nn.Module):
    """The norm between trunk and heads as an RMS norm with a bias, for transformers.

    The mean square is that of each point's channels, or if `spatial`, of all points on the board.
    """

    def __init__(self, channels: int, activation: Activation, spatial: bool) -> None:
        super().__init__()
        self.activation, self.spatial = activation, spatial
        self.norm = RmsNorm(channels)
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        square = None
        if self.spatial:
            total = (x * boards.mask).square().sum((1, 2, 3), dtype=boards.area.dtype)
            square = (total[:, None] / (boards.area * x.shape[1])).to(x.dtype)[:, :, None, None]
        normed = self.norm(x.permute(0, 2, 3, 1), square) + self.bias
        return activate(normed.permute(0, 3, 1, 2), self.activation) * boards.mask


class MetadataEncoder(nn.Module):
    """What is added to all points for who plays, in networks that imitate people."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.activation = a.activation
        self.linear1 = nn.Linear(METADATA_INPUTS, a.metadata_hidden1)
        self.linear2 = nn.Linear(a.metadata_hidden1, a.metadata_hidden2)
        self.linear3 = nn.Linear(a.metadata_hidden2, a.channels, bias=False)

    def forward(self, metadata: Tensor) -> Tensor:
        hidden = activate(self.linear1(metadata), self.activation)
        answer: Tensor = self.linear3(activate(self.linear2(hidden), self.activation))
        return answer


class PolicyHead(nn.Module):
    """Logits for each point and for a pass."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.conv1 = convolution(a.channels, a.policy_mid, 1)
        self.conv_pool = convolution(a.channels, a.policy_pool, 1)
        self.norm_pool = Norm(a.policy_pool, a.activation)
        self.pool_to_bias = nn.Linear(3 * a.policy_pool, a.policy_mid, bias=False)
        self.norm1 = Norm(a.policy_mid, a.activation)
        self.conv2 = convolution(a.policy_mid, a.policy_outputs, 1)
        self.activation = a.activation
        self.pass2: nn.Linear | None = None
        if a.pass_hidden:
            self.pass1 = nn.Linear(3 * a.policy_pool, a.pass_hidden)
            self.pass2 = nn.Linear(a.pass_hidden, a.policy_outputs, bias=False)
        else:
            self.pass1 = nn.Linear(3 * a.policy_pool, a.policy_outputs, bias=False)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        inner, pooled = self.look(x, boards)
        return self.logits(inner, pooled)

    def logits(self, inner: Tensor, pooled: Tensor) -> Tensor:
        """The last layers: logits from the results of `look`."""
        passing = apply(self.pass1, pooled)
        if self.pass2 is not None:
            passing = apply(self.pass2, activate(passing, self.activation))
        return with_pass(apply(self.conv2, inner), passing)

    def look(self, x: Tensor, boards: Boards) -> tuple[Tensor, Tensor]:
        """The hidden layers: [batch, channels, height, width] and pooled [batch, channels]."""
        pooled = pool(self.norm_pool(self.conv_pool(x), boards), boards)
        inner = self.conv1(x) + self.pool_to_bias(pooled)[:, :, None, None]
        return self.norm1(inner, boards), pooled

    def last_layers(self) -> list[nn.Conv2d | nn.Linear]:
        """The layers whose precision matters most."""
        return [self.conv2, self.pass1, *([] if self.pass2 is None else [self.pass2])]


class FlatPolicyHead(nn.Module):
    """Logits by one layer over all points: for boards of one size."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        area = a.board_size**2
        self.conv1 = convolution(a.channels, a.policy_mid, 1)
        self.norm1 = Norm(a.policy_mid, a.activation)
        self.linear = nn.Linear(a.policy_mid * area, area + 1)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        inner = self.norm1(self.conv1(x), boards)
        return apply(self.linear, inner.flatten(1))[:, None]

    def last_layers(self) -> list[nn.Conv2d | nn.Linear]:
        """The layers whose precision matters most."""
        return [self.linear]


class ValueHead(nn.Module):
    """The outcome, the score and the ownership of each point."""

    def __init__(self, a: Architecture) -> None:
        super().__init__()
        self.conv1 = convolution(a.channels, a.value_mid, 1)
        self.norm1 = Norm(a.value_mid, a.activation)
        self.flat = a.board_size > 0
        self.linear2 = nn.Linear((a.board_size**2 or 3) * a.value_mid, a.value_hidden)
        self.activation = a.activation
        self.value = nn.Linear(a.value_hidden, 3)
        self.score = nn.Linear(a.value_hidden, a.score_outputs)
        self.ownership = convolution(a.value_mid, 1, 1)

    def forward(self, x: Tensor, boards: Boards) -> tuple[Tensor, Tensor, Tensor]:
        return self.answers(*self.look(x, boards))

    def answers(self, inner: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The last layers: value, score and ownership from the results of `look`."""
        owned = apply(self.ownership, inner)[:, 0]
        return apply(self.value, hidden), apply(self.score, hidden), owned

    def look(self, x: Tensor, boards: Boards) -> tuple[Tensor, Tensor]:
        """The hidden layers: [batch, channels, height, width] and pooled [batch, channels]."""
        inner = self.norm1(self.conv1(x), boards)
        pooled = inner.flatten(1) if self.flat else pool_for_value(inner, boards)
        return inner, activate(apply(self.linear2, pooled), self.activation)

    def last_layers(self) -> list[nn.Conv2d | nn.Linear]:
        """The layers whose precision matters most."""
        return [self.linear2, self.value, self.score, self.ownership]


class Network(nn.Module):
    """A network of the main family."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.architecture = a
        self.own: nn.Module | None = trunk_named(a.trunk).build(a) if a.trunk else None
        self.conv = None if a.trunk else convolution(a.planes, a.channels, a.first_kernel)
        has_globals = a.globals and not a.trunk
        self.globals = nn.Linear(a.globals, a.channels, bias=False) if has_globals else None
        self.metadata = MetadataEncoder(a) if a.metadata_hidden1 else None
        self.blocks = nn.ModuleList(build_block(a.channels, b, a.activation) for b in a.blocks)
        self.tip: TipNorm | Norm = (
            TipNorm(a.channels, a.tip_activation, a.tip_spatial)
            if a.tip_rms_norm
            else Norm(a.channels, a.tip_activation)
        )
        self.policy = FlatPolicyHead(a) if a.board_size else PolicyHead(a)
        self.value = ValueHead(a)

    def forward(
        self,
        planes: Tensor,
        globals: Tensor,  # noqa: A002
        metadata: Tensor | None = None,
    ) -> Outputs:
        """The outputs for planes[batch, planes, height, width], globals and metadata[batch, ...].

        Metadata is for networks that imitate people.
        """
        x, boards = self.trunk(planes, globals, metadata)
        return Outputs(self.policy(x, boards), *self.value(x, boards))

    def on_full_boards(
        self,
        planes: Tensor,
        globals: Tensor,  # noqa: A002
    ) -> Outputs:
        """The outputs where all boards fill their planes; a compiler leaves out the mask."""
        x, boards = self.trunk(planes, globals, full_boards=True)
        return Outputs(self.policy(x, boards), *self.value(x, boards))

    def trunk(
        self,
        planes: Tensor,
        globals: Tensor,  # noqa: A002
        metadata: Tensor | None = None,
        *,
        full_boards: bool = False,
    ) -> tuple[Tensor, Boards]:
        """The output of the trunk and the boards of the batch."""
        mask = FEATURE_SETS[self.architecture.features].on_board(planes)[:, None]
        boards = boards_of(torch.ones_like(mask) if full_boards else mask)
        if self.own is not None:
            return self.tip(self.own(planes, globals, boards), boards), boards
        assert self.conv is not None
        x = self.conv(planes)
        if self.globals is not None:
            x = x + self.globals(globals)[:, :, None, None]
        if self.metadata is not None:
            assert metadata is not None
            x = x + self.metadata(metadata)[:, :, None, None]
        for block in self.blocks:
            x = block(x, boards)
        return self.tip(x, boards), boards


def network_from(data: NetworkData) -> Network:
    """Build a torch network from data, in evaluation mode."""
    network = Network(data.architecture).eval()
    network.load_state_dict({name: torch.from_numpy(w) for name, w in data.weights.items()})
    return network
