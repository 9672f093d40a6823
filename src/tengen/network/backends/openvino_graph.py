"""Networks as OpenVINO graphs.

The computation is that of `torch.model.Network`, with norms folded into the convolutions before
them. There are two graphs for a network: one without a mask for batches whose boards fill their
tensor, and one for boards of several sizes in one batch. Both take any batch and board size. A
tensor of channels is [batch, channels, height, width].
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import openvino
from numpy.typing import NDArray
from openvino import opset13 as op

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network import architecture as arch
from tengen.network.architecture import Activation, Rope
from tengen.network.data import NetworkData, Weights
from tengen.network.decoding import RawOutputs
from tengen.network.evaluator import INPUTS

Node: TypeAlias = Any  # openvino.Node; the package has no types
Floats: TypeAlias = NDArray[np.float32]
OUTPUTS = RawOutputs._fields
_BOARD = np.array([2, 3])  # the axes of the board
_TO_POINTS, _TO_CHANNELS = np.array([0, 2, 3, 1]), np.array([0, 3, 1, 2])


def build_graph(data: NetworkData, masked: bool) -> openvino.Model:
    """Build the graph of a network; without `masked`, only for boards that fill their tensor.

    Outputs are named as those of `torch.model.Network`, convolutions and linear layers as their
    weights without '.weight'.
    """
    architecture = data.architecture
    shapes = [[-1, architecture.planes, -1, -1], [-1, architecture.globals]]
    if architecture.metadata_hidden1:
        shapes.append([-1, METADATA_INPUTS])
    inputs = [
        op.parameter(shape, np.float32, name=name)
        for name, shape in zip(INPUTS, shapes, strict=False)
    ]
    planes, globals_, *metadata = inputs
    mask = _mask(planes, FEATURE_SETS[architecture.features].mask_planes) if masked else None
    graph = _Graph(data.weights, planes, mask)
    x = graph.conv("conv", planes)
    if architecture.globals:
        x = op.add(x, _over_board(graph.linear("globals", globals_)))
    if metadata:
        x = op.add(x, _over_board(graph.metadata(metadata[0], architecture.activation)))
    for i, block in enumerate(architecture.blocks):
        x = graph.block(f"blocks.{i}", block, x, architecture.activation)
    if architecture.tip_rms_norm:
        x = graph.tip(x, architecture.tip_activation, architecture.tip_spatial)
    else:
        x = graph.norm("tip", x, architecture.tip_activation)
    outputs = (graph.policy(x, architecture), *graph.value(x, architecture))
    results = []
    for name, output in zip(OUTPUTS, outputs, strict=True):
        result = op.result(output)
        result.output(0).set_names({name})
        results.append(result)
    for name, parameter in zip(INPUTS, inputs, strict=False):
        parameter.output(0).set_names({name})
    return openvino.Model(results, inputs, data.name)


class _Affine(NamedTuple):
    """A norm as x * scale + bias, both [channels]."""

    scale: Floats
    bias: Floats


class _Graph:
    """Builds nodes from named weights; knows the mask and area of the boards."""

    def __init__(self, weights: Weights, planes: Node, mask: Node | None) -> None:
        self.weights = weights
        self.mask = mask  # [batch, 1, height, width]
        if mask is not None:
            self.area = op.reduce_sum(mask, _BOARD, keep_dims=False)  # [batch, 1]
        else:
            sides = op.gather(op.shape_of(planes), _BOARD, 0)
            self.area = op.convert(op.reduce_prod(sides, 0, keep_dims=True), np.float32)  # [1]
        self.spread = op.divide(op.subtract(op.sqrt(self.area), _number(14)), _number(10))

    # Layers

    def conv(self, name: str, x: Node, then: _Affine | None = None) -> Node:
        """A convolution, and the norm that follows it."""
        weight = self.weights[f"{name}.weight"]  # [outputs, inputs, kernel, kernel]
        if then is not None:
            weight = weight * then.scale[:, None, None, None]
        pad = [weight.shape[2] // 2] * 2
        found = op.convolution(x, weight, [1, 1], pad, pad, [1, 1])
        found.friendly_name = name
        return found if then is None else op.add(found, then.bias[:, None, None])

    def linear(self, name: str, x: Node, then: _Affine | None = None) -> Node:
        """A linear layer over the last axis, and the norm that follows it."""
        weight, bias = self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        if then is not None:
            weight, bias = weight * then.scale[:, None], then.bias
        return _linear(name, x, weight, bias)

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
            x = op.multiply(x, scale[None, :, None, None])
        if bias.any():
            x = op.add(x, bias[None, :, None, None])
        return self.activate(x, kind)

    def activate(self, x: Node, kind: Activation) -> Node:
        """An activation of channels, zero off the board."""
        active = _activate(x, kind)
        return active if self.mask is None else op.multiply(active, self.mask)

    def rms_norm(self, name: str, x: Node, square: Node | None = None) -> Node:
        """x: [..., channels], and its mean square unless that is over the channels"""
        if square is None:
            square = op.reduce_mean(op.power(x, _number(2)), np.array([-1]), keep_dims=True)
        root = op.sqrt(op.add(square, _number(self.weights[f"{name}.epsilon"])))
        return op.multiply(
            op.multiply(x, op.divide(_number(1), root)), self.weights[f"{name}.weight"]
        )

    def mean(self, x: Node) -> Node:
        """[batch, channels]: the mean over the points of the board"""
        if self.mask is None:
            return op.reduce_mean(x, _BOARD, keep_dims=False)
        return op.divide(op.reduce_sum(x, _BOARD, keep_dims=False), self.area)

    def mean_square(self, x: Node) -> Node:
        """[batch, 1, 1, 1]: the mean square over channels and points of the board"""
        if self.mask is not None:
            x = op.multiply(x, self.mask)
        by_channel = self.mean(op.power(x, _number(2)))
        return _over_board(op.reduce_mean(by_channel, np.array([1]), keep_dims=True))

    def pool(self, x: Node, kind: Activation) -> Node:
        """[batch, 3 * channels]: mean, mean by size of the board, and maximum over the board"""
        mean = self.mean(x)
        if self.mask is not None:  # off the board x is 0, and activations are above -1
            x = op.add(x, op.subtract(self.mask, _number(1)))
        highest = op.reduce_max(x, _BOARD, keep_dims=False)
        if kind is Activation.IDENTITY:  # KataGo takes nothing lower
            highest = op.maximum(highest, _number(-1))
        return op.concat([mean, op.multiply(mean, self.spread), highest], 1)

    def pool_for_value(self, x: Node) -> Node:
        """[batch, 3 * channels]: mean, and mean by two measures of the board's size"""
        mean = self.mean(x)
        by_square = op.subtract(op.multiply(self.spread, self.spread), _number(0.1))
        return op.concat([mean, op.multiply(mean, self.spread), op.multiply(mean, by_square)], 1)

    def metadata(self, x: Node, kind: Activation) -> Node:
        """[batch, channels] from what is told of the players"""
        for layer in ("linear1", "linear2"):
            x = _activate_hidden(self.linear(f"metadata.{layer}", x), kind)
        return self.linear("metadata.linear3", x)

    # Blocks

    def block(self, name: str, spec: arch.Block, x: Node, kind: Activation) -> Node:
        """The block that a specification describes."""
        match spec:
            case arch.Attention():
                seen = self.attention(name, spec, op.transpose(x, _TO_POINTS))
                return op.add(x, op.transpose(seen, _TO_CHANNELS))
            case arch.FeedForward():
                seen = self.feed_forward(name, spec, op.transpose(x, _TO_POINTS))
                return op.add(x, op.transpose(seen, _TO_CHANNELS))
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
            return op.add(active, self.conv(f"{name}.conv2", inner, self.affine(f"{name}.norm3")))
        return op.add(x, self.conv(f"{name}.conv2", inner))

    def pooling(self, name: str, norm: str, x: Node, kind: Activation) -> tuple[Node, Node]:
        """A convolution with a bias from global pooling, its norm and activation; and the pool."""
        after = self.affine(f"{name}.{norm}")
        looked = self.conv(f"{name}.conv_pool", x, self.affine(f"{name}.norm_pool"))
        pooled = self.pool(self.activate(looked, kind), kind)
        bias = _over_board(self.linear(f"{name}.pool_to_bias", pooled, after))
        inner = self.conv(f"{name}.conv1", x, _Affine(after.scale, np.zeros_like(after.bias)))
        return self.activate(op.add(inner, bias), kind), pooled

    def attention(self, name: str, spec: arch.Attention, x: Node) -> Node:
        """Self-attention over the points of x [batch, height, width, channels]."""
        points = self.rms_norm(f"{name}.norm", x)
        share = spec.heads // spec.kv_heads

        def heads_of(layer: str, size: int, repeat: int, order: NDArray[np.intp]) -> Node:
            """[batch, heads, points, size], each head's rows in this order"""
            weight = self.weights[f"{name}.{layer}.weight"]  # [heads * size, channels]
            by_head = weight.reshape(-1, size, weight.shape[1])[:, order].repeat(repeat, 0)
            linear = _linear(f"{name}.{layer}", points, by_head.reshape(-1, weight.shape[1]))
            split = op.reshape(linear, np.array([0, -1, spec.heads, size]), special_zero=True)
            return op.transpose(split, np.array([0, 2, 1, 3]))

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
            angles = _angles(frequencies.repeat(share, 0), x)
            cos, sin = op.cos(angles), op.sin(angles)
            query, key = _rotate(query, cos, sin), _rotate(key, cos, sin)
        scores = op.multiply(
            op.matmul(query, key, transpose_a=False, transpose_b=True),
            _number(spec.query_dim**-0.5),
        )
        if self.mask is not None:
            off_board = op.multiply(op.subtract(self.mask, _number(1)), _number(1e4))
            flat = op.reshape(off_board, np.array([0, 1, 1, -1]), special_zero=True)
            scores = op.add(scores, flat)
        found = op.matmul(op.softmax(scores, 3), value, transpose_a=False, transpose_b=False)
        joined = op.reshape(
            op.transpose(found, np.array([0, 2, 1, 3])),
            np.array([0, 0, spec.heads * spec.value_dim]),
            special_zero=True,
        )
        return op.reshape(self.linear(f"{name}.out", joined), op.shape_of(x), special_zero=False)

    def feed_forward(self, name: str, spec: arch.FeedForward, x: Node) -> Node:
        """Linear layers at each point of x [batch, height, width, channels]."""
        points = self.rms_norm(f"{name}.norm", x)
        hidden = _activate(self.linear(f"{name}.linear1", points), Activation.SILU)
        if spec.gated:
            hidden = op.multiply(hidden, self.linear(f"{name}.gate", points))
        return self.linear(f"{name}.linear2", hidden)

    # Heads

    def tip(self, x: Node, kind: Activation, spatial: bool) -> Node:
        """The norm between trunk and heads, by point or for the whole board."""
        square = self.mean_square(x) if spatial else None
        normed = self.rms_norm("tip.norm", op.transpose(x, _TO_POINTS), square)
        biased = op.add(normed, self.weights["tip.bias"])
        return self.activate(op.transpose(biased, _TO_CHANNELS), kind)

    def policy(self, x: Node, architecture: arch.Architecture) -> Node:
        """[batch, outputs, points + 1]"""
        kind = architecture.activation
        if architecture.board_size:
            inner = self.conv("policy.conv1", x, self.affine("policy.norm1"))
            logits = self.linear("policy.linear", _flat(self.activate(inner, kind)))
            return op.unsqueeze(logits, np.array([1]))
        inner, pooled = self.pooling("policy", "norm1", x, kind)
        passing = self.linear("policy.pass1", pooled)
        if architecture.pass_hidden:
            passing = self.linear("policy.pass2", _activate_hidden(passing, kind))
        outputs = architecture.policy_outputs
        points = op.reshape(
            self.conv("policy.conv2", inner), np.array([0, outputs, -1]), special_zero=True
        )
        return op.concat([points, op.unsqueeze(passing, np.array([2]))], 2)

    def value(self, x: Node, architecture: arch.Architecture) -> tuple[Node, Node, Node]:
        """Outcome [batch, 3], score [batch, outputs] and ownership [batch, height, width]."""
        kind = architecture.activation
        inner = self.activate(self.conv("value.conv1", x, self.affine("value.norm1")), kind)
        pooled = _flat(inner) if architecture.board_size else self.pool_for_value(inner)
        hidden = _activate(self.linear("value.linear2", pooled), kind)
        owned = op.squeeze(self.conv("value.ownership", inner), np.array([1]))
        return self.linear("value.value", hidden), self.linear("value.score", hidden), owned


