"""Every kind of network in KataGo's format: read, evaluated, written again, and KataGo agrees."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO, KATAGO_OLDER
from tengen.network.architecture import FeedForward
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import evaluate
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago, to_katago
from tengen.network.files.katago_format import FIRST_V7_VERSION
from tengen.network.files.katago_tokens import Token, as_bytes
from tengen.network.files.loading import load_network, read_katago
from tengen.network.network_data import NetworkData
from tengen.training.heads_and_losses import SCALING
from tengen.training.initial_network import initial_network
from tests.game.test_katago_positions import replay
from tests.katago_data import (
    SMALL_NETWORKS,
    RefusedError,
    answers,
    ask_katago,
    needs_katago,
    network_path,
    parse_raw_nn,
)
from tests.network.katago_kinds import KINDS, Kind, random_kind
from tests.network.test_katago_files import with_values
from tests.network.test_katago_parity import (
    TOLERANCE,
    batch_of,
    chances,
    deviations,
    network_data,
    stated_chances,
)
from tests.network.test_openvino import assert_same as assert_same_evaluation
from tests.network.test_tengen_format import assert_same

PROFILE = "rank_20k_3d"
POSITIONS = [{**answer, "humanSLProfile": PROFILE} for answer in answers("conv-relu-v7")]
# Versions up to 6 do not know all rules.
POSITIONS_OF_VERSION_6 = [
    {**answer, "humanSLProfile": PROFILE} for answer in answers("conv-relu-v6")
]


def positions_for(version: int) -> list[dict[str, Any]]:
    return POSITIONS_OF_VERSION_6 if version <= 6 else POSITIONS


def read(kind: Kind) -> NetworkData:
    return read_katago(as_bytes(kind.tokens()), "test")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_torch_and_openvino_agree_on_every_kind(kind: Kind) -> None:
    data = read(kind)
    mixed = batch_of(data, positions_for(kind.version), 0.3)
    expected = evaluate(TorchEvaluator(data, "cpu"), mixed)
    evaluator = OpenVinoEvaluator(data, Precision.FLOAT32)
    assert_same_evaluation(evaluate(evaluator, mixed), expected, 2e-4)
    assert float(np.ptp(expected.lead)) > 0.1  # the network does look at what it is shown
    alone = batch_of(data, positions_for(kind.version)[:1], 0.3)  # a board without a border
    again = evaluate(TorchEvaluator(data, "cpu"), alone)
    assert_same_evaluation(evaluate(evaluator, alone), again, 2e-4)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_is_written_as_it_was_read(kind: Kind) -> None:
    data = read(kind)
    version, tokens = to_katago(data)
    again = read_katago(as_bytes(tokens), "again")
    if kind.version < FIRST_V7_VERSION:  # the inputs of older ones are brought up to date
        assert data.architecture.features == KATAGO_OLDER.name
        data = replace(data, architecture=replace(data.architecture, features=KATAGO.name))
    assert_same(data, again)
    if kind.version >= FIRST_V7_VERSION:
        assert version == kind.version
        assert as_bytes(tokens) == as_bytes(kind.tokens())


@pytest.mark.parametrize("name", SMALL_NETWORKS)
def test_the_small_networks_are_written_as_they_were_read(name: str) -> None:
    data = network_data(name)
    if data.architecture.features == KATAGO_OLDER.name:
        up_to_date = replace(data.architecture, features=KATAGO.name)
        data = replace(data, architecture=up_to_date)
    assert_same(data, read_katago(as_bytes(to_katago(data)[1]), "again"))


# KataGo as the witness


def commands(answer: dict[str, Any], human: bool) -> list[str]:
    """GTP commands that set up a position, the last one asking for the network's outputs."""
    position = replay(answer)
    moves = [f"play {color} {move}" for color, move in answer["moves"]]
    profile = [f"kata-set-param humanSLProfile {answer['humanSLProfile']}"] if human else []
    return [
        *profile,
        f"rectangular_boardsize {position.width} {position.height}",
        "clear_board",
        f"kata-set-rules {answer['rules']}",
        f"komi {answer['komi']}",
        *moves,
        "kata-raw-nn 0 0.3",
    ]


