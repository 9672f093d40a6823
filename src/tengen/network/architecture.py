"""Architectures as data: what a network is made of, its name, its size and its cost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from enum import Enum, StrEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO, FeatureSet
from tengen.features.human_profile import METADATA_INPUTS
from tengen.game.geometry import MAX_SIDE

# Limits beyond any real network, against broken and hostile files.
MAX_SIZE = 65_536  # of any one dimension
MAX_BLOCKS = 1_000  # those within blocks included
MAX_NESTING = 4  # of blocks in blocks


class Activation(StrEnum):
    """Activations, named as in KataGo's files without the prefix."""

    IDENTITY = "identity"
    RELU = "relu"
    MISH = "mish"
    SILU = "silu"


class Rope(StrEnum):
    """Rotary position embedding of attention: none, from a base, or learned."""

    NONE = "none"
    THETA = "theta"
    LEARNED = "learned"


@dataclass(frozen=True)
class Ordinary:
    """A residual block of two convolutions with `mid` channels between them."""

    mid: int


@dataclass(frozen=True)
class PostActivation:
    """As Ordinary, with a norm at its end and added to the activated input.

    Blocks whose first norm changes nothing are those of the first residual networks.
    """

    mid: int


@dataclass(frozen=True)
class Pooling:
    """As Ordinary, with a global bias pooled from `pool` more channels."""

    mid: int
    pool: int


@dataclass(frozen=True)
class Bottleneck:
    """A nested bottleneck: down to `mid` channels, inner blocks, and up again."""

    mid: int
    inner: tuple[Block, ...]


@dataclass(frozen=True)
class Attention:
    """Self-attention between all points of the board."""

    heads: int
    kv_heads: int
    query_dim: int
    value_dim: int
    rope: Rope
    theta: float = 100.0


@dataclass(frozen=True)
class FeedForward:
    """Linear layers at each point, gated or not."""

    hidden: int
    gated: bool


Block: TypeAlias = Ordinary | PostActivation | Pooling | Bottleneck | Attention | FeedForward
_BLOCK_KINDS: dict[str, type[Block]] = {
    kind.__name__.lower(): kind
    for kind in (Ordinary, PostActivation, Pooling, Bottleneck, Attention, FeedForward)
}


