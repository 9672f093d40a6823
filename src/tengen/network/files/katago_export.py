"""Tengen's networks as KataGo's: the inverse of `katago_import`."""

from __future__ import annotations

import gzip
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tengen.features.feature_set import FEATURE_SETS, KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.network import architecture as arch
from tengen.network.architecture import Activation, Architecture, Rope
from tengen.network.data import NetworkData, Scaling
from tengen.network.files import katago_format as kata
from tengen.network.files.errors import NetworkFileError, one_line
from tengen.network.files.katago_import import (
    ACTIVATION_PREFIX,
    BIAS_OF,
    FIRST_V7_VERSION,
    HALVED_ERRORS_VERSION,
    MULTIPLIERS,
    SCALING_VERSION,
)
from tengen.network.files.tengen_format import check_network, write_atomically

NAMED_ACTIVATIONS_VERSION = 11
SECOND_POLICY_VERSION = 12
PASS_LAYERS_VERSION = 15  # the first one with two layers for the pass, and they must be there
FOUR_POLICIES_VERSION = 16
TRANSFORMER_VERSION = 17
# Chosen where a network does not come from KataGo; 9 and 10 can do no more than 11.
PREFERRED_VERSIONS = (8, 11, 12, 13, 14, 15, 16, 17)
_UNFIT_FOR_NAMES = re.compile(r"[^!-?A-~]+")  # what is not visible ASCII, and @


def save_katago(data: NetworkData, path: str | Path) -> kata.KataGoModel:
    """Write a .bin.gz for KataGo and return what is in it; raises NetworkFileError."""
    path = Path(path)
    if not path.name.endswith(".bin.gz"):
        raise NetworkFileError(f"{path}: KataGo wants such a file to be named .bin.gz; rename it")
    model = to_katago(data)
    write_atomically(path, gzip.compress(kata.write_model(model), 6, mtime=0))
    return model


def to_katago(data: NetworkData) -> kata.KataGoModel:
    """Convert a network to KataGo's parts; raises NetworkFileError if its format has no room.

    From version 12 on a file has a second, optimistic policy; if the network has none, the plain
    one is repeated. From version 15 on the pass has two layers; if the network has one, the second
    is the identity.
    """
    name = one_line(data.name) or "the network"
    check_network(data, name)
    version = _choose_version(data, name)
    data = _without_empty_planes(data)
    if data.architecture.policy_outputs == 1 and version >= SECOND_POLICY_VERSION:
        data = _with_repeated_policy(data)
    return _Builder(data, version).model()


def _without_empty_planes(data: NetworkData) -> NetworkData:
    """Remove the weights of planes that were always empty in training: KataGo fills them."""
    features = FEATURE_SETS[data.architecture.features]
    unseen = [features.planes.index(plane) for plane in features.empty]
    first = data.weights["conv.weight"].copy()
    first[:, unseen] = 0
    return replace(data, weights={**data.weights, "conv.weight": first})


def _choose_version(data: NetworkData, name: str) -> int:
    """The version that the network came in, or the lowest one that can hold it."""
    came_in = data.provenance.get("katago_version", "")
    versions = range(FIRST_V7_VERSION, kata.NEWEST_VERSION + 1)
    first = [version for version in versions if str(version) == came_in]
    obstacle: str | None = None
    for version in (*first, *PREFERRED_VERSIONS):
        obstacle = _obstacle(data, version)
        if obstacle is None:
            return version
    other = "`tengen net export FILE --onnx OUT.onnx` writes any network"
    what = f"KataGo's format cannot hold this network: {obstacle}"
    raise NetworkFileError(f"{name}: {what}; {other}")


def _obstacle(data: NetworkData, version: int) -> str | None:
    """Why a version of the format cannot hold a network; None if it can."""
    a, scaling = data.architecture, data.scaling
    score_outputs = 4 if version == FIRST_V7_VERSION else 6
    has_errors = a.score_outputs == 6
    usual = Scaling(halved_errors=scaling.halved_errors)
    if not has_errors:  # then how errors are scaled does not matter
        usual = usual._replace(value_error=scaling.value_error, score_error=scaling.score_error)
    kinds = {a.activation, a.tip_activation}
    if a.features not in (KATAGO.name, KATAGO_WITHOUT_LADDERS.name):
        return f"its inputs are {a.features!r}, not {KATAGO.name!r}"
    if a.board_size or any(isinstance(block, arch.PostActivation) for block in a.blocks):
        return "its heads are for one board size, or its blocks are post-activation blocks"
    if a.score_outputs != score_outputs:
        return f"version {version} has {score_outputs} score outputs, not {a.score_outputs}"
    if version < NAMED_ACTIVATIONS_VERSION and (kinds != {Activation.RELU} or _nests(a)):
        return f"version {version} knows ReLU and plain blocks only"
    if a.policy_outputs not in _policy_outputs(version):
        return f"version {version} has no {a.policy_outputs} policy outputs"
    if version < SCALING_VERSION and scaling != usual:
        return f"version {version} has a fixed scaling"
    if has_errors and scaling.halved_errors != (version >= HALVED_ERRORS_VERSION):
        return f"version {version} computes its errors another way"
    if version < PASS_LAYERS_VERSION and a.pass_hidden:
        return f"version {version} has one layer for the pass"
    if version < TRANSFORMER_VERSION and (a.tip_rms_norm or _attends(a.blocks)):
        return f"version {version} has no transformers"
    return None


