"""KataGo's network files: their layout, walked in the same way for reading and for writing.

The name of a layer in a file is free; those of Tengen's weights are written.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tengen.features.feature_set import KATAGO, KATAGO_WITH_SUICIDE_AREAS
from tengen.features.human_profile import METADATA_INPUTS
from tengen.network import architecture as arch
from tengen.network.architecture import MAX_BLOCKS, MAX_NESTING, Activation, Architecture, Rope
from tengen.network.files.errors import one_line
from tengen.network.files.katago_older import INPUTS, OBSTACLES, as_version_8, with_halved_errors
from tengen.network.files.katago_tokens import TokenReader, Tokens, TokenWriter
from tengen.network.files.tengen_format import check_network
from tengen.network.network_data import NetworkData, Scaling, Weights

OLDEST_VERSION, NEWEST_VERSION = 3, 17
FIRST_V7_VERSION = 8  # older versions have other inputs
PLAIN_ERRORS_VERSION = 9  # the only one whose errors are not roots
NAMED_ACTIVATIONS_VERSION = 11
SECOND_POLICY_VERSION = 12
SCALING_VERSION = 13  # the first one that writes its scaling
HALVED_ERRORS_VERSION = 14  # the first one that squares softplus(x / 2)
PASS_LAYERS_VERSION = 15  # the first one with two layers for the pass, and with room for kinds
FOUR_POLICIES_VERSION = 16
TRANSFORMER_VERSION = 17

ACTIVATION_PREFIX = "ACTIVATION_"
MAX_RMS_EPSILON = 1.0
TD_SCORE_MULTIPLIER = 20.0  # of an output that only training has
BLOCK_KINDS: dict[str, type[arch.Block]] = {
    "ordinary_block": arch.Ordinary,
    "gpool_block": arch.Pooling,
    "nested_bottleneck_block": arch.Bottleneck,
    "transformer_attention_block": arch.Attention,
    "transformer_ffn_block": arch.FeedForward,
}


def policy_outputs(version: int) -> tuple[int, ...]:
    """The numbers of policy outputs that a version can have: a plain and an optimistic one, ..."""
    if version < SECOND_POLICY_VERSION:
        return (1,)
    if version < FOUR_POLICIES_VERSION:
        return (2,)
    return (4,) if version == FOUR_POLICIES_VERSION else (2, 4)


def score_outputs(version: int) -> int:
    """The number of score outputs of a version."""
    if version < FIRST_V7_VERSION:
        return 1 if version == OLDEST_VERSION else 2
    return 4 if version == FIRST_V7_VERSION else 6


def read_network(content: bytes, source: str) -> NetworkData:
    """Convert the bytes of a file, not compressed; raises NetworkFileError."""
    reader = TokenReader(content, source)
    data = _Layout(reader, {}).network()
    reader.end()
    version = int(data.provenance["katago_version"])
    if version < FIRST_V7_VERSION:
        data = as_version_8(data, version)
    elif version == PLAIN_ERRORS_VERSION:
        data = with_halved_errors(data)
    check_network(data, f"{source}: {data.name}")
    return data


def write_network(data: NetworkData, version: int) -> TokenWriter:
    """Write a network that a version has room for as tokens."""
    writer = TokenWriter()
    _Layout(writer, dict(data.weights)).network(data, version)
    return writer


class _TrunkSizes(NamedTuple):
    """Sizes at the head of the trunk; KataGo wants all but one positive, and uses none."""

    mid: int
    regular: int
    dilated: int
    pooling: int

    @classmethod
    def of(cls, a: Architecture) -> _TrunkSizes:
        flat = list(arch.flat_blocks(a.blocks))
        pooling = next((block for block in flat if isinstance(block, arch.Pooling)), None)
        mids = [block.mid for block in flat if isinstance(block, arch.Ordinary)]
        pool = pooling.pool if pooling else max(1, a.channels // 4)
        mid = mids[0] if mids else (pooling.mid + pool if pooling else a.channels)
        regular = pooling.mid if pooling else max(1, mid - pool)
        return cls(mid, regular, max(1, mid - regular), pool)


class _Layout:
    """Walks over a file. Where a method is given a part of a network, that is what is written.

    A reader gives none, and each method returns what it found. Weights are taken from, or go to,
    one dictionary.
    """

    def __init__(self, tokens: Tokens, weights: Weights) -> None:
        self.tokens, self.weights = tokens, weights
        self.version = self.blocks = 0
        self.kind: Activation | None = None  # of blocks and heads, known after the first one

    def network(self, given: NetworkData | None = None, version: int | None = None) -> NetworkData:
        tokens = self.tokens
        a = given.architecture if given else None
        name = one_line(tokens.text("name", given.name if given else None))
        self.version = tokens.size("version", version)
        if not OLDEST_VERSION <= self.version <= NEWEST_VERSION:
            known = f"but versions {OLDEST_VERSION} to {NEWEST_VERSION} can be read"
            remedy = "name another file or update Tengen"
            raise tokens.error(f"model version {self.version}, {known}", remedy)
        if self.version in OBSTACLES:
            what = f"model version {self.version} cannot be run: {OBSTACLES[self.version]}"
            raise tokens.error(f"{name}: {what}", "name a network of version 6 or later")
        inputs = INPUTS.get(self.version, KATAGO)
        planes = tokens.known("planes", len(inputs.planes))
        globals_ = tokens.known("globals", len(inputs.globals))
        scaling = self.scaling(given.scaling if given else None)
        features, imitates = KATAGO, False
        if self.version >= PASS_LAYERS_VERSION:
            imitates = tokens.flag("metadata encoder", bool(a.metadata_hidden1) if a else None)
            asked = a.features == KATAGO_WITH_SUICIDE_AREAS.name if a else None
            if tokens.flag("areas as if suicide were legal", asked):
                features = KATAGO_WITH_SUICIDE_AREAS
            self.reserved("header", 6)
        self.kind = a.activation if a else None
        trunk = self.trunk(planes, globals_, imitates, a)
        policy = self.policy(trunk, a)
        architecture = self.value(policy)
        assert self.kind is not None
        return NetworkData(
            name,
            replace(architecture, features=features.name, activation=self.kind),
            self.weights,
            scaling,
            {"origin": "KataGo", "katago_version": str(self.version)},
        )

    def scaling(self, given: Scaling | None) -> Scaling:
        usual = Scaling(halved_errors=self.version >= HALVED_ERRORS_VERSION)
        if self.version < SCALING_VERSION:
            return usual
        self.tokens.positive("td score multiplier", TD_SCORE_MULTIPLIER)
        factors = {
            name: self.tokens.positive(f"{name} multiplier", getattr(given, name, None))
            for name in Scaling._fields[:-1]
        }
        return Scaling(**factors, halved_errors=usual.halved_errors)

    # The parts of a network

    def trunk(
        self, planes: int, globals_: int, imitates: bool, a: Architecture | None
    ) -> Architecture:
        tokens = self.tokens
        tokens.text("trunk", "trunk")
        count = tokens.size("trunk: blocks", len(a.blocks) if a else None)
        channels = tokens.size("trunk: channels", a.channels if a else None)
        for field, value in (_TrunkSizes.of(a)._asdict() if a else _NO_SIZES).items():
            if not tokens.size(f"trunk: {field} channels", value) and field != "dilated":
                raise tokens.error(f"trunk: {field} channels are 0")
        rms_norm = spatial = False
        if self.version >= PASS_LAYERS_VERSION:
            rms_norm = tokens.flag("trunk: kind of tip norm", a.tip_rms_norm if a else None)
            self.reserved("trunk", 5)
        first_kernel = self.convolution("conv", planes, None, channels)[1]
        self.matrix("globals", globals_, channels)
        metadata = self.metadata(channels) if imitates else (0, 0)
        blocks = self.block_list("", channels, count, a.blocks if a else None, MAX_NESTING)
        if rms_norm:
            tokens.text("tip", "tip")
            tokens.known("tip: channels", channels)
            self.epsilon("tip.norm", MAX_RMS_EPSILON)
            spatial = tokens.flag("tip: spatial", a.tip_spatial if a else None)
            tokens.known("tip: size of groups", 0)
            self.array("tip.norm.weight", (channels,))
            self.array("tip.bias", (channels,))
        else:
            self.norm("tip", channels)
        tip_activation = self.named_activation("tip_act", a.tip_activation if a else None)
        return Architecture(
            blocks,
            channels,
            planes=planes,
            globals=globals_,
            metadata_hidden1=metadata[0],
            metadata_hidden2=metadata[1],
            first_kernel=first_kernel,
            tip_activation=tip_activation,
            tip_rms_norm=rms_norm,
            tip_spatial=spatial,
        )

    def metadata(self, channels: int) -> tuple[int, int]:
        """The layers for who plays; returns the sizes of the hidden ones."""
        self.tokens.text("metadata", "metadata")
        hidden = [self.tokens.known("metadata: inputs", METADATA_INPUTS)]
        for layer in (1, 2):
            hidden.append(self.matrix(f"metadata.linear{layer}", hidden[-1]))
            self.bias(f"metadata.linear{layer}", hidden[-1])
            self.activation(f"metadata.act{layer}")
        self.matrix("metadata.linear3", hidden[-1], channels)
        return hidden[1], hidden[2]

    def policy(self, trunk: Architecture, a: Architecture | None) -> Architecture:
        tokens, channels = self.tokens, trunk.channels
        tokens.text("policy", "policy")
        outputs = a.policy_outputs if a else None
        if self.version >= TRANSFORMER_VERSION:
            outputs = tokens.size("policy: outputs", outputs)
            self.reserved("policy", 3)
        mid, _ = self.convolution("policy.conv1", channels, 1)
        pool, _ = self.convolution("policy.conv_pool", channels, 1)
        self.norm("policy.norm_pool", pool)
        self.activation("policy.act_pool")
        self.matrix("policy.pool_to_bias", 3 * pool, mid)
        self.norm("policy.norm1", mid)
        self.activation("policy.act1")
        outputs, _ = self.convolution("policy.conv2", mid, 1, outputs)
        if outputs not in policy_outputs(self.version):
            raise tokens.error(f"version {self.version} has no {outputs} policy outputs")
        hidden = 0
        if self.version < PASS_LAYERS_VERSION:
            self.matrix("policy.pass1", 3 * pool, outputs)
        else:
            self.matrix("policy.pass1", 3 * pool, mid)  # KataGo has no other size for it
            hidden = self.pass_layers(mid, outputs, bool(a and not a.pass_hidden))
        return replace(
            trunk,
            policy_mid=mid,
            policy_pool=pool,
            policy_outputs=outputs,
            pass_hidden=hidden,
        )

    def pass_layers(self, hidden: int, outputs: int, padded: bool) -> int:
        """What follows the first matrix for the pass; `padded` ones compute nothing.

        Such layers are merged when they are read. Returns the hidden layer's size, or 0 if merged.
        """
        self.bias("policy.pass1", hidden)
        kind = self.named_activation(
            "policy.pass_act", Activation.IDENTITY if padded else self.kind
        )
        self.matrix("policy.pass2", hidden, outputs)
        first, bias = self.weights["policy.pass1.weight"], self.weights["policy.pass1.bias"]
        if kind is not Activation.IDENTITY or bias.any():
            self.check_activation("policy.pass_act", kind)
            return hidden
        if not padded:
            del self.weights["policy.pass1.bias"]
            self.weights["policy.pass1.weight"] = self.weights.pop("policy.pass2.weight") @ first
        return 0

    def value(self, policy: Architecture) -> Architecture:
        self.tokens.text("value", "value")
        if self.version >= TRANSFORMER_VERSION:
            self.reserved("value", 3)
        mid, _ = self.convolution("value.conv1", policy.channels, 1)
        self.norm("value.norm1", mid)
        self.activation("value.act1")
        hidden = self.matrix("value.linear2", 3 * mid)
        self.bias("value.linear2", hidden)
        self.activation("value.act2")
        scores = score_outputs(self.version)
        for name, outputs in (("value.value", 3), ("value.score", scores)):
            self.matrix(name, hidden, outputs)
            self.bias(name, outputs)
        self.convolution("value.ownership", mid, 1, 1)
        return replace(policy, value_mid=mid, value_hidden=hidden, score_outputs=scores)

    # Blocks

    def block_list(
        self,
        prefix: str,
        channels: int,
        count: int,
        given: tuple[arch.Block, ...] | None,
        levels: int,
    ) -> tuple[arch.Block, ...]:
        """Blocks, which may hold further ones in so many levels."""
        if levels == 0:
            raise self.tokens.error("blocks nested too deeply")
        return tuple(
            self.block(f"{prefix}blocks.{i}", channels, given[i] if given else None, levels)
            for i in range(count)
        )

    def block(self, name: str, channels: int, given: arch.Block | None, levels: int) -> arch.Block:
        words = {kind: word for word, kind in BLOCK_KINDS.items()}
        word = self.tokens.text(f"{name}: kind", words[type(given)] if given else None)
        if word not in BLOCK_KINDS:
            raise self.tokens.error(f"unknown kind of block {one_line(word[:40])!r}")
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            raise self.tokens.error(f"more than {MAX_BLOCKS:,} blocks")
        self.tokens.text(name, name)
        kind = BLOCK_KINDS[word]
        if kind is arch.Attention:
            assert given is None or isinstance(given, arch.Attention)
            return self.attention(name, channels, given)
        if kind is arch.FeedForward:
            assert given is None or isinstance(given, arch.FeedForward)
            return self.feed_forward(name, channels, given)
        if kind is arch.Bottleneck:
            assert given is None or isinstance(given, arch.Bottleneck)
            return self.bottleneck(name, channels, given, levels)
        self.norm(f"{name}.norm1", channels)
        self.activation(f"{name}.act1")
        mid, _ = self.convolution(f"{name}.conv1", channels, 3)
        pool = 0
        if kind is arch.Pooling:
            pool, _ = self.convolution(f"{name}.conv_pool", channels, 3)
            self.norm(f"{name}.norm_pool", pool)
            self.activation(f"{name}.act_pool")
            self.matrix(f"{name}.pool_to_bias", 3 * pool, mid)
        self.norm(f"{name}.norm2", mid)
        self.activation(f"{name}.act2")
        self.convolution(f"{name}.conv2", mid, 3, channels)
        return arch.Pooling(mid, pool) if pool else arch.Ordinary(mid)

    def bottleneck(
        self, name: str, channels: int, given: arch.Bottleneck | None, levels: int
    ) -> arch.Bottleneck:
        inner = given.inner if given else None
        count = self.tokens.size(f"{name}: blocks", len(inner) if inner else None)
        self.norm(f"{name}.norm1", channels)
        self.activation(f"{name}.act1")
        mid, _ = self.convolution(f"{name}.conv1", channels, 1)
        blocks = self.block_list(f"{name}.", mid, count, inner, levels - 1)
        self.norm(f"{name}.norm2", mid)
        self.activation(f"{name}.act2")
        self.convolution(f"{name}.conv2", mid, 1, channels)
        return arch.Bottleneck(mid, blocks)

    def attention(self, name: str, channels: int, given: arch.Attention | None) -> arch.Attention:
        heads, kv_heads, queries, values = (
            self.tokens.size(f"{name}: {field}", getattr(given, field, None))
            for field in ("heads", "kv_heads", "query_dim", "value_dim")
        )
        rope = given.rope if given else None
        turns = self.tokens.flag(f"{name}: rope", None if rope is None else rope is not Rope.NONE)
        learned = self.tokens.flag(
            f"{name}: learned rope", None if rope is None else rope is Rope.LEARNED
        )
        self.rms_norm(f"{name}.norm", channels)
        self.matrix(f"{name}.query", channels, heads * queries)
        self.matrix(f"{name}.key", channels, kv_heads * queries)
        self.matrix(f"{name}.value", channels, kv_heads * values)
        self.matrix(f"{name}.out", heads * values, channels)
        theta = arch.Attention.theta
        if turns:
            self.tokens.text(f"{name}.rope", f"{name}.rope")
            if learned:
                shape = (kv_heads, queries // 2, 2)
                for what, size in zip(("heads", "pairs", "axes"), shape, strict=True):
                    self.tokens.known(f"{name}.rope: {what}", size)
                self.array(f"{name}.frequencies", shape)
            else:
                theta = self.tokens.number(f"{name}.rope: theta", given.theta if given else None)
        kind = Rope.NONE if not turns else Rope.LEARNED if learned else Rope.THETA
        return arch.Attention(heads, kv_heads, queries, values, kind, theta)

    def feed_forward(
        self, name: str, channels: int, given: arch.FeedForward | None
    ) -> arch.FeedForward:
        self.tokens.known(f"{name}: channels", channels)
        hidden = self.tokens.size(f"{name}: hidden", given.hidden if given else None)
        gated = self.tokens.flag(f"{name}: gated", given.gated if given else None)
        self.rms_norm(f"{name}.norm", channels)
        self.matrix(f"{name}.linear1", channels, hidden)
        if gated:
            self.matrix(f"{name}.gate", channels, hidden)
        self.matrix(f"{name}.linear2", hidden, channels)
        return arch.FeedForward(hidden, gated)

    # Layers

    def convolution(
        self, name: str, inputs: int, kernel: int | None, outputs: int | None = None
    ) -> tuple[int, int]:
        """A convolution whose kernel and outputs may be known; returns outputs and kernel."""
        weight = self.weights.get(f"{name}.weight")  # [outputs, inputs, kernel, kernel]
        tokens = self.tokens
        tokens.text(name, name)
        if kernel is None:
            kernel = tokens.size(f"{name}: height", None if weight is None else weight.shape[2])
        else:
            tokens.known(f"{name}: height", kernel)
        tokens.known(f"{name}: width", kernel)
        tokens.known(f"{name}: inputs", inputs)
        outputs = self.outputs(name, outputs)
        tokens.known(f"{name}: dilation y", 1)
        tokens.known(f"{name}: dilation x", 1)
        self.array(f"{name}.weight", (kernel, kernel, inputs, outputs), (3, 2, 0, 1))
        return outputs, kernel

    def matrix(self, name: str, inputs: int, outputs: int | None = None) -> int:
        """A matrix whose outputs may be known; returns them."""
        self.tokens.text(name, name)
        self.tokens.known(f"{name}: inputs", inputs)
        outputs = self.outputs(name, outputs)
        self.array(f"{name}.weight", (inputs, outputs), (1, 0))
        return outputs

    def outputs(self, name: str, known: int | None) -> int:
        if known is not None:
            return self.tokens.known(f"{name}: outputs", known)
        weight = self.weights.get(f"{name}.weight")
        return self.tokens.size(f"{name}: outputs", None if weight is None else len(weight))

    def bias(self, name: str, channels: int) -> None:
        self.tokens.text(f"{name}.bias", f"{name}.bias")
        self.tokens.known(f"{name}.bias: channels", channels)
        self.array(f"{name}.bias", (channels,))

    def norm(self, name: str, channels: int) -> None:
        """A batch norm; scale and bias are not written where they change nothing."""
        self.tokens.text(name, name)
        self.tokens.known(f"{name}: channels", channels)
        self.epsilon(name)
        usual = {"scale": np.ones(channels, np.float32), "bias": np.zeros(channels, np.float32)}
        present = []
        for part, value in usual.items():
            given = self.weights.get(f"{name}.{part}")
            matters = None if given is None else bool((given != value).any())
            if self.tokens.flag(f"{name}: has {part}", matters):
                present.append(part)
        for part in ("mean", "variance", *present):
            self.array(f"{name}.{part}", (channels,))
        for part, value in usual.items():
            self.weights.setdefault(f"{name}.{part}", value)

    def rms_norm(self, name: str, channels: int) -> None:
        self.tokens.text(name, name)
        self.tokens.known(f"{name}: channels", channels)
        self.epsilon(name, MAX_RMS_EPSILON)
        self.array(f"{name}.weight", (channels,))

    def activation(self, name: str) -> None:
        """An activation of blocks and heads, which all have the same."""
        self.check_activation(name, self.named_activation(name, self.kind))

    def check_activation(self, name: str, kind: Activation) -> None:
        if self.kind not in (None, kind):
            raise self.tokens.error(f"{name}: mixes activations: {self.kind}, {kind}")
        self.kind = kind

    def named_activation(self, name: str, kind: Activation | None) -> Activation:
        self.tokens.text(name, name)
        if self.version < NAMED_ACTIVATIONS_VERSION:
            return Activation.RELU
        given = f"{ACTIVATION_PREFIX}{kind.upper()}" if kind else None
        word = self.tokens.text(f"{name}: activation", given)
        known = {f"{ACTIVATION_PREFIX}{kind.upper()}": kind for kind in Activation}
        if word not in known:
            raise self.tokens.error(f"{name}: unknown activation {one_line(word[:40])!r}")
        return known[word]

    # Numbers

    def reserved(self, part: str, count: int) -> None:
        """Numbers without a meaning yet, which are 0."""
        for i in range(count):
            self.tokens.known(f"{part}: reserved {i + 1}", 0)

    def epsilon(self, norm: str, most: float = math.inf) -> None:
        """The epsilon of a norm, in the fewest digits that give it back."""
        name = f"{norm}.epsilon"
        given = self.weights.get(name)
        value = None if given is None else float(str(given[()]))
        self.weights[name] = np.array(self.tokens.positive(name, value, most), np.float32)

    def array(self, name: str, shape: tuple[int, ...], axes: tuple[int, ...] = (0, 1, 2)) -> None:
        """A weight of this shape in the file, whose axes here are these of the file's."""
        axes = axes[: len(shape)]
        given = self.weights.get(name)
        if given is not None:
            given = np.ascontiguousarray(given.transpose(np.argsort(axes)))
        found = self.tokens.floats(name, shape, given)
        self.weights[name] = np.ascontiguousarray(found.transpose(axes))


_NO_SIZES: dict[str, int | None] = dict.fromkeys(_TrunkSizes._fields)
