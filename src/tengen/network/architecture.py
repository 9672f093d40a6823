"""Architectures as data: what a network is made of, its name, its size and its cost. Torch-free."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypeAlias

from tengen.features.feature_set import KATAGO


class Activation(StrEnum):
    """Kinds of activation, spelled as KataGo's files spell them without their prefix."""

    IDENTITY = "identity"
    RELU = "relu"
    MISH = "mish"
    SILU = "silu"


class Rope(StrEnum):
    """How attention knows where a point lies: not at all, by one base, or as it learned."""

    NONE = "none"
    THETA = "theta"
    LEARNED = "learned"


@dataclass(frozen=True)
class Ordinary:
    """Two convolutions around `mid` channels, added to what came in."""

    mid: int


@dataclass(frozen=True)
class Pooling:
    """As Ordinary, with a bias for the whole board pooled from `pool` more channels."""

    mid: int
    pool: int


@dataclass(frozen=True)
class Bottleneck:
    """Down to `mid` channels, blocks inside, and up again."""

    mid: int
    inner: tuple[Block, ...]


@dataclass(frozen=True)
class Attention:
    """Every point looks at every other."""

    heads: int
    kv_heads: int
    query_dim: int
    value_dim: int
    rope: Rope
    theta: float = 100.0


@dataclass(frozen=True)
class FeedForward:
    """A small network at each point, gated or not."""

    hidden: int
    gated: bool


Block: TypeAlias = Ordinary | Pooling | Bottleneck | Attention | FeedForward
_BLOCK_KINDS: dict[str, type[Block]] = {
    kind.__name__.lower(): kind for kind in (Ordinary, Pooling, Bottleneck, Attention, FeedForward)
}


@dataclass(frozen=True)
class Architecture:
    """A network of the main family: a trunk of blocks and heads for policy, value and ownership."""

    blocks: tuple[Block, ...]
    channels: int
    features: str = KATAGO.name
    planes: int = len(KATAGO.planes)
    globals: int = len(KATAGO.globals)
    first_kernel: int = 3
    activation: Activation = Activation.RELU
    tip_activation: Activation = Activation.RELU
    tip_rms_norm: bool = False
    policy_mid: int = 32
    policy_pool: int = 32
    policy_outputs: int = 1  # KataGo's later networks have an optimistic one besides the plain one
    pass_hidden: int = 0  # size of the layer before the pass output, 0 for none
    value_mid: int = 32
    value_hidden: int = 64
    score_outputs: int = 6

    def to_json(self) -> str:
        """The architecture as text for a file's header."""
        values = asdict(self)
        values["blocks"] = [_block_to_dict(block) for block in self.blocks]
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> Architecture:
        """The architecture in a file's header; raises ValueError for what is none."""
        try:
            values: dict[str, Any] = json.loads(text)
            values["blocks"] = tuple(_block_from_dict(block) for block in values["blocks"])
            for name in ("activation", "tip_activation"):
                values[name] = Activation(values[name])
            return cls(**values)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"not an architecture: {error}") from None


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


# Names of the main family: so many blocks of so many channels, plain or with nested bottlenecks,
# or pairs of attention and feed-forward blocks with so many heads.
_NAME = re.compile(
    r"b(?P<blocks>\d{1,3})c(?P<channels>\d{1,4})(?P<nbt>nbt)?(?:h(?P<heads>\d{1,2})tf)?"
)
PRESETS = (
    "b2c32",
    "b4c64",
    "b6c64",
    "b6c96",
    "b10c128",
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
