"""The parts of the main network in torch. No layer is tied to a board size.

Boards smaller than the tensor are padded; `mask` [batch, 1, height, width] is 1 on the board.
Whatever lies off the board is zero after each activation. A tensor of channels is
[batch, channels, height, width].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.network import architecture as arch
from tengen.network.architecture import Activation, Rope

EPSILON = 1e-5  # of norms in training
MOST_STRETCH, MOST_SHIFT = 3.0, 5.0  # of batch renormalization, in deviations: the paper's


class Boards(NamedTuple):
    """The boards of a batch within their tensor."""

    mask: Tensor  # [batch, 1, height, width]
    area: Tensor  # [batch, 1] points on the board
    spread: Tensor  # [batch, 1] (sqrt(area) - 14) / 10, KataGo's input for the size


def boards_of(mask: Tensor) -> Boards:
    """The boards that a mask describes; areas are exact even if the mask is in bf16."""
    area = mask.sum((2, 3), dtype=torch.promote_types(mask.dtype, torch.float32))
    return Boards(mask, area, (area.sqrt() - 14.0) / 10.0)


def activate(x: Tensor, kind: Activation) -> Tensor:
    """Apply an activation."""
    match kind:
        case Activation.RELU:
            return functional.relu(x)
        case Activation.MISH:
            return functional.mish(x)
        case Activation.SILU:
            return functional.silu(x)
        case Activation.IDENTITY:
            return x


class Renorm(NamedTuple):
    """Batch renormalization of one norm, and what it has seen of the latest batch."""

    share: Tensor  # [] how far training is from batch norm, 0, to batch renormalization, 1
    mean: Tensor  # [channels] of the latest batch
    variance: Tensor  # [channels]


class Norm(nn.Module):
    """Batch norm, then activation and mask. While it learns, boards must fill their tensor."""

    mean: Tensor
    variance: Tensor
    epsilon: Tensor

    def __init__(self, channels: int, activation: Activation, momentum: float = 0.01) -> None:
        super().__init__()
        self.activation, self.momentum = activation, momentum
        self.register_buffer("epsilon", torch.tensor(EPSILON))
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.renorm: Renorm | None = None  # None: batch norm, for batches of one board size

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        if self.training:
            return activate(self._learn(x), self.activation)
        scale = self.scale * torch.rsqrt(self.variance + self.epsilon)
        bias = self.bias - self.mean * scale
        x = x * scale.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)
        return activate(x, self.activation) * boards.mask

    def fold(self) -> None:
        """Fold mean and variance into scale and bias, before these are rounded to bf16."""
        with torch.no_grad():
            scale = self.scale * torch.rsqrt(self.variance + self.epsilon)
            self.bias.sub_(self.mean * scale)
            self.scale.copy_(scale)
            self.mean.zero_()
            self.variance.fill_(1)
            self.epsilon.zero_()

    def take_statistics(self, mean: Tensor, variance: Tensor) -> None:
        """Use these statistics of the inputs [channels]; evaluations stay the same."""
        with torch.no_grad():
            slope = self.scale * torch.rsqrt(self.variance + self.epsilon)
            self.bias.add_(slope * (mean - self.mean))
            self.scale.copy_(slope * torch.sqrt(variance + self.epsilon))
            self.mean.copy_(mean)
            self.variance.copy_(variance)

    def prepare_to_learn(self) -> None:
        """Use `EPSILON`, as training does; evaluations stay the same."""
        with torch.no_grad():
            self.variance.add_(self.epsilon - EPSILON).clamp_min_(0)
            self.epsilon.fill_(EPSILON)

    def _learn(self, x: Tensor) -> Tensor:
        """Normalise by the batch's statistics; batch norm also updates the running ones."""
        if self.renorm is None:
            # torch's own is fastest; its running variance is the unbiased one.
            running = self.mean, self.variance
            return functional.batch_norm(
                x, *running, self.scale, self.bias, True, self.momentum, EPSILON
            )
        return self._renormalised(x, self.renorm)

    def _renormalised(self, x: Tensor, renorm: Renorm) -> Tensor:
        """Batch renormalization (Ioffe 2017): batch norm, corrected to the running statistics.

        With the full correction the output is that of play, which knows no batches, while
        gradients are still those of batch norm. Without it each board size would learn by
        statistics of its own, and play by those of all sizes.

        The batch's statistics are left in `renorm`, for `follow_batches` after the backward pass:
        torch's compiler would compute that from running statistics that the forward pass changed.
        """
        y, mean, inverse = torch.native_batch_norm(
            x, self.scale, None, None, None, True, 0.0, EPSILON
        )
        with torch.no_grad():
            running = torch.rsqrt(self.variance + EPSILON)
            most, far = 1 + renorm.share * (MOST_STRETCH - 1), renorm.share * MOST_SHIFT
            stretch = torch.clamp(running / inverse, 1 / most, most)
            shift = torch.clamp((mean - self.mean) * running, -far, far)
            renorm.mean.copy_(mean)
            renorm.variance.copy_(inverse.pow(-2) - EPSILON)
        bias = self.bias + self.scale * shift
        return torch.addcmul(bias.view(1, -1, 1, 1), y, stretch.view(1, -1, 1, 1)).to(x.dtype)


