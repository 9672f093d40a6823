"""What a network computes, said once for all libraries that build graphs.

The computation is that of `torch.model.Network`, with norms folded into the convolutions before
them. A library brings `Ops`, by which its graph is built: OpenVINO's in `openvino_graph`, ONNX's in
`onnx_graph`. There are two graphs for a network: one without a mask for batches whose boards fill
their tensor, and one for boards of several sizes in one batch. Both take any batch and board size.
A tensor of channels is [batch, channels, height, width].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network import architecture as arch
from tengen.network.architecture import Activation, Architecture, Rope
from tengen.network.decoding import RawOutputs
from tengen.network.network_data import NetworkData, Weights

Floats: TypeAlias = NDArray[np.float32]
Node: TypeAlias = Any  # a value of the graph, or an array, which is a constant of it
ANY = -1  # a side of any length
_BOARD = (2, 3)  # the axes of the board
_TO_POINTS, _TO_CHANNELS = (0, 2, 3, 1), (0, 3, 1, 2)


class Ops(Protocol):
    """The operations of a library. Values broadcast; reductions keep their axes only if told to."""

    def add(self, a: Node, b: Node) -> Node: ...
    def subtract(self, a: Node, b: Node) -> Node: ...
    def multiply(self, a: Node, b: Node) -> Node: ...
    def divide(self, a: Node, b: Node) -> Node: ...
    def maximum(self, a: Node, b: Node) -> Node: ...
    def square(self, x: Node) -> Node: ...
    def sqrt(self, x: Node) -> Node: ...
    def cos(self, x: Node) -> Node: ...
    def sin(self, x: Node) -> Node: ...
    def relu(self, x: Node) -> Node: ...
    def mish(self, x: Node) -> Node: ...
    def silu(self, x: Node) -> Node: ...
    def softmax(self, x: Node) -> Node:
        """Over the last axis."""

    def convolution(self, name: str, x: Node, weight: Floats) -> Node:
        """With weight [outputs, inputs, kernel, kernel]; the board keeps its size."""

    def linear(self, name: str, x: Node, weight: Floats) -> Node:
        """The product of x [..., inputs] and weight [outputs, inputs]."""

    def matmul(self, a: Node, b: Node, *, transpose_b: bool = False) -> Node:
        """Of the last two axes."""

    def reduce_sum(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node: ...
    def reduce_mean(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node: ...
    def reduce_max(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node: ...
    def concat(self, values: Sequence[Node], axis: int) -> Node: ...
    def halves(self, x: Node, axis: int) -> tuple[Node, Node]: ...
    def first(self, x: Node, count: int) -> Node:
        """The first channels of x [batch, channels, ...]."""

    def unsqueeze(self, x: Node, axes: Sequence[int]) -> Node: ...
    def squeeze(self, x: Node, axes: Sequence[int]) -> Node: ...
    def transpose(self, x: Node, order: Sequence[int]) -> Node: ...
    def reshape(self, x: Node, shape: Sequence[int]) -> Node:
        """0: as long as it was; -1: what is left."""

    def reshape_like(self, x: Node, other: Node) -> Node: ...
    def points(self, x: Node) -> Node:
        """[1] the number of points of x [batch, channels, height, width]"""

    def steps(self, x: Node, axis: int) -> Node:
        """[side] 0, 1, ... along an axis of x, as floats"""


def input_shapes(architecture: Architecture) -> list[tuple[int, ...]]:
    """The shapes of planes, globals and, where people are imitated, metadata."""
    shapes: list[tuple[int, ...]] = [
        (ANY, architecture.planes, ANY, ANY),
        (ANY, architecture.globals),
    ]
    if architecture.metadata_hidden1:
        shapes.append((ANY, METADATA_INPUTS))
    return shapes


def network_graph(
    op: Ops, data: NetworkData, inputs: Sequence[Node], *, masked: bool
) -> RawOutputs:
    """Build the graph of a network; without `masked`, only for boards that fill their tensor.

    Convolutions and linear layers are named as their weights without '.weight'. Raises ValueError
    for a network with a trunk of its own, of which only torch knows what it computes.
    """
    architecture = data.architecture
    if architecture.trunk:
        what = f"{data.name} has a trunk of its own, {architecture.trunk!r}"
        raise ValueError(f"{what}, which only torch can run")
    planes, globals_, *metadata = inputs
    mask = _mask(op, planes, FEATURE_SETS[architecture.features].mask_planes) if masked else None
    graph = _Graph(op, data.weights, planes, mask)
    x = graph.conv("conv", planes)
    if architecture.globals:
        x = op.add(x, graph.over_board(graph.linear("globals", globals_)))
    if metadata:
        told = graph.metadata(metadata[0], architecture.activation)
        x = op.add(x, graph.over_board(told))
    for i, block in enumerate(architecture.blocks):
        x = graph.block(f"blocks.{i}", block, x, architecture.activation)
    if architecture.tip_rms_norm:
        x = graph.tip(x, architecture.tip_activation, architecture.tip_spatial)
    else:
        x = graph.norm("tip", x, architecture.tip_activation)
    return RawOutputs(graph.policy(x, architecture), *graph.value(x, architecture))


class _Affine(NamedTuple):
    """A norm as x * scale + bias, both [channels]."""

    scale: Floats
    bias: Floats


class _Graph:
    """Builds nodes from named weights; knows the mask and area of the boards."""

    def __init__(self, op: Ops, weights: Weights, planes: Node, mask: Node | None) -> None:
        self.op, self.weights = op, weights
        self.mask = mask  # [batch, 1, height, width]
        # [batch, 1], or [1] if all boards are the same
        self.area = op.points(planes) if mask is None else op.reduce_sum(mask, _BOARD)
        self.spread = op.divide(op.subtract(op.sqrt(self.area), _number(14)), _number(10))

    # Layers

    def conv(self, name: str, x: Node, then: _Affine | None = None) -> Node:
        """A convolution, and the norm that follows it."""
        weight = self.weights[f"{name}.weight"]  # [outputs, inputs, kernel, kernel]
        if then is not None:
            weight = weight * then.scale[:, None, None, None]
        found = self.op.convolution(name, x, weight)
        return found if then is None else self.op.add(found, then.bias[:, None, None])

    def linear(self, name: str, x: Node, then: _Affine | None = None) -> Node:
        """A linear layer over the last axis, and the norm that follows it."""
        weight, bias = self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        if then is not None:
            weight, bias = weight * then.scale[:, None], then.bias
        return self._linear(name, x, weight, bias)

    def affine(self, name: str) -> _Affine:
        """A batch norm with its running statistics."""
        mean, variance, epsilon, scale, bias = (
            self.weights[f"{name}.{part}"].astype(np.float64)
            for part in ("mean", "variance", "epsilon", "scale", "bias")
        )
        scale = scale / np.sqrt(variance + epsilon)
        return _Affine(scale.astype(np.float32), (bias - mean * scale).astype(np.float32))

    def norm(self, name: str, x: Node, kind: Activation) -> Node:
        """A batch norm that cannot be folded into a convolution, its activation and the mask."""
        scale, bias = self.affine(name)
        if not (scale == 1).all():
            x = self.op.multiply(x, scale[None, :, None, None])
        if bias.any():
            x = self.op.add(x, bias[None, :, None, None])
        return self.activate(x, kind)

    def activate(self, x: Node, kind: Activation) -> Node:
        """An activation of channels, zero off the board."""
        active = self.apply(x, kind)
        return active if self.mask is None else self.op.multiply(active, self.mask)

    def rms_norm(self, name: str, x: Node, square: Node | None = None) -> Node:
        """x: [..., channels], and its mean square unless that is over the channels"""
        if square is None:
            square = self.op.reduce_mean(self.op.square(x), (-1,), keep=True)
        root = self.op.sqrt(self.op.add(square, _number(self.weights[f"{name}.epsilon"])))
        return self.op.multiply(
            self.op.multiply(x, self.op.divide(_number(1), root)), self.weights[f"{name}.weight"]
        )

    def mean(self, x: Node) -> Node:
        """[batch, channels]: the mean over the points of the board"""
        if self.mask is None:
            return self.op.reduce_mean(x, _BOARD)
        return self.op.divide(self.op.reduce_sum(x, _BOARD), self.area)

    def mean_square(self, x: Node) -> Node:
        """[batch, 1, 1, 1]: the mean square over channels and points of the board"""
        if self.mask is not None:
            x = self.op.multiply(x, self.mask)
        by_channel = self.mean(self.op.square(x))
        return self.over_board(self.op.reduce_mean(by_channel, (1,), keep=True))

    def pool(self, x: Node, kind: Activation) -> Node:
        """[batch, 3 * channels]: mean, mean by size of the board, and maximum over the board"""
        mean = self.mean(x)
        if self.mask is not None:  # off the board x is 0, and activations are above -1
            x = self.op.add(x, self.op.subtract(self.mask, _number(1)))
        highest = self.op.reduce_max(x, _BOARD)
        if kind is Activation.IDENTITY:  # KataGo takes nothing lower
            highest = self.op.maximum(highest, _number(-1))
        return self.op.concat([mean, self.op.multiply(mean, self.spread), highest], 1)

    def pool_for_value(self, x: Node) -> Node:
        """[batch, 3 * channels]: mean, and mean by two measures of the board's size"""
        mean = self.mean(x)
        by_square = self.op.subtract(self.op.multiply(self.spread, self.spread), _number(0.1))
        return self.op.concat(
            [mean, self.op.multiply(mean, self.spread), self.op.multiply(mean, by_square)], 1
        )

    def metadata(self, x: Node, kind: Activation) -> Node:
        """[batch, channels] from what is told of the players"""
        for layer in ("linear1", "linear2"):
            x = self.apply(self.linear(f"metadata.{layer}", x), kind)
        return self.linear("metadata.linear3", x)

    # Blocks

    def block(self, name: str, spec: arch.Block, x: Node, kind: Activation) -> Node:
        """The block that a specification describes."""
        match spec:
            case arch.Attention():
                seen = self.attention(name, spec, self.op.transpose(x, _TO_POINTS))
                return self.op.add(x, self.op.transpose(seen, _TO_CHANNELS))
            case arch.FeedForward():
                seen = self.feed_forward(name, spec, self.op.transpose(x, _TO_POINTS))
                return self.op.add(x, self.op.transpose(seen, _TO_CHANNELS))
        active = self.norm(f"{name}.norm1", x, kind)
        match spec:
            case arch.Ordinary() | arch.PostActivation():
                inner = self.conv(f"{name}.conv1", active, self.affine(f"{name}.norm2"))
                inner = self.activate(inner, kind)
            case arch.Pooling():
                inner = self.pooling(name, "norm2", active, kind)[0]
            case arch.Bottleneck():
                inner = self.conv(f"{name}.conv1", active)
                for i, block in enumerate(spec.inner):
                    inner = self.block(f"{name}.blocks.{i}", block, inner, kind)
                inner = self.norm(f"{name}.norm2", inner, kind)
        if isinstance(spec, arch.PostActivation):
            return self.op.add(
                active, self.conv(f"{name}.conv2", inner, self.affine(f"{name}.norm3"))
            )
        return self.op.add(x, self.conv(f"{name}.conv2", inner))

    def pooling(self, name: str, norm: str, x: Node, kind: Activation) -> tuple[Node, Node]:
        """A convolution with a bias from global pooling, its norm and activation; and the pool."""
        after = self.affine(f"{name}.{norm}")
        looked = self.conv(f"{name}.conv_pool", x, self.affine(f"{name}.norm_pool"))
        pooled = self.pool(self.activate(looked, kind), kind)
        bias = self.over_board(self.linear(f"{name}.pool_to_bias", pooled, after))
        inner = self.conv(f"{name}.conv1", x, _Affine(after.scale, np.zeros_like(after.bias)))
        return self.activate(self.op.add(inner, bias), kind), pooled

    def attention(self, name: str, spec: arch.Attention, x: Node) -> Node:
        """Self-attention over the points of x [batch, height, width, channels]."""
        points = self.rms_norm(f"{name}.norm", x)
        share = spec.heads // spec.kv_heads

        def heads_of(layer: str, size: int, repeat: int, order: NDArray[np.intp]) -> Node:
            """[batch, heads, points, size], each head's rows in this order"""
            weight = self.weights[f"{name}.{layer}.weight"]  # [heads * size, channels]
            by_head = weight.reshape(-1, size, weight.shape[1])[:, order].repeat(repeat, 0)
            linear = self._linear(f"{name}.{layer}", points, by_head.reshape(-1, weight.shape[1]))
            split = self.op.reshape(linear, (0, -1, spec.heads, size))
            return self.op.transpose(split, (0, 2, 1, 3))

        # Rotating the two halves of a head is cheaper than rotating neighbouring pairs. Reordering
        # queries and keys alike does not change their products.
        halves = np.arange(spec.query_dim)
        if spec.rope is not Rope.NONE:
            halves = halves.reshape(-1, 2).T.ravel()
        query = heads_of("query", spec.query_dim, 1, halves)
        key = heads_of("key", spec.query_dim, share, halves)
        value = heads_of("value", spec.value_dim, share, np.arange(spec.value_dim))
        if spec.rope is not Rope.NONE:
            learned = self.weights.get(f"{name}.frequencies")
            frequencies = arch.theta_frequencies(spec) if learned is None else learned
            angles = self._angles(frequencies.repeat(share, 0), x)
            cos, sin = self.op.cos(angles), self.op.sin(angles)
            query, key = self._rotate(query, cos, sin), self._rotate(key, cos, sin)
        scores = self.op.multiply(
            self.op.matmul(query, key, transpose_b=True), _number(spec.query_dim**-0.5)
        )
        if self.mask is not None:
            off_board = self.op.multiply(self.op.subtract(self.mask, _number(1)), _number(1e4))
            flat = self.op.reshape(off_board, (0, 1, 1, -1))
            scores = self.op.add(scores, flat)
        found = self.op.matmul(self.op.softmax(scores), value)
        by_point = self.op.transpose(found, (0, 2, 1, 3))
        joined = self.op.reshape(by_point, (0, 0, spec.heads * spec.value_dim))
        return self.op.reshape_like(self.linear(f"{name}.out", joined), x)

    def feed_forward(self, name: str, spec: arch.FeedForward, x: Node) -> Node:
        """Linear layers at each point of x [batch, height, width, channels]."""
        points = self.rms_norm(f"{name}.norm", x)
        hidden = self.apply(self.linear(f"{name}.linear1", points), Activation.SILU)
        if spec.gated:
            hidden = self.op.multiply(hidden, self.linear(f"{name}.gate", points))
        return self.linear(f"{name}.linear2", hidden)

    # Heads

    def tip(self, x: Node, kind: Activation, spatial: bool) -> Node:
        """The norm between trunk and heads, by point or for the whole board."""
        square = self.mean_square(x) if spatial else None
        normed = self.rms_norm("tip.norm", self.op.transpose(x, _TO_POINTS), square)
        biased = self.op.add(normed, self.weights["tip.bias"])
        return self.activate(self.op.transpose(biased, _TO_CHANNELS), kind)

    def policy(self, x: Node, architecture: arch.Architecture) -> Node:
        """[batch, outputs, points + 1]"""
        kind = architecture.activation
        if architecture.board_size:
            inner = self.conv("policy.conv1", x, self.affine("policy.norm1"))
            logits = self.linear("policy.linear", self._flat(self.activate(inner, kind)))
            return self.op.unsqueeze(logits, (1,))
        inner, pooled = self.pooling("policy", "norm1", x, kind)
        passing = self.linear("policy.pass1", pooled)
        if architecture.pass_hidden:
            passing = self.linear("policy.pass2", self.apply(passing, kind))
        outputs = architecture.policy_outputs
        points = self.op.reshape(self.conv("policy.conv2", inner), (0, outputs, -1))
        return self.op.concat([points, self.op.unsqueeze(passing, (2,))], 2)

    def value(self, x: Node, architecture: arch.Architecture) -> tuple[Node, Node, Node]:
        """Outcome [batch, 3], score [batch, outputs] and ownership [batch, height, width]."""
        kind = architecture.activation
        inner = self.activate(self.conv("value.conv1", x, self.affine("value.norm1")), kind)
        pooled = self._flat(inner) if architecture.board_size else self.pool_for_value(inner)
        hidden = self.apply(self.linear("value.linear2", pooled), kind)
        owned = self.op.squeeze(self.conv("value.ownership", inner), (1,))
        return self.linear("value.value", hidden), self.linear("value.score", hidden), owned

    # Parts

    def apply(self, x: Node, kind: Activation) -> Node:
        """An activation by itself."""
        match kind:
            case Activation.RELU:
                return self.op.relu(x)
            case Activation.MISH:
                return self.op.mish(x)
            case Activation.SILU:
                return self.op.silu(x)
            case Activation.IDENTITY:
                return x

    def over_board(self, x: Node) -> Node:
        """[batch, channels, 1, 1] from [batch, channels]"""
        return self.op.unsqueeze(x, _BOARD)

    def _linear(self, name: str, x: Node, weight: Floats, bias: Floats | None = None) -> Node:
        """A linear layer of x [..., inputs] with weight [outputs, inputs]"""
        found = self.op.linear(name, x, weight)
        return found if bias is None else self.op.add(found, bias)

    def _flat(self, x: Node) -> Node:
        """[batch, channels * points] from [batch, channels, height, width]"""
        return self.op.reshape(x, (0, -1))

    def _angles(self, frequencies: Floats, x: Node) -> Node:
        """[heads, points, pairs] for points of x [batch, height, width, channels]"""
        columns = self.op.unsqueeze(self.op.steps(x, 2), (1,))  # [width, 1]
        rows = self.op.unsqueeze(self.op.steps(x, 1), (1, 2))  # [height, 1, 1]
        along_x = self.op.multiply(columns, frequencies[:, None, None, :, 0])
        along_y = self.op.multiply(rows, frequencies[:, None, None, :, 1])
        heads, pairs = frequencies.shape[:2]
        return self.op.reshape(self.op.add(along_x, along_y), (heads, -1, pairs))

    def _rotate(self, x: Node, cos: Node, sin: Node) -> Node:
        """Rotate the halves of x [batch, heads, points, dim]; angles [heads, points, pairs]."""
        op = self.op
        first, second = op.halves(x, 3)
        turned = op.subtract(op.multiply(first, cos), op.multiply(second, sin))
        return op.concat([turned, op.add(op.multiply(first, sin), op.multiply(second, cos))], 3)


def _mask(op: Ops, planes: Node, count: int) -> Node:
    """The sum of the first planes: 1 on the board, 0 off it."""
    first = op.first(planes, count)
    return first if count == 1 else op.reduce_sum(first, (1,), keep=True)


def _number(value: float | Floats) -> Floats:
    return np.asarray(value, np.float32)
