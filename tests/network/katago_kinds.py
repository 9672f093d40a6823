"""Random tiny networks of every kind that KataGo's format has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tengen.features.feature_set import KATAGO, KATAGO_WITH_SUICIDE_AREAS
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
from tengen.network.files.katago_format import (
    FIRST_V7_VERSION,
    HALVED_ERRORS_VERSION,
    NAMED_ACTIVATIONS_VERSION,
    NEWEST_VERSION,
    PASS_LAYERS_VERSION,
    SCALING_VERSION,
    TRANSFORMER_VERSION,
    policy_outputs,
    score_outputs,
    write_network,
)
from tengen.network.files.katago_older import INPUTS
from tengen.network.files.katago_tokens import Token
from tengen.network.network_data import NetworkData, Scaling
from tengen.network.weights import weights_of

CHANNELS, MID = 12, 8  # MID: of the policy head, and so of the layers for the pass
CONVOLUTIONS: tuple[Block, ...] = (Ordinary(10), Pooling(7, 5), Ordinary(CHANNELS))
NESTED: tuple[Block, ...] = (
    Bottleneck(8, (Ordinary(8), Pooling(5, 4))),
    Bottleneck(6, (Bottleneck(4, (Ordinary(4),)), Ordinary(5))),
)
PLAIN_ATTENTION = Attention(2, 2, 4, 4, Rope.THETA, 100.0)


class Kind(NamedTuple):
    """A network as a version of the format has it."""

    version: int
    data: NetworkData

    def tokens(self) -> list[Token]:
        return write_network(self.data, self.version).tokens


def random_kind(version: int, blocks: tuple[Block, ...] = CONVOLUTIONS, **fields: Any) -> Kind:
    """A random network of a version; `fields` are of the architecture."""
    inputs = INPUTS.get(version, KATAGO)
    four = fields.pop("q_values", False)
    scaling = fields.pop("scaling", Scaling(halved_errors=version >= HALVED_ERRORS_VERSION))
    kind = Activation.RELU if version < NAMED_ACTIVATIONS_VERSION else Activation.MISH
    usual: dict[str, Any] = {
        "activation": kind,
        "tip_activation": kind,
        "pass_hidden": MID if version >= PASS_LAYERS_VERSION else 0,
        "policy_outputs": policy_outputs(version)[-1 if four else 0],
    }
    architecture = Architecture(
        blocks,
        CHANNELS,
        planes=len(inputs.planes),
        globals=len(inputs.globals),
        policy_mid=MID,
        policy_pool=5,
        value_mid=6,
        value_hidden=9,
        score_outputs=score_outputs(version),
        **(usual | fields),
    )
    return Kind(version, random_data(architecture, scaling))


def random_data(architecture: Architecture, scaling: Scaling) -> NetworkData:
    """Weights drawn at random so that all outputs vary, the score by some points."""
    random = np.random.default_rng(7)
    weights = {}
    for name, shape, *_ in weights_of(architecture):
        values = random.normal(size=shape) / math.sqrt(math.prod(shape[1:]))
        if name.endswith((".scale", "norm.weight")):
            values = 1 + 0.3 * random.normal(size=shape)
        elif name.endswith(".variance"):
            values = random.uniform(0.5, 2.0, shape)
        elif name.endswith(".epsilon"):
            values = np.array(1e-4)
        elif name.endswith(".frequencies"):
            values = 0.5 * random.normal(size=shape)
        weights[name] = np.asarray(values, np.float32)
    return NetworkData("random", architecture, weights, scaling)


def without_norm_parts(kind: Kind, part: str, value: float) -> Kind:
    """The kind with norms whose scale or bias is not written."""
    weights = {
        name: np.full_like(values, value) if name.endswith(f"norm1.{part}") else values
        for name, values in kind.data.weights.items()
    }
    return kind._replace(data=replace(kind.data, weights=weights))


def with_one_pass_layer(version: int) -> Kind:
    """A network with one layer for the pass, and a second one in the file that does nothing."""
    kind = random_kind(version, pass_hidden=0)
    a, weights = kind.data.architecture, dict(kind.data.weights)
    empty = np.zeros((MID - a.policy_outputs, 3 * a.policy_pool), np.float32)
    weights["policy.pass1.weight"] = np.concatenate([weights["policy.pass1.weight"], empty])
    weights["policy.pass1.bias"] = np.zeros(MID, np.float32)
    weights["policy.pass2.weight"] = np.eye(a.policy_outputs, MID, dtype=np.float32)
    return kind._replace(data=replace(kind.data, weights=weights))


def all_kinds() -> Iterator[tuple[str, Kind]]:
    """Kinds by name: each version, and each option of the format in a version that has it."""
    newest = NEWEST_VERSION
    for version in (*INPUTS, *range(FIRST_V7_VERSION, newest + 1)):
        yield f"version {version}", random_kind(version)
    for version in (NAMED_ACTIVATIONS_VERSION, newest):
        for activation in Activation:
            kind = random_kind(version, NESTED, activation=activation, tip_activation=activation)
            yield f"version {version}, {activation}", kind
    yield "another activation at the tip", random_kind(newest, tip_activation=Activation.RELU)
    deep: Block = Ordinary(3)
    for mid in range(3, 6):
        deep = Bottleneck(mid, (deep,))
    yield "blocks in blocks in blocks", random_kind(newest, (deep,))
    for kernel in (1, 5, 7):
        yield f"first kernel {kernel}", random_kind(newest, first_kernel=kernel)
    for version in (PASS_LAYERS_VERSION, newest):
        yield f"one layer for the pass, version {version}", with_one_pass_layer(version)
        for spatial in (False, True):
            kind = random_kind(version, NESTED, tip_rms_norm=True, tip_spatial=spatial)
            yield f"RMS norm at the tip, spatial {spatial}, version {version}", kind
        areas = random_kind(version, features=KATAGO_WITH_SUICIDE_AREAS.name)
        yield f"suicide areas, version {version}", areas
        human = random_kind(version, NESTED, metadata_hidden1=7, metadata_hidden2=6)
        yield f"metadata, version {version}", human
    yield "Q values, version 17", random_kind(newest, q_values=True)
    for version in (SCALING_VERSION, newest):
        halved = version >= HALVED_ERRORS_VERSION
        scaling = Scaling(11.0, 12.0, 13.0, 14.0, 0.5, 16.0, halved_errors=halved)
        yield f"scaling, version {version}", random_kind(version, scaling=scaling)
    for part, value in (("scale", 1.0), ("bias", 0.0)):
        yield f"norms without {part}", without_norm_parts(random_kind(newest), part, value)
    yield from transformers()


def transformers() -> Iterator[tuple[str, Kind]]:
    newest = TRANSFORMER_VERSION
    silu = {"activation": Activation.SILU, "tip_activation": Activation.SILU}
    attentions = {
        "no rope": Attention(2, 2, 4, 4, Rope.NONE),
        "no rope, odd sizes": Attention(3, 1, 5, 3, Rope.NONE),
        "theta": PLAIN_ATTENTION,
        "theta, shared heads": Attention(6, 2, 8, 3, Rope.THETA, 137.5),
        "theta, odd number of pairs": Attention(2, 1, 6, 4, Rope.THETA, 50.0),
        "theta, one pair": Attention(2, 1, 2, 4, Rope.THETA, 50.0),
        "learned": Attention(2, 2, 4, 4, Rope.LEARNED),
        "learned, shared heads": Attention(4, 2, 6, 3, Rope.LEARNED),
    }
    for name, attention in attentions.items():
        for gated in (False, True):
            blocks = (attention, FeedForward(10, gated), attention, FeedForward(7, gated))
            tip = {"tip_rms_norm": gated, "tip_spatial": gated and "shared" in name}
            gates = "gated" if gated else "not gated"
            yield f"attention, {name}, {gates}", random_kind(newest, blocks, **silu, **tip)
    inner = Bottleneck(8, (Ordinary(8), PLAIN_ATTENTION, FeedForward(6, gated=True)))
    beside = (inner, PLAIN_ATTENTION, Pooling(6, 4), FeedForward(9, gated=True))
    yield "attention in and beside bottlenecks", random_kind(newest, beside, **silu)


KINDS = dict(all_kinds())