@dataclass(frozen=True)
class Architecture:
    """A network of the main family: a trunk of blocks and heads for policy, value and ownership."""

    blocks: tuple[Block, ...]
    channels: int
    features: str = KATAGO.name
    planes: int = len(KATAGO.planes)
    globals: int = len(KATAGO.globals)
    # The two hidden layers between what it is told of the players and the trunk, for networks that
    # imitate people; 0 for those that do not.
    metadata_hidden1: int = 0
    metadata_hidden2: int = 0
    first_kernel: int = 3
    activation: Activation = Activation.RELU
    tip_activation: Activation = Activation.RELU
    tip_rms_norm: bool = False
    tip_spatial: bool = False  # the mean square of the tip's RMS norm is over all points, too
    policy_mid: int = 32
    policy_pool: int = 32
    policy_outputs: int = 1  # KataGo's later networks have an optimistic one besides the plain one
    pass_hidden: int = 0  # size of the layer before the pass output, 0 for none
    value_mid: int = 32
    value_hidden: int = 64
    score_outputs: int = 6
    # The side of the only board it plays on, for heads of fully connected layers; 0 for heads that
    # pool over the board, which play on all sizes.
    board_size: int = 0

    @property
    def has_optimism(self) -> bool:
        """Is there an optimistic policy besides the plain one? Imitators of people use none."""
        return self.policy_outputs > 1 and not self.metadata_hidden1

    @property
    def imitates_people(self) -> bool:
        """Is it told who plays, so that it can predict their moves?"""
        return self.metadata_hidden1 > 0

    @property
    def has_attention(self) -> bool:
        """Does a block attend to the whole board?"""
        return _attend(self.blocks)

    def seeing(self, features: FeatureSet) -> Architecture:
        """The same architecture for another feature set."""
        planes, globals_ = len(features.planes), len(features.globals)
        return replace(self, features=features.name, planes=planes, globals=globals_)

    def to_json(self) -> str:
        """The architecture as text for a file's header."""
        values = asdict(self)
        values["blocks"] = [_block_to_dict(block) for block in self.blocks]
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> Architecture:
        """Parse the architecture of a file's header; raises ValueError if it is invalid."""
        try:
            values: dict[str, Any] = json.loads(text)
            values["blocks"] = tuple(_block_from_dict(block) for block in values["blocks"])
            for name in ("activation", "tip_activation"):
                values[name] = Activation(values[name])
            architecture = cls(**values)
            architecture.check()
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"not an architecture: {error}") from None
        return architecture

    def check(self) -> None:
        """Raise ValueError if no network can have this architecture."""
        sizes = {field.name: getattr(self, field.name) for field in fields(self)}
        flags = ("tip_rms_norm", "tip_spatial")
        for name in ("blocks", "features", "activation", "tip_activation", *flags):
            del sizes[name]
        metadata = ("metadata_hidden1", "metadata_hidden2")
        for name in ("globals", "pass_hidden", "board_size", *metadata):  # these may be absent
            if sizes[name] == 0:
                del sizes[name]
        _check_sizes("network", sizes)
        if not isinstance(self.features, str) or any(
            not isinstance(getattr(self, flag), bool) for flag in flags
        ):
            raise ValueError("a field is of the wrong kind")
        if (self.metadata_hidden1 == 0) != (self.metadata_hidden2 == 0):
            raise ValueError("one hidden layer for metadata")
        if self.tip_spatial and not self.tip_rms_norm:
            raise ValueError("tip_spatial without tip_rms_norm")
        if self.board_size > MAX_SIDE or (self.board_size and self.policy_outputs != 1):
            raise ValueError(f"no heads for board_size {self.board_size}")
        if self.first_kernel % 2 == 0:
            raise ValueError(f"first_kernel is {self.first_kernel}, which is even")
        if _check_blocks(self.blocks, MAX_NESTING) > MAX_BLOCKS:
            raise ValueError(f"more than {MAX_BLOCKS:,} blocks")


def _attend(blocks: tuple[Block, ...]) -> bool:
    return any(
        isinstance(block, Attention) or (isinstance(block, Bottleneck) and _attend(block.inner))
        for block in blocks
    )


def _block_to_dict(block: Block) -> dict[str, Any]:
    values = {field.name: getattr(block, field.name) for field in fields(block)}
    if isinstance(block, Bottleneck):
        values["inner"] = [_block_to_dict(inner) for inner in block.inner]
    return {"kind": type(block).__name__.lower(), **values}


def _block_from_dict(values: dict[str, Any]) -> Block:
    rest = dict(values)
    kind = _BLOCK_KINDS[rest.pop("kind")]
    if "inner" in rest:
        rest["inner"] = tuple(_block_from_dict(inner) for inner in rest["inner"])
    if "rope" in rest:
        rest["rope"] = Rope(rest["rope"])
    return kind(**rest)


def _check_blocks(blocks: tuple[Block, ...], levels: int) -> int:
    """Count the blocks; raises ValueError if one is invalid."""
    if not blocks or levels == 0:
        raise ValueError("no blocks" if levels else "blocks nested too deeply")
    count = len(blocks)
    for block in blocks:
        sizes = {field.name: getattr(block, field.name) for field in fields(block)}
        match block:
            case Bottleneck():
                count += _check_blocks(sizes.pop("inner"), levels - 1)
            case FeedForward():
                if not isinstance(sizes.pop("gated"), bool):
                    raise ValueError("gated is neither true nor false")
            case Attention():
                del sizes["rope"], sizes["theta"]
                theta = block.theta
                if not isinstance(theta, int | float) or not 0 < theta < math.inf:
                    raise ValueError(f"theta is {theta!r}")
        _check_sizes(type(block).__name__.lower(), sizes)
        if isinstance(block, Attention):
            if block.heads % block.kv_heads:
                raise ValueError(f"{block.heads} heads cannot share {block.kv_heads}")
            if block.rope is not Rope.NONE and block.query_dim % 2:
                raise ValueError(f"query_dim {block.query_dim} does not divide into pairs")
    return count