def renormalise(norms: Iterable[Norm], share: Tensor) -> None:
    """Train norms by batch renormalization from now on, by this share [] that may change."""
    for norm in norms:
        norm.renorm = Renorm(share, norm.mean.clone(), norm.variance.clone())


def follow_batches(norms: Iterable[Norm]) -> None:
    """Move the running statistics of renormalised norms towards those of the latest batch."""
    learning = [(norm, norm.renorm) for norm in norms if norm.renorm is not None]
    if not learning:
        return
    running = [tensor for norm, _ in learning for tensor in (norm.mean, norm.variance)]
    seen = [tensor for _, renorm in learning for tensor in (renorm.mean, renorm.variance)]
    with torch.no_grad():
        torch._foreach_lerp_(running, seen, learning[0][0].momentum)


class RmsNorm(nn.Module):
    """RMS norm: scales each point's channels to a mean square of one."""

    epsilon: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("epsilon", torch.tensor(1e-6))
        self.weight = nn.Parameter(torch.ones(channels))

    def forward(self, x: Tensor, square: Tensor | None = None) -> Tensor:
        """x: [..., channels], and its mean square unless that is over the channels."""
        if square is None:
            square = x.square().mean(-1, keepdim=True)
        return x * torch.rsqrt(square + self.epsilon) * self.weight


def convolution(inputs: int, outputs: int, kernel: int) -> nn.Conv2d:
    """A convolution that keeps the board's size."""
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)


def apply(layer: nn.Conv2d | nn.Linear, x: Tensor) -> Tensor:
    """Apply a layer in its own precision, which may be higher than that of x."""
    answer: Tensor = layer(x.to(layer.weight.dtype))
    return answer


def pool(x: Tensor, boards: Boards) -> Tensor:
    """[batch, 3 * channels]: mean, mean by size of the board, and maximum over the board."""
    mean = x.sum((2, 3), dtype=boards.area.dtype) / boards.area
    # Off the board x is 0, and activations > -1; KataGo takes -1 for what the identity makes lower.
    # Not `amax`: its gradient goes where x equals the maximum, and compiled code may recompute x in
    # another precision, equal nowhere.
    highest = (x + (boards.mask - 1.0)).flatten(2).max(2).values.clamp_min(-1.0)
    return torch.cat([mean, mean * boards.spread, highest.to(mean.dtype)], 1).to(x.dtype)


def pool_for_value(x: Tensor, boards: Boards) -> Tensor:
    """[batch, 3 * channels]: mean, and mean by two measures of the board's size."""
    mean = x.sum((2, 3), dtype=boards.area.dtype) / boards.area
    pooled = [mean, mean * boards.spread, mean * (boards.spread.square() - 0.1)]
    return torch.cat(pooled, 1).to(x.dtype)


class OrdinaryBlock(nn.Module):
    """A residual block: norm, convolution, norm, convolution."""

    def __init__(
        self, channels: int, spec: arch.Ordinary | arch.PostActivation, activation: Activation
    ) -> None:
        super().__init__()
        self.norm1 = Norm(channels, activation)
        self.conv1 = convolution(channels, spec.mid, 3)
        self.norm2 = Norm(spec.mid, activation)
        self.conv2 = convolution(spec.mid, channels, 3)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        inner: Tensor = self.conv2(self.norm2(self.conv1(self.norm1(x, boards)), boards))
        return x + inner


class PostActivationBlock(OrdinaryBlock):
    """As OrdinaryBlock, with a norm at its end and added to the activated input."""

    def __init__(self, channels: int, spec: arch.PostActivation, activation: Activation) -> None:
        super().__init__(channels, spec, activation)
        self.norm3 = Norm(channels, Activation.IDENTITY)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        active: Tensor = self.norm1(x, boards)
        inner: Tensor = self.norm3(self.conv2(self.norm2(self.conv1(active), boards)), boards)
        return active + inner


class PoolingBlock(nn.Module):
    """As OrdinaryBlock, with a bias from global pooling in the middle."""

    def __init__(self, channels: int, spec: arch.Pooling, activation: Activation) -> None:
        super().__init__()
        self.norm1 = Norm(channels, activation)
        self.conv1 = convolution(channels, spec.mid, 3)
        self.conv_pool = convolution(channels, spec.pool, 3)
        self.norm_pool = Norm(spec.pool, activation)
        self.pool_to_bias = nn.Linear(3 * spec.pool, spec.mid, bias=False)
        self.norm2 = Norm(spec.mid, activation)
        self.conv2 = convolution(spec.mid, channels, 3)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        seen = self.norm1(x, boards)
        pooled = pool(self.norm_pool(self.conv_pool(seen), boards), boards)
        biased = self.conv1(seen) + self.pool_to_bias(pooled)[:, :, None, None]
        inner: Tensor = self.conv2(self.norm2(biased, boards))
        return x + inner