def _policy_outputs(version: int) -> tuple[int, ...]:
    if version < SECOND_POLICY_VERSION:
        return (1,)
    if version < FOUR_POLICIES_VERSION:
        return (1, 2)
    return (4,) if version == FOUR_POLICIES_VERSION else (1, 2, 4)


def _nests(a: Architecture) -> bool:
    return any(isinstance(block, arch.Bottleneck) for block in a.blocks)


def _attends(blocks: tuple[arch.Block, ...]) -> bool:
    return any(
        _attends(block.inner)
        if isinstance(block, arch.Bottleneck)
        else isinstance(block, arch.Attention | arch.FeedForward)
        for block in blocks
    )


def _with_repeated_policy(data: NetworkData) -> NetworkData:
    """The same network with its policy twice."""
    passing = "policy.pass2.weight" if data.architecture.pass_hidden else "policy.pass1.weight"
    weights = dict(data.weights)
    for name in ("policy.conv2.weight", passing):
        weights[name] = np.repeat(weights[name], 2, axis=0)
    architecture = replace(data.architecture, policy_outputs=2)
    return replace(data, architecture=architecture, weights=weights)


Part = TypeVar("Part")


class _Builder:
    """Builds the parts of a file from a network's weights, in the order of `katago_format`."""

    def __init__(self, data: NetworkData, version: int) -> None:
        self.a, self.weights, self.scaling = data.architecture, data.weights, data.scaling
        self.version = version
        self.name = _UNFIT_FOR_NAMES.sub("-", data.name).strip("-")[:100] or "tengen"

    def model(self) -> kata.KataGoModel:
        a, scaling = self.a, self.scaling
        header = {
            "version": self.version,
            "planes": a.planes,
            "globals": a.globals,
            "td_score_multiplier": 20.0,  # of an output that only training has
            **{theirs: getattr(scaling, ours) for ours, theirs in MULTIPLIERS.items()},
            "metadata_encoder": 0,
            "pass_alive": 0,
        }
        return self.part(kata.KataGoModel, "", self.name, header, {})

    def part(
        self,
        kind: Callable[..., Part],
        prefix: str,
        name: str,
        given: Mapping[str, Any],
        above: Mapping[str, Any],
    ) -> Part:
        """Build a part; fields that are not given come from the weights under a prefix."""
        values: dict[str, Any] = {}
        known = ChainMap(values, dict(above))
        for field, wanted, options in kata.layout(kind):
            conditions = [option for option in options if isinstance(option, kata.When)]
            if not all(c.condition(known, self.version) for c in conditions):
                values[field] = None
            elif field == "name":
                values[field] = name
            elif field in given:
                values[field] = given[field]
            elif lengths := [option for option in options if isinstance(option, kata.Length)]:
                values[field] = (0,) * lengths[0]
            else:
                values[field] = self.layer(wanted, f"{prefix}{field}", known)
        return kind(**values)

    def layer(self, kind: Any, name: str, known: Mapping[str, Any]) -> Any:
        """The layer or part of this kind that belongs to a field."""
        if kind is kata.Trunk:
            return self.part(kata.Trunk, "", "trunk", self.trunk_sizes(), known)
        if kind is kata.PolicyHead:
            given = {"channels": self.a.policy_outputs} | self.pass_layers()
            return self.part(kata.PolicyHead, "policy.", "policy", given, known)
        if kind is kata.ValueHead:
            return self.part(kata.ValueHead, "value.", "value", {}, known)
        if name == "blocks":
            return [self.block(f"blocks.{i}", b, known) for i, b in enumerate(self.a.blocks)]
        if kind is kata.Convolution:
            return self.convolution(name)
        if kind is kata.Matrix:
            return _matrix(name, self.weights[f"{name}.weight"].T)
        if kind is kata.BatchNorm:
            return self.norm("tip" if name == "tip_norm" else name)
        if kind is kata.RmsNorm:
            weight = self.weights[f"{name}.weight"]
            return kata.RmsNorm(name, len(weight), self.number(f"{name}.epsilon"), weight)
        if kind is kata.TipRmsNorm:
            weight, bias = self.weights["tip.norm.weight"], self.weights["tip.bias"]
            epsilon = self.number("tip.norm.epsilon")
            return kata.TipRmsNorm("tip", len(weight), epsilon, 0, 0, weight, bias)
        if kind is kata.Bias:
            part, _, field = name.rpartition(".")
            values = self.weights[f"{part}.{BIAS_OF[field]}.bias"]
            return kata.Bias(name, len(values), values)
        if kind is kata.Activation:
            which = self.a.tip_activation if name == "tip_act" else self.a.activation
            return self.activation(name, which)
        raise TypeError(f"{name}: no layer of the kind {kind}")

    def activation(self, name: str, kind: Activation) -> kata.Activation:
        named = self.version >= NAMED_ACTIVATIONS_VERSION
        return kata.Activation(name, f"{ACTIVATION_PREFIX}{kind.upper()}" if named else None)

    def convolution(self, name: str) -> kata.Convolution:
        weights = np.ascontiguousarray(self.weights[f"{name}.weight"].transpose(2, 3, 1, 0))
        height, width, inputs, outputs = weights.shape
        return kata.Convolution(name, height, width, inputs, outputs, 1, 1, weights)

    def norm(self, name: str) -> kata.BatchNorm:
        """A batch norm, without the scale and the bias where they change nothing."""
        mean, variance, scale, bias = (
            self.weights[f"{name}.{part}"] for part in ("mean", "variance", "scale", "bias")
        )
        has_scale, has_bias = bool((scale != 1).any()), bool(bias.any())
        return kata.BatchNorm(
            name,
            len(mean),
            self.number(f"{name}.epsilon"),
            has_scale,
            has_bias,
            mean,
            variance,
            scale if has_scale else None,
            bias if has_bias else None,
        )

    def number(self, name: str) -> float:
        """A weight without dimensions, in the fewest digits that give it back."""
        return float(str(self.weights[name][()]))

    def pass_layers(self) -> dict[str, Any]:
        """The layers to the pass where the format has one more than the network."""
        if self.a.pass_hidden or self.version < PASS_LAYERS_VERSION:
            return {}
        outputs = self.a.policy_outputs
        same = np.eye(outputs, dtype=np.float32)
        return {
            "pass_bias": kata.Bias("policy.pass_bias", outputs, np.zeros(outputs, np.float32)),
            "pass_act": self.activation("policy.pass_act", Activation.IDENTITY),
            "pass2": _matrix("policy.pass2", same),
        }

    def trunk_sizes(self) -> dict[str, Any]:
        """Sizes at the head of the trunk; KataGo checks that they add up and are positive."""
        flat = list(_flat(self.a.blocks))
        pooling = next((block for block in flat if isinstance(block, arch.Pooling)), None)
        mids = [block.mid for block in flat if isinstance(block, arch.Ordinary)]
        pool = pooling.pool if pooling else max(1, self.a.channels // 4)
        mid = mids[0] if mids else (pooling.mid + pool if pooling else self.a.channels)
        regular = pooling.mid if pooling else max(1, mid - pool)
        return {
            "n_blocks": len(self.a.blocks),
            "channels": self.a.channels,
            "mid_channels": mid,
            "regular_channels": regular,
            "dilated_channels": max(1, mid - regular),
            "pooling_channels": pool,
            "tip_norm_kind": int(self.a.tip_rms_norm),
        }

    def block(self, name: str, spec: arch.Block, known: Mapping[str, Any]) -> kata.Block:
        given: dict[str, Any] = {}
        kind: Any
        match spec:
            case arch.Ordinary():
                kind = kata.OrdinaryBlock
            case arch.Pooling():
                kind = kata.PoolingBlock
            case arch.Bottleneck():
                kind = kata.BottleneckBlock
                given["n_blocks"] = len(spec.inner)
                given["blocks"] = [
                    self.block(f"{name}.blocks.{i}", b, known) for i, b in enumerate(spec.inner)
                ]
            case arch.Attention():
                kind = kata.AttentionBlock
                given = self.attention(name, spec)
            case arch.FeedForward():
                kind = kata.FeedForwardBlock
                channels = self.weights[f"{name}.norm.weight"].size
                given = {"channels": channels, "hidden": spec.hidden, "gated": spec.gated}
        made: kata.Block = self.part(kind, f"{name}.", name, given, known)
        return made

    def attention(self, name: str, spec: arch.Attention) -> dict[str, Any]:
        given: dict[str, Any] = {
            "heads": spec.heads,
            "kv_heads": spec.kv_heads,
            "query_dim": spec.query_dim,
            "value_dim": spec.value_dim,
            "rope": spec.rope is not Rope.NONE,
            "learned_rope": spec.rope is Rope.LEARNED,
        }
        if spec.rope is Rope.LEARNED:
            values = self.weights[f"{name}.frequencies"]
            heads, pairs, axes = values.shape
            given["frequencies"] = kata.RopeFrequencies(f"{name}.rope", heads, pairs, axes, values)
        elif spec.rope is Rope.THETA:
            given["theta"] = kata.RopeTheta(f"{name}.rope", spec.theta)
        return given


def _matrix(name: str, weights: kata.Floats) -> kata.Matrix:
    """A matrix [inputs, outputs]."""
    inputs, outputs = weights.shape
    return kata.Matrix(name, inputs, outputs, np.ascontiguousarray(weights))


def _flat(blocks: tuple[arch.Block, ...]) -> list[arch.Block]:
    """All blocks, those within others too."""
    found: list[arch.Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, arch.Bottleneck):
            found += _flat(block.inner)
    return found