def deviates(data: NetworkData, file: Path, asked: list[dict[str, Any]]) -> dict[str, float]:
    """By kind: the largest deviation of a network from what KataGo says of its file."""
    human = bool(data.architecture.metadata_hidden1)
    lines = [commands(answer, human) for answer in asked]
    replies = ask_katago(file, [line for each in lines for line in each])
    ours = evaluate(TorchEvaluator(data, "cpu"), batch_of(data, asked, 0.3))
    worst = dict.fromkeys(TOLERANCE, 0.0)
    at = -1
    for i, (answer, each) in enumerate(zip(asked, lines, strict=True)):
        at += len(each)
        raw, position = parse_raw_nn(replies[at]), replay(answer)
        found = deviations(ours, i, position, raw, answer["next_player"] == "W")
        policy = float(np.abs(chances(ours, i, position) - stated_chances(raw)).max())
        found["chances"] = max(found["chances"], policy)
        worst = {name: max(value, found[name]) for name, value in worst.items()}
    return worst


def assert_katago_agrees(data: NetworkData, file: Path, asked: list[dict[str, Any]]) -> None:
    worst = deviates(data, file, asked)
    print(file.name, {kind: f"{deviation:.1e}" for kind, deviation in worst.items()})
    assert {kind for kind, each in worst.items() if each > TOLERANCE[kind]} == set()


@needs_katago
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_katago_says_the_same_of_every_kind_and_of_what_we_write(
    kind: Kind, tmp_path: Path
) -> None:
    if any(isinstance(b, FeedForward) and not b.gated for b in kind.data.architecture.blocks):
        pytest.skip("KataGo on the CPU wants gates")
    file, again = tmp_path / "kind.bin", tmp_path / "again.bin.gz"
    file.write_bytes(as_bytes(kind.tokens()))
    data = read(kind)
    asked = positions_for(kind.version)
    assert_katago_agrees(data, file, asked)
    save_katago(data, again)
    if kind.version >= FIRST_V7_VERSION:  # the same file, so KataGo need not be asked again
        assert gzip.decompress(again.read_bytes()) == file.read_bytes()
    else:
        assert_katago_agrees(data, again, asked)


@needs_katago
@pytest.mark.parametrize("name", SMALL_NETWORKS)
def test_katago_says_the_same_of_the_small_networks_written_again(
    name: str, tmp_path: Path
) -> None:
    data, file = network_data(name), tmp_path / "again.bin.gz"
    save_katago(data, file)
    asked = [{"humanSLProfile": PROFILE} | answer for answer in answers(name)]
    assert_katago_agrees(data, file, asked)


@needs_katago
@pytest.mark.parametrize("name", [BUNDLED, "b2c32", "b2c32nbt", "b2c32h2tf"])
def test_katago_plays_with_the_bundled_and_with_trained_networks(name: str, tmp_path: Path) -> None:
    if name == BUNDLED:
        data = load_network(BUNDLED)
    else:
        network = initial_network(named_architecture(name), seed=1).network.eval()
        weights = {key: tensor.numpy() for key, tensor in network.state_dict().items()}
        data = NetworkData("trained", network.architecture, weights, SCALING)
    file = tmp_path / "ours.bin.gz"
    save_katago(data, file)
    assert_katago_agrees(data, file, POSITIONS)


# What is unknown is refused, as KataGo refuses it


def wrong_values(tokens: list[Token]) -> list[tuple[str, Any]]:
    """Names of tokens with values that no network has there."""
    wrong: list[tuple[str, Any]] = []
    for what, value in tokens:
        if what in ("name", "version") or isinstance(value, np.ndarray):
            continue
        if type(value) is float:
            wrong += [(what, 0), (what, -1.5)]
        elif not isinstance(value, str):
            wrong += [(what, number) for number in {0, value + 1, value + 2} - {value}]
        elif what.endswith((": activation", ": kind")):
            wrong += [(what, "something_else")]
    return wrong