def _mask(planes: Node, count: int) -> Node:
    """The sum of the first planes: 1 on the board, 0 off it."""
    first = op.gather(planes, np.arange(count), 1)
    return first if count == 1 else op.reduce_sum(first, np.array([1]), keep_dims=True)


def _number(value: Any) -> Node:
    return op.constant(np.float32(value))


def _flat(x: Node) -> Node:
    """[batch, channels * points] from [batch, channels, height, width]"""
    return op.reshape(x, np.array([0, -1]), special_zero=True)


def _over_board(x: Node) -> Node:
    """[batch, channels, 1, 1] from [batch, channels]"""
    return op.unsqueeze(x, _BOARD)


def _linear(name: str, x: Node, weight: Floats, bias: Floats | None = None) -> Node:
    """A linear layer of x [..., inputs] with weight [outputs, inputs]"""
    found = op.matmul(x, weight, transpose_a=False, transpose_b=True)
    found.friendly_name = name
    return found if bias is None else op.add(found, bias)


def _activate(x: Node, kind: Activation) -> Node:
    match kind:
        case Activation.RELU:
            return op.relu(x)
        case Activation.MISH:
            return op.mish(x)
        case Activation.SILU:
            return op.swish(x)
        case Activation.IDENTITY:
            return x


def _activate_hidden(x: Node, kind: Activation) -> Node:
    """An activation of x [batch, channels] between two linear layers.

    OpenVINO 2026.4 joins Mish with such layers, and then cannot compile it; not with another axis.
    """
    if kind is not Activation.MISH:
        return _activate(x, kind)
    axis = np.array([2])
    return op.squeeze(op.mish(op.unsqueeze(x, axis)), axis)


def _angles(frequencies: Floats, x: Node) -> Node:
    """[heads, points, pairs] for points of x [batch, height, width, channels]"""
    shape = op.shape_of(x)

    def steps(axis: int) -> Node:
        """[side, 1, 1] for the height, [side, 1] for the width"""
        side = op.gather(shape, np.array(axis), np.array(0))
        numbers = op.range(np.int64(0), side, np.int64(1), "f32")
        return op.unsqueeze(numbers, np.arange(1, 4 - axis))

    along_x = op.multiply(steps(2), frequencies[:, None, None, :, 0])
    along_y = op.multiply(steps(1), frequencies[:, None, None, :, 1])
    heads, pairs = frequencies.shape[:2]
    return op.reshape(op.add(along_x, along_y), np.array([heads, -1, pairs]), special_zero=False)


def _rotate(x: Node, cos: Node, sin: Node) -> Node:
    """Rotate the halves of x [batch, heads, points, dim]; cos and sin: [heads, points, pairs]."""
    first, second = op.split(x, np.array(3), 2).outputs()
    return op.concat(
        [
            op.subtract(op.multiply(first, cos), op.multiply(second, sin)),
            op.add(op.multiply(first, sin), op.multiply(second, cos)),
        ],
        3,
    )
