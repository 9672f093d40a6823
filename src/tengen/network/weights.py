"""The weights of an architecture: their names and shapes, how many there are, what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from tengen.features.human_profile import METADATA_INPUTS
from tengen.network.architecture import (
    Architecture,
    Attention,
    Block,
    Bottleneck,
    FeedForward,
    Ordinary,
    Pooling,
    PostActivation,
    Rope,
    flat_blocks,
)


class Use(Enum):
    """How often each value of a weight is multiplied in the evaluation of a board."""

    NOT_COUNTED = 0  # norms and biases, which cost next to nothing
    ONCE_A_BOARD = 1
    ONCE_A_POINT = 2


class Weight(NamedTuple):
    """One tensor of a network."""

    name: str  # as the torch network names it
    shape: tuple[int, ...]
    use: Use
    learned: bool = True  # statistics and constants are not


def weights_of(architecture: Architecture) -> Iterator[Weight]:
    """All tensors of a network with this architecture, but for those of a trunk of one's own."""
    a = architecture
    if not a.trunk:
        yield from _input_weights(a)
    for i, block in enumerate(a.blocks):
        yield from _block_weights(f"blocks.{i}", a.channels, block)
    if a.tip_rms_norm:
        yield from _rms_norm("tip.norm", a.channels)
        yield _bias("tip", a.channels)
    else:
        yield from _norm("tip", a.channels)
    yield from _flat_policy_weights(a) if a.board_size else _policy_weights(a)
    yield _convolution("value.conv1", a.channels, a.value_mid, 1)
    yield from _norm("value.norm1", a.value_mid)
    for name, inputs, outputs in (
        ("linear2", (a.board_size**2 or 3) * a.value_mid, a.value_hidden),
        ("value", a.value_hidden, 3),
        ("score", a.value_hidden, a.score_outputs),
    ):
        yield _linear(f"value.{name}", inputs, outputs)
        yield _bias(f"value.{name}", outputs)
    yield _convolution("value.ownership", a.value_mid, 1, 1)


def _input_weights(a: Architecture) -> Iterator[Weight]:
    yield _convolution("conv", a.planes, a.channels, a.first_kernel)
    if a.globals:
        yield _linear("globals", a.globals, a.channels)
    if a.metadata_hidden1:
        yield _linear("metadata.linear1", METADATA_INPUTS, a.metadata_hidden1)
        yield _bias("metadata.linear1", a.metadata_hidden1)
        yield _linear("metadata.linear2", a.metadata_hidden1, a.metadata_hidden2)
        yield _bias("metadata.linear2", a.metadata_hidden2)
        yield _linear("metadata.linear3", a.metadata_hidden2, a.channels)


def _flat_policy_weights(a: Architecture) -> Iterator[Weight]:
    area = a.board_size**2
    yield _convolution("policy.conv1", a.channels, a.policy_mid, 1)
    yield from _norm("policy.norm1", a.policy_mid)
    yield _linear("policy.linear", a.policy_mid * area, area + 1)
    yield _bias("policy.linear", area + 1)


def _policy_weights(a: Architecture) -> Iterator[Weight]:
    yield _convolution("policy.conv1", a.channels, a.policy_mid, 1)
    yield _convolution("policy.conv_pool", a.channels, a.policy_pool, 1)
    yield from _norm("policy.norm_pool", a.policy_pool)
    yield _linear("policy.pool_to_bias", 3 * a.policy_pool, a.policy_mid)
    yield from _norm("policy.norm1", a.policy_mid)
    yield _convolution("policy.conv2", a.policy_mid, a.policy_outputs, 1)
    yield _linear("policy.pass1", 3 * a.policy_pool, a.pass_hidden or a.policy_outputs)
    if a.pass_hidden:
        yield _bias("policy.pass1", a.pass_hidden)
        yield _linear("policy.pass2", a.pass_hidden, a.policy_outputs)