EVERYTHING = random_kind(
    17,
    KINDS["attention in and beside bottlenecks"].data.architecture.blocks,
    tip_rms_norm=True,
    metadata_hidden1=7,
    metadata_hidden2=6,
)
WRONG = wrong_values(EVERYTHING.tokens())
# Options with another value, and sizes that nobody uses.
HARMLESS = {
    *(("tip: spatial", 1), ("areas as if suicide were legal", 1), ("trunk: dilated channels", 0)),
    *(
        (f"trunk: {kind} channels", value)
        for kind in ("mid", "regular", "dilated", "pooling")
        for value in range(1, 30)
    ),
}


def is_refused(what: str, value: Any) -> bool:
    """Whether a file with this value is refused; the error names the file."""
    try:
        read_katago(with_values(EVERYTHING.tokens(), **{what: value}), "a file")
    except NetworkFileError as error:
        return str(error).startswith("a file: ")
    return False


def test_what_is_unknown_is_refused() -> None:
    assert len(WRONG) > 400
    accepted = {(what, value) for what, value in WRONG if not is_refused(what, value)}
    assert accepted == HARMLESS & set(WRONG)


@pytest.mark.parametrize(
    ("what", "value", "complaint"),
    [
        ("header: reserved 3", 1, "header: reserved 3 is 1, but only 0 is known here"),
        ("trunk: reserved 1", 7, "trunk: reserved 1 is 7, but only 0"),
        ("trunk: kind of tip norm", 2, "trunk: kind of tip norm is 2, neither 0 nor 1"),
        ("tip: size of groups", 4, "tip: size of groups is 4, but only 0"),
        ("policy: reserved 2", 1, "policy: reserved 2 is 1"),
        ("value: reserved 3", 1, "value: reserved 3 is 1"),
        ("policy: outputs", 3, "policy.conv2: outputs is 2, but only 3"),
        ("metadata encoder", 2, "metadata encoder is 2, neither 0 nor 1"),
        ("metadata: inputs", 191, "metadata: inputs is 191, but only 192"),
        ("lead multiplier", 0, "lead multiplier is 0, but must be positive"),
        ("tip.norm.epsilon", 2.0, "tip.norm.epsilon is 2, but must be positive, and at most 1"),
        ("policy.pass1: outputs", 9, "policy.pass1: outputs is 9, but only 8"),
    ],
)
def test_what_is_refused_is_named(what: str, value: float, complaint: str) -> None:
    with pytest.raises(NetworkFileError, match=re.escape(complaint)):
        read_katago(with_values(EVERYTHING.tokens(), **{what: value}), "test")


@needs_katago
def test_what_katago_refuses_is_refused_here(tmp_path: Path) -> None:
    file = tmp_path / "wrong.bin"
    accepted_here_alone = []
    for what, value in WRONG:
        if not is_refused(what, value):
            file.write_bytes(with_values(EVERYTHING.tokens(), **{what: value}))
            try:
                ask_katago(file, ["name"])
            except RefusedError:
                accepted_here_alone.append((what, value))
    assert accepted_here_alone == []


@needs_katago
@pytest.mark.parametrize("name", ["with.dot", "with space", "@", "é", "x" * 97])
def test_names_that_katago_refuses_are_refused(name: str, tmp_path: Path) -> None:
    data = replace(random_kind(8).data, name=name)
    with pytest.raises(NetworkFileError, match="KataGo refuses this name"):
        save_katago(data, tmp_path / "named.bin.gz")
    file = tmp_path / "named.bin"
    file.write_bytes(with_values(random_kind(8).tokens(), name=name.encode().decode("latin-1")))
    with pytest.raises(RefusedError):
        ask_katago(file, ["name"])


@needs_katago
def test_the_longest_name_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "named.bin.gz"
    save_katago(replace(random_kind(8).data, name="Aa0_-" * 19 + "x"), file)
    assert ask_katago(file, ["name"])[0].startswith("=")
    assert network_path(SMALL_NETWORKS[0]).is_file()
