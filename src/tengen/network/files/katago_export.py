"""Tengen's networks made ready for KataGo's format: the version, and what that version demands."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from tengen.features.feature_set import (
    FEATURE_SETS,
    KATAGO,
    KATAGO_OLDER,
    KATAGO_WITH_SUICIDE_AREAS,
    KATAGO_WITHOUT_LADDERS,
)
from tengen.network import architecture as arch
from tengen.network.architecture import Activation
from tengen.network.files import katago_format as kata
from tengen.network.files.errors import NetworkFileError, one_line
from tengen.network.files.katago_older import PLAIN_ERRORS, with_plain_errors
from tengen.network.files.katago_tokens import Token, as_bytes
from tengen.network.files.tengen_format import check_network, write_atomically
from tengen.network.network_data import NetworkData, Scaling

# Chosen where a network does not come from KataGo; 9 and 10 can do no more than 11.
PREFERRED_VERSIONS = (8, 11, 12, 13, 14, 15, 16, 17)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,96}")  # KataGo refuses networks of other names


def save_katago(data: NetworkData, path: str | Path) -> int:
    """Write a .bin.gz for KataGo and return its version; raises NetworkFileError."""
    path = Path(path)
    if not path.name.endswith(".bin.gz"):
        raise NetworkFileError(f"{path}: KataGo wants such a file to be named .bin.gz; rename it")
    version, tokens = to_katago(data)
    write_atomically(path, gzip.compress(as_bytes(tokens), 6, mtime=0))
    return version


def to_katago(data: NetworkData) -> tuple[int, list[Token]]:
    """A network's version and tokens in KataGo's format; raises NetworkFileError if it has no room.

    From version 12 on a file has a second, optimistic policy; if the network has none, the plain
    one is repeated. From version 15 on the pass has two layers; if the network has one, the second
    is the identity.
    """
    name = one_line(data.name) or "the network"
    check_network(data, name)
    if not _NAME.fullmatch(data.name):
        only = "1 to 96 letters, digits, hyphens and underscores"
        what = f"KataGo refuses this name; it wants {only}"
        raise NetworkFileError(f"{name}: {what}; name it with --name")
    version = _choose_version(data, name)
    data = _without_empty_planes(data)
    if data.architecture.policy_outputs == 1 and version >= kata.SECOND_POLICY_VERSION:
        data = _with_repeated_policy(data)
    if version == kata.PLAIN_ERRORS_VERSION:
        data = with_plain_errors(data)
    if version >= kata.PASS_LAYERS_VERSION and not data.architecture.pass_hidden:
        data = _with_second_pass_layer(data)
    return version, kata.write_network(data, version).tokens


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
    versions = range(kata.FIRST_V7_VERSION, kata.NEWEST_VERSION + 1)
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
    score_outputs, policies = kata.score_outputs(version), kata.policy_outputs(version)
    has_errors = a.score_outputs == 6
    usual = Scaling(halved_errors=scaling.halved_errors)
    if not has_errors:  # then how errors are scaled does not matter
        usual = usual._replace(value_error=scaling.value_error, score_error=scaling.score_error)
    kinds = {a.activation, a.tip_activation}
    blocks = {type(block) for block in arch.flat_blocks(a.blocks)}
    sets = KATAGO, KATAGO_WITHOUT_LADDERS, KATAGO_WITH_SUICIDE_AREAS, KATAGO_OLDER
    if a.features not in (features.name for features in sets):
        return f"its inputs are {a.features!r}, not {KATAGO.name!r}"
    if a.trunk:
        return f"its trunk, {a.trunk!r}, is a torch module of one's own"
    if a.board_size or arch.PostActivation in blocks:
        return "its heads are for one board size, or its blocks are post-activation blocks"
    if a.score_outputs != score_outputs:
        return f"version {version} has {score_outputs} score outputs, not {a.score_outputs}"
    if version < kata.NAMED_ACTIVATIONS_VERSION and (
        kinds != {Activation.RELU} or arch.Bottleneck in blocks
    ):
        return f"version {version} knows ReLU and plain blocks only"
    if a.policy_outputs not in policies and (a.policy_outputs, policies[0]) != (1, 2):
        return f"version {version} has no {a.policy_outputs} policy outputs"
    if version == kata.PLAIN_ERRORS_VERSION:
        usual = PLAIN_ERRORS
    if version < kata.SCALING_VERSION and scaling != usual:
        return f"version {version} has a fixed scaling"
    halved = version >= kata.HALVED_ERRORS_VERSION or version == kata.PLAIN_ERRORS_VERSION
    if has_errors and scaling.halved_errors != halved:
        return f"version {version} computes its errors another way"
    if version < kata.PASS_LAYERS_VERSION and a.pass_hidden:
        return f"version {version} has one layer for the pass"
    if version < kata.PASS_LAYERS_VERSION and (
        a.metadata_hidden1 or a.tip_rms_norm or a.features == KATAGO_WITH_SUICIDE_AREAS.name
    ):
        return f"version {version} has no metadata, RMS norms or choice of areas"
    if a.pass_hidden and a.pass_hidden != a.policy_mid:
        return f"its layers for the pass have {a.pass_hidden} channels, not {a.policy_mid}"
    if version < kata.TRANSFORMER_VERSION and blocks & {arch.Attention, arch.FeedForward}:
        return f"version {version} has no transformers"
    return None


def _with_repeated_policy(data: NetworkData) -> NetworkData:
    """The same network with its policy twice."""
    passing = "policy.pass2.weight" if data.architecture.pass_hidden else "policy.pass1.weight"
    weights = dict(data.weights)
    for name in ("policy.conv2.weight", passing):
        weights[name] = np.repeat(weights[name], 2, axis=0)
    architecture = replace(data.architecture, policy_outputs=2)
    return replace(data, architecture=architecture, weights=weights)


def _with_second_pass_layer(data: NetworkData) -> NetworkData:
    """The same network with a second matrix for the pass that is the identity.

    Between the two are as many channels as KataGo demands, of which it uses the first ones.
    """
    a, weights = data.architecture, dict(data.weights)
    channels = np.eye(a.policy_mid, a.policy_outputs, dtype=np.float32)
    weights["policy.pass1.weight"] = channels @ weights["policy.pass1.weight"]
    weights["policy.pass1.bias"] = np.zeros(a.policy_mid, np.float32)
    weights["policy.pass2.weight"] = np.ascontiguousarray(channels.T)
    return replace(data, weights=weights)
