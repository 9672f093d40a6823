"""What a network is made of and what it costs, against torch and a count by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tengen.network.architecture import (
    Architecture,
    Attention,
    Bottleneck,
    FeedForward,
    Pooling,
    Rope,
)
from tengen.network.architecture_names import PRESETS, named_architecture
from tengen.network.torch.model import Network
from tengen.network.weights import flop_count, parameter_count, weights_of

ODD_ONE = replace(
    named_architecture("b2c32"),
    blocks=(
        Attention(4, 2, 6, 5, Rope.LEARNED),
        FeedForward(24, gated=False),
        Bottleneck(16, (Bottleneck(8, (Pooling(4, 3),)), Attention(2, 1, 4, 4, Rope.NONE))),
    ),
    first_kernel=5,
    policy_outputs=2,
    pass_hidden=7,
    score_outputs=4,
)
ARCHITECTURES = {name: named_architecture(name) for name in (*PRESETS, "b2c32nbt", "b2c32h2tf")} | {
    "odd one": ODD_ONE
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_weights_are_those_of_the_torch_network(name: str) -> None:
    architecture = ARCHITECTURES[name]
    with torch.device("meta"):
        network = Network(architecture)
    weights = list(weights_of(architecture))
    assert {w.name: w.shape for w in weights} == {
        name: tuple(values.shape) for name, values in network.state_dict().items()
    }
    assert len({w.name for w in weights}) == len(weights)
    assert parameter_count(architecture) == sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize("name", ["b2c32", "b2c32nbt", "b2c32h2tf"])
def test_flops_are_those_that_torch_counts(name: str) -> None:
    architecture = ARCHITECTURES[name]
    with torch.device("meta"):
        network = Network(architecture).eval()
        planes = torch.zeros(1, architecture.planes, 7, 5)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            network(planes, torch.zeros(1, architecture.globals))
    assert flop_count(architecture, 7, 5) == counter.get_total_flops()


def test_flops_counted_by_hand() -> None:
    """Multiply-adds on 2x3 points, each line a layer."""
    architecture = Architecture(
        blocks=(
            Pooling(3, 2),
            Attention(heads=2, kv_heads=1, query_dim=4, value_dim=3, rope=Rope.THETA),
            FeedForward(5, gated=True),
        ),
        channels=4,
        policy_mid=2,
        policy_pool=3,
        value_mid=2,
        value_hidden=5,
    )
    points = 6
    first = points * 9 * 22 * 4 + 19 * 4
    pooling = points * 9 * (4 * 3 + 4 * 2 + 3 * 4) + 6 * 3
    attention = points * (4 * 8 + 4 * 4 + 4 * 3 + 6 * 4) + points * points * 2 * (4 + 3)
    feed_forward = points * (4 * 5 + 4 * 5 + 5 * 4)
    policy = points * (4 * 2 + 4 * 3 + 2 * 1) + 9 * 2 + 9 * 1
    value = points * (4 * 2 + 2 * 1) + 6 * 5 + 5 * 3 + 5 * 6
    multiply_adds = first + pooling + attention + feed_forward + policy + value
    assert flop_count(architecture, 2, 3) == 2 * multiply_adds


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_comes_back_from_its_json(name: str) -> None:
    architecture = ARCHITECTURES[name]
    assert Architecture.from_json(architecture.to_json()) == architecture


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(named_architecture("b2c32h2tf").to_json()) | changes)


def changed_block(block: int, **changes: Any) -> str:
    values = json.loads(named_architecture("b2c32h2tf").to_json())
    values["blocks"][block] |= changes
    return json.dumps(values)


def nested(levels: int) -> str:
    block: dict[str, Any] = {"kind": "ordinary", "mid": 8}
    for _ in range(levels - 1):
        block = {"kind": "bottleneck", "mid": 8, "inner": [block]}
    return changed(blocks=[block])


def test_the_json_that_is_broken_below_is_right_before() -> None:
    for text in (changed(), changed_block(0), nested(4)):
        Architecture.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        changed(blocks=[]),
        changed(blocks=3),
        changed(blocks=[3]),
        changed(blocks=[{"kind": "ordinary", "mid": 8}] * 1_001),
        changed(channels=-1),
        changed(channels=0),
        changed(channels=10**12),
        changed(channels=8.0),
        changed(channels="8"),
        changed(channels=True),
        changed(policy_mid=None),
        changed(first_kernel=4),
        changed(features=7),
        changed(tip_rms_norm="no"),
        changed(tip_rms_norm=True, tip_spatial=1),
        changed(tip_rms_norm=False, tip_spatial=True),
        changed(metadata_hidden1=4),
        changed(activation="tanh"),
        changed(pass_hidden=-1),
        changed(surprise=1),
        changed_block(0, kind="nonsense"),
        changed_block(0, kv_heads=0),
        changed_block(0, heads=3, kv_heads=2),
        changed_block(0, query_dim=5),
        changed_block(0, rope="none of that"),
        changed_block(0, theta=float("nan")),
        changed_block(0, theta=0),
        changed_block(0, theta="1"),
        changed_block(1, hidden=-8),
        changed_block(1, gated=1),
        nested(5),
        nested(200),
    ],
    ids=lambda text: text[-30:],
)
def test_what_is_no_architecture_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an architecture"):
        Architecture.from_json(text)
