"""Architectures as data: the blocks and heads that a network is made of."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO, FeatureSet
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
    trunk: str = ""  # a trunk of one's own in place of blocks, see `own_trunks`

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
        if not self.trunk:
            del values["trunk"]  # which earlier versions do not know
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
        for name in ("blocks", "features", "activation", "tip_activation", "trunk", *flags):
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
        if not isinstance(self.trunk, str) or (self.trunk and self.blocks):
            raise ValueError("a trunk of its own and blocks")
        if not self.trunk and _check_blocks(self.blocks, MAX_NESTING) > MAX_BLOCKS:
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


def flat_blocks(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """All blocks, each followed by those within it."""
    for block in blocks:
        yield block
        if isinstance(block, Bottleneck):
            yield from flat_blocks(block.inner)