class BottleneckBlock(nn.Module):
    """A nested bottleneck: fewer channels, inner blocks, and up to all channels again."""

    def __init__(self, channels: int, spec: arch.Bottleneck, activation: Activation) -> None:
        super().__init__()
        self.norm1 = Norm(channels, activation)
        self.conv1 = convolution(channels, spec.mid, 1)
        self.blocks = nn.ModuleList(build_block(spec.mid, b, activation) for b in spec.inner)
        self.norm2 = Norm(spec.mid, activation)
        self.conv2 = convolution(spec.mid, channels, 1)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        inner: Tensor = self.conv1(self.norm1(x, boards))
        for block in self.blocks:
            inner = block(inner, boards)
        inner = self.conv2(self.norm2(inner, boards))
        return x + inner


class AttentionBlock(nn.Module):
    """Self-attention over the points of the board with rotary position embedding."""

    frequencies: Tensor

    def __init__(self, channels: int, spec: arch.Attention) -> None:
        super().__init__()
        self.spec = spec
        self.norm = RmsNorm(channels)
        self.query = nn.Linear(channels, spec.heads * spec.query_dim, bias=False)
        self.key = nn.Linear(channels, spec.kv_heads * spec.query_dim, bias=False)
        self.value = nn.Linear(channels, spec.kv_heads * spec.value_dim, bias=False)
        self.out = nn.Linear(spec.heads * spec.value_dim, channels, bias=False)
        # [kv heads, pairs, 2]: angle per step along x and y
        frequencies = torch.tensor(arch.theta_frequencies(spec))
        if spec.rope is Rope.LEARNED:
            self.frequencies = nn.Parameter(frequencies)
        else:
            self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:
        batch, channels, height, width = x.shape
        points = self.norm(x.flatten(2).transpose(1, 2))  # [batch, points, channels]
        query = self._heads(self.query(points), self.spec.heads)
        key = self._heads(self.key(points), self.spec.kv_heads)
        value = self._heads(self.value(points), self.spec.kv_heads)
        if self.spec.rope is not Rope.NONE:
            angles = self._angles(height, width)  # [kv heads, points, pairs]
            share = self.spec.heads // self.spec.kv_heads
            query = _rotate(query, angles.repeat_interleave(share, 0))
            key = _rotate(key, angles)
        share = self.spec.heads // self.spec.kv_heads
        off_board = (boards.mask.flatten(2)[:, :, None] - 1.0) * 1e4
        found = functional.scaled_dot_product_attention(
            query,
            key.repeat_interleave(share, 1),
            value.repeat_interleave(share, 1),
            attn_mask=off_board,
        )
        seen: Tensor = self.out(found.transpose(1, 2).flatten(2))
        return x + seen.transpose(1, 2).reshape(batch, channels, height, width)

    def _heads(self, x: Tensor, heads: int) -> Tensor:
        """[batch, heads, points, dim] from [batch, points, heads * dim]"""
        return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)

    def _angles(self, height: int, width: int) -> Tensor:
        y = torch.arange(height, device=self.frequencies.device, dtype=self.frequencies.dtype)
        x = torch.arange(width, device=self.frequencies.device, dtype=self.frequencies.dtype)
        along_x, along_y = self.frequencies[..., 0], self.frequencies[..., 1]  # [heads, pairs]
        angles = (
            y[None, :, None, None] * along_y[:, None, None]
            + x[None, None, :, None] * along_x[:, None, None]
        )
        return angles.flatten(1, 2)


def _rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate adjacent pairs of x [batch, heads, points, dim] by angles [heads, points, pairs]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(3)


class FeedForwardBlock(nn.Module):
    """Two linear layers at each point, the first one gated."""

    def __init__(self, channels: int, spec: arch.FeedForward) -> None:
        super().__init__()
        self.norm = RmsNorm(channels)
        self.linear1 = nn.Linear(channels, spec.hidden, bias=False)
        self.gate = nn.Linear(channels, spec.hidden, bias=False) if spec.gated else None
        self.linear2 = nn.Linear(spec.hidden, channels, bias=False)

    def forward(self, x: Tensor, boards: Boards) -> Tensor:  # noqa: ARG002
        points = self.norm(x.permute(0, 2, 3, 1))
        hidden = functional.silu(self.linear1(points))
        if self.gate is not None:
            hidden = hidden * self.gate(points)
        seen: Tensor = self.linear2(hidden)
        return x + seen.permute(0, 3, 1, 2)


def build_block(channels: int, spec: arch.Block, activation: Activation) -> nn.Module:
    """The block that a specification describes."""
    match spec:
        case arch.Ordinary():
            return OrdinaryBlock(channels, spec, activation)
        case arch.PostActivation():
            return PostActivationBlock(channels, spec, activation)
        case arch.Pooling():
            return PoolingBlock(channels, spec, activation)
        case arch.Bottleneck():
            return BottleneckBlock(channels, spec, activation)
        case arch.Attention():
            return AttentionBlock(channels, spec)
        case arch.FeedForward():
            return FeedForwardBlock(channels, spec)
