"""Names of architectures, such as b6c96, and what they stand for."""

from __future__ import annotations

import re
from dataclasses import replace

from tengen.network.architecture import (
    Activation,
    Architecture,
    Attention,
    Block,
    Bottleneck,
    FeedForward,
    Ordinary,
    Pooling,
    Rope,
)
from tengen.network.own_trunks import find_trunk

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
    """The architecture that a name such as b6c96 stands for, or one's own; raises ValueError."""
    if (own := find_trunk(name)) is not None:
        return replace(_with_heads(own.channels), trunk=name)
    match = _NAME.fullmatch(name.strip().lower())
    if match is None or int(match["blocks"]) < 1 or int(match["channels"]) < 8:
        known = f"known are {', '.join(PRESETS)}, and what --module FILE.py registers"
        raise ValueError(f"no architecture is called {name!r}; {known}")
    n, channels = int(match["blocks"]), int(match["channels"])
    pool = max(8, channels // 4)
    heads = _with_heads(channels)
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


def _with_heads(channels: int) -> Architecture:
    """Heads that suit a trunk of so many channels, and no blocks yet."""
    return Architecture(
        blocks=(),
        channels=channels,
        policy_mid=min(48, max(16, channels // 3)),
        policy_pool=min(48, max(16, channels // 3)),
        value_mid=min(96, max(16, channels // 3)),
        value_hidden=min(128, max(32, 2 * channels // 3)),
    )
