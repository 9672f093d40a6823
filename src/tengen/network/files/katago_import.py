"""KataGo's networks as Tengen's data: which of its layers is which weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from tengen.network import architecture as arch
from tengen.network.architecture import Activation, Architecture, Rope
from tengen.network.data import NetworkData, Scaling, Weights
from tengen.network.files import katago_format as kata
from tengen.network.files.errors import NetworkFileError, one_line
from tengen.network.files.katago_older import (
    PLAIN_ERRORS,
    PLAIN_ERRORS_VERSION,
    with_halved_errors,
    with_v7_inputs,
)
from tengen.network.files.tengen_format import check_network

ACTIVATION_PREFIX = "ACTIVATION_"
FIRST_V7_VERSION = 8  # older versions have other inputs
HALVED_ERRORS_VERSION = 14  # the first one that squares softplus(x / 2)
SCALING_VERSION = 13  # the first one that writes its scaling
MULTIPLIERS = {name: f"{name}_multiplier" for name in Scaling._fields[:-1]}  # by our names


def from_katago(model: kata.KataGoModel) -> NetworkData:
    """Convert a KataGo network; raises NetworkFileError for one that cannot be run."""
    name = one_line(model.name)
    if model.metadata_encoder:
        raise NetworkFileError(f"{name}: networks that imitate people cannot be run; name another")
    model = replace(model, name=name, policy=_with_plain_pass(model.policy))
    if model.version < FIRST_V7_VERSION:
        model = with_v7_inputs(model)
    elif model.version == PLAIN_ERRORS_VERSION:
        model = with_halved_errors(model)
    trunk = model.trunk
    weights: Weights = {}
    weights.update(_layer("conv", trunk.conv))
    weights.update(_layer("globals", trunk.globals))
    for i, block in enumerate(trunk.blocks):
        weights.update(_part(f"blocks.{i}", block))
    weights.update(_layer("tip", trunk.tip_norm or trunk.tip_rms_norm))
    weights.update(_part("policy", model.policy))
    weights.update(_part("value", model.value))
    provenance = {"origin": "KataGo", "katago_version": str(model.version)}
    data = NetworkData(name, _architecture(model), weights, _scaling(model), provenance)
    check_network(data, name)
    return data


def _with_plain_pass(policy: kata.PolicyHead) -> kata.PolicyHead:
    """Merge the two matrices for the pass, which versions since 15 need, if nothing is between."""
    bias, act, pass2 = policy.pass_bias, policy.pass_act, policy.pass2
    if bias is None or act is None or pass2 is None or policy.pass1.outputs != pass2.inputs:
        return policy
    if act.kind != f"{ACTIVATION_PREFIX}IDENTITY" or bias.values.any():
        return policy
    weights = policy.pass1.weights @ pass2.weights
    pass1 = replace(policy.pass1, outputs=pass2.outputs, weights=weights)
    return replace(policy, pass1=pass1, pass_bias=None, pass_act=None, pass2=None)


def _scaling(model: kata.KataGoModel) -> Scaling:
    if model.version == PLAIN_ERRORS_VERSION:
        return PLAIN_ERRORS
    halved = model.version >= HALVED_ERRORS_VERSION
    if model.version < SCALING_VERSION:
        return Scaling(halved_errors=halved)
    factors = {ours: getattr(model, theirs) for ours, theirs in MULTIPLIERS.items()}
    return Scaling(**factors, halved_errors=halved)


def _architecture(model: kata.KataGoModel) -> Architecture:
    trunk, policy, value = model.trunk, model.policy, model.value
    kinds = {_activation(act) for act in _activations([trunk.blocks, policy, value])}
    if len(kinds) != 1:
        raise NetworkFileError(f"{model.name}: mixes activations: {', '.join(sorted(kinds))}")
    return Architecture(
        blocks=tuple(_block(block) for block in trunk.blocks),
        channels=trunk.channels,
        planes=model.planes,
        globals=model.globals,
        first_kernel=trunk.conv.height,
        activation=kinds.pop(),
        tip_activation=_activation(trunk.tip_act),
        tip_rms_norm=trunk.tip_rms_norm is not None,
        policy_mid=policy.conv1.outputs,
        policy_pool=policy.conv_pool.outputs,
        policy_outputs=policy.conv2.outputs,
        pass_hidden=policy.pass1.outputs if policy.pass2 is not None else 0,
        value_mid=value.conv1.outputs,
        value_hidden=value.linear2.outputs,
        score_outputs=value.score.outputs,
    )


def _activations(part: Any) -> Iterator[kata.Activation]:
    """All activation layers within a part."""
    if isinstance(part, kata.Activation):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from _activations(inner)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _activations(getattr(part, field.name))


def _activation(layer: kata.Activation) -> Activation:
    if layer.kind is None:
        return Activation.RELU
    try:
        return Activation(layer.kind.removeprefix(ACTIVATION_PREFIX).lower())
    except ValueError:
        what = f"unknown activation {one_line(layer.kind[:40])!r}"
        raise NetworkFileError(f"{one_line(layer.name)}: {what}") from None


def _block(block: kata.Block) -> arch.Block:
    match block:
        case kata.OrdinaryBlock():
            return arch.Ordinary(block.conv1.outputs)
        case kata.PoolingBlock():
            return arch.Pooling(block.conv1.outputs, block.conv_pool.outputs)
        case kata.BottleneckBlock():
            return arch.Bottleneck(block.conv1.outputs, tuple(map(_block, block.blocks)))
        case kata.AttentionBlock():
            dims = (block.heads, block.kv_heads, block.query_dim, block.value_dim)
            if not block.rope:
                return arch.Attention(*dims, Rope.NONE)
            if block.theta is None:
                return arch.Attention(*dims, Rope.LEARNED)
            return arch.Attention(*dims, Rope.THETA, block.theta.value)
        case kata.FeedForwardBlock():
            return arch.FeedForward(block.hidden, block.gated)


# KataGo's bias layers, by the layer that has the bias here.
BIAS_OF = {"pass_bias": "pass1", "bias2": "linear2", "value_bias": "value", "score_bias": "score"}


def _part(name: str, part: Any) -> Weights:
    """The weights of all layers of a block or head, named after its fields."""
    weights: Weights = {}
    for field in fields(part):
        layer = getattr(part, field.name)
        if field.name == "blocks":
            for i, block in enumerate(layer):
                weights.update(_part(f"{name}.blocks.{i}", block))
        elif isinstance(layer, kata.Bias):
            weights[f"{name}.{BIAS_OF[field.name]}.bias"] = layer.values
        elif isinstance(layer, kata.RopeFrequencies):
            weights[f"{name}.frequencies"] = layer.values
        else:
            weights.update(_layer(f"{name}.{field.name}", layer))
    return weights


def _layer(name: str, layer: Any) -> Weights:
    """The weights of one layer; none for fields that are not layers with weights."""
    match layer:
        case kata.Convolution():
            if (layer.dilation_y, layer.dilation_x) != (1, 1):
                raise NetworkFileError(f"{one_line(layer.name)}: dilated convolutions are not run")
            return {f"{name}.weight": np.ascontiguousarray(layer.weights.transpose(3, 2, 0, 1))}
        case kata.Matrix():
            return {f"{name}.weight": np.ascontiguousarray(layer.weights.T)}
        case kata.BatchNorm():
            channels = layer.channels
            scale, bias = layer.scale, layer.bias
            return {
                f"{name}.mean": layer.mean,
                f"{name}.variance": layer.variance,
                f"{name}.epsilon": np.array(layer.epsilon, np.float32),
                f"{name}.scale": np.ones(channels, np.float32) if scale is None else scale,
                f"{name}.bias": np.zeros(channels, np.float32) if bias is None else bias,
            }
        case kata.RmsNorm():
            return {
                f"{name}.weight": layer.weights,
                f"{name}.epsilon": np.array(layer.epsilon, np.float32),
            }
        case kata.TipRmsNorm():
            return {
                f"{name}.norm.weight": layer.weights,
                f"{name}.norm.epsilon": np.array(layer.epsilon, np.float32),
                f"{name}.bias": layer.bias,
            }
    return {}