def _block_weights(name: str, channels: int, block: Block) -> Iterator[Weight]:
    match block:
        case Ordinary() | PostActivation() | Pooling():
            yield from _norm(f"{name}.norm1", channels)
            yield _convolution(f"{name}.conv1", channels, block.mid, 3)
            if isinstance(block, Pooling):
                yield _convolution(f"{name}.conv_pool", channels, block.pool, 3)
                yield from _norm(f"{name}.norm_pool", block.pool)
                yield _linear(f"{name}.pool_to_bias", 3 * block.pool, block.mid)
            yield from _norm(f"{name}.norm2", block.mid)
            yield _convolution(f"{name}.conv2", block.mid, channels, 3)
            if isinstance(block, PostActivation):
                yield from _norm(f"{name}.norm3", channels)
        case Bottleneck():
            yield from _norm(f"{name}.norm1", channels)
            yield _convolution(f"{name}.conv1", channels, block.mid, 1)
            for i, inner in enumerate(block.inner):
                yield from _block_weights(f"{name}.blocks.{i}", block.mid, inner)
            yield from _norm(f"{name}.norm2", block.mid)
            yield _convolution(f"{name}.conv2", block.mid, channels, 1)
        case Attention():
            queries, values = block.query_dim, block.value_dim
            yield from _rms_norm(f"{name}.norm", channels)
            yield _at_points(f"{name}.query", channels, block.heads * queries)
            yield _at_points(f"{name}.key", channels, block.kv_heads * queries)
            yield _at_points(f"{name}.value", channels, block.kv_heads * values)
            yield _at_points(f"{name}.out", block.heads * values, channels)
            if block.rope is Rope.LEARNED:
                shape = (block.kv_heads, queries // 2, 2)
                yield Weight(f"{name}.frequencies", shape, Use.NOT_COUNTED)
        case FeedForward():
            yield from _rms_norm(f"{name}.norm", channels)
            yield _at_points(f"{name}.linear1", channels, block.hidden)
            if block.gated:
                yield _at_points(f"{name}.gate", channels, block.hidden)
            yield _at_points(f"{name}.linear2", block.hidden, channels)


def _convolution(name: str, inputs: int, outputs: int, kernel: int) -> Weight:
    return Weight(f"{name}.weight", (outputs, inputs, kernel, kernel), Use.ONCE_A_POINT)


def _linear(name: str, inputs: int, outputs: int) -> Weight:
    return Weight(f"{name}.weight", (outputs, inputs), Use.ONCE_A_BOARD)


def _at_points(name: str, inputs: int, outputs: int) -> Weight:
    return _linear(name, inputs, outputs)._replace(use=Use.ONCE_A_POINT)


def _bias(name: str, channels: int) -> Weight:
    return Weight(f"{name}.bias", (channels,), Use.NOT_COUNTED)


def _norm(name: str, channels: int) -> Iterator[Weight]:
    for part, learned in (("scale", True), ("bias", True), ("mean", False), ("variance", False)):
        yield Weight(f"{name}.{part}", (channels,), Use.NOT_COUNTED, learned)
    yield Weight(f"{name}.epsilon", (), Use.NOT_COUNTED, learned=False)


def _rms_norm(name: str, channels: int) -> Iterator[Weight]:
    yield Weight(f"{name}.weight", (channels,), Use.NOT_COUNTED)
    yield Weight(f"{name}.epsilon", (), Use.NOT_COUNTED, learned=False)


def parameter_count(architecture: Architecture) -> int:
    """The number of learned parameters."""
    return sum(math.prod(w.shape) for w in weights_of(architecture) if w.learned)


def flop_count(architecture: Architecture, height: int, width: int) -> int:
    """Operations for one board: two for each multiply-add of convolutions, matrices, attention.

    Convolutions are counted as if the board went on beyond its edges.
    """
    points = height * width
    times = {Use.NOT_COUNTED: 0, Use.ONCE_A_BOARD: 1, Use.ONCE_A_POINT: points}
    products = sum(math.prod(w.shape) * times[w.use] for w in weights_of(architecture))
    per_pair = sum(  # of points: attention weights and weighted values
        block.heads * (block.query_dim + block.value_dim)
        for block in flat_blocks(architecture.blocks)
        if isinstance(block, Attention)
    )
    return 2 * (products + points**2 * per_pair)