def _check_sizes(part: str, sizes: dict[str, Any]) -> None:
    for name, size in sizes.items():
        if type(size) is not int or not 1 <= size <= MAX_SIZE:
            raise ValueError(f"{part}: {name} is {str(size)[:20]}")


def theta_frequencies(spec: Attention) -> NDArray[np.float32]:
    """[kv heads, pairs, 2] angles per step along x and y, from the base theta.

    Half of the pairs rotate along y, half along x (one more of an odd number), ever more slowly.
    """
    pairs = spec.query_dim // 2
    half = pairs // 2
    frequencies = np.zeros((spec.kv_heads, pairs, 2), np.float32)
    steps = spec.theta ** (-2 * np.arange(pairs - half) / max(1, pairs))
    frequencies[:, :half, 1] = steps[:half]
    frequencies[:, half:, 0] = steps
    return frequencies


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
    """All tensors of a network with this architecture."""
    a = architecture
    yield _convolution("conv", a.planes, a.channels, a.first_kernel)
    if a.globals:
        yield _linear("globals", a.globals, a.channels)
    if a.metadata_hidden1:
        yield _linear("metadata.linear1", METADATA_INPUTS, a.metadata_hidden1)
        yield _bias("metadata.linear1", a.metadata_hidden1)
        yield _linear("metadata.linear2", a.metadata_hidden1, a.metadata_hidden2)
        yield _bias("metadata.linear2", a.metadata_hidden2)
        yield _linear("metadata.linear3", a.metadata_hidden2, a.channels)
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


def flat_blocks(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """All blocks, each followed by those within it."""
    for block in blocks:
        yield block
        if isinstance(block, Bottleneck):
            yield from flat_blocks(block.inner)


# bNcM: N blocks of M channels; nbt: nested bottlenecks; hKtf: each block a pair of attention with K
# heads and feed-forward.
_NAME = re.compile(
    r"b(?P<blocks>\d{1,3})c(?P<channels>\d{1,4})(?P<nbt>nbt)?(?:h(?P<heads>\d{1,2})tf)?"
)
PRESETS = (
    "b2c32",
    "b4c64",
    "b6c64",
    "b6c96",
    "b10c128",
    "b18c384",
    "b18c384nbt",
    "b20c256",
    "b40c256",
    "b60c320",
    "b7c96h3tf",
)


def named_architecture(name: str) -> Architecture:
    """The architecture that a name such as b6c96 stands for; raises ValueError."""
    match = _NAME.fullmatch(name.strip().lower())
    if match is None or int(match["blocks"]) < 1 or int(match["channels"]) < 8:
        raise ValueError(f"no architecture is called {name!r}; known are {', '.join(PRESETS)}")
    n, channels = int(match["blocks"]), int(match["channels"])
    pool = max(8, channels // 4)
    heads = Architecture(
        blocks=(),
        channels=channels,
        policy_mid=min(48, max(16, channels // 3)),
        policy_pool=min(48, max(16, channels // 3)),
        value_mid=min(96, max(16, channels // 3)),
        value_hidden=min(128, max(32, 2 * channels // 3)),
    )
    if match["heads"]:
        count = int(match["heads"])
        if channels % count or (channels // count) % 4:
            raise ValueError(f"{name}: {channels} channels do not divide into {count} heads")
        size = channels // count
        pair = (
            Attention(count, count, size, size, Rope.THETA),
            FeedForward(8 * channels // 3 // 8 * 8, gated=True),
        )
        return replace(
            heads,
            blocks=pair * n,
            activation=Activation.SILU,
            tip_activation=Activation.SILU,
            tip_rms_norm=True,
        )
    if match["nbt"]:
        mid = channels // 2
        plain = Bottleneck(mid, (Ordinary(mid), Ordinary(mid)))
        pooling = Bottleneck(mid, (Pooling(mid - mid // 4, mid // 4), Ordinary(mid)))
        blocks: tuple[Block, ...] = tuple(pooling if i % 3 == 1 else plain for i in range(n))
        mish = Activation.MISH
        return replace(heads, blocks=blocks, activation=mish, tip_activation=mish)
    blocks = tuple(
        Pooling(channels - pool, pool) if i % 3 == 2 or (n == 2 and i == 1) else Ordinary(channels)
        for i in range(n)
    )
    return replace(heads, blocks=blocks)
