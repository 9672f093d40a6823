"""Networks of KataGo's older versions say of V7's inputs what they said of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO, KATAGO_OLDER
from tengen.features.kernels.katago import GLOBALS, PLANES
from tengen.game.color import BLACK, WHITE
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax
from tengen.network.architecture_names import named_architecture
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import to_katago
from tengen.network.files.katago_format import FIRST_V7_VERSION, OLDEST_VERSION, write_network
from tengen.network.files.katago_older import INPUTS, OBSTACLES
from tengen.network.files.katago_tokens import Token, as_bytes
from tengen.network.files.loading import read_katago
from tengen.network.network_data import NetworkData, Scaling
from tengen.network.torch.model import network_from
from tests.features.samples import random_positions
from tests.network.test_katago_files import there_and_back, with_values
from tests.network.test_tengen_format import assert_same, random_network

OLD_SCALING = Scaling(halved_errors=False)
SIZES = {4: (22, 14), 6: (13, 12), 7: (22, 16)}  # planes and globals by version
V8 = replace(named_architecture("b2c32"), score_outputs=4)


# Networks of older versions


def unchanged(version: int, seed: int = 5) -> NetworkData:
    """A random network for a version's own inputs, which our files have no name for."""
    random = np.random.default_rng(seed)
    base = random_network(V8)
    planes, globals_ = SIZES[version]

    def normal(*shape: int) -> NDArray[np.float32]:
        return random.normal(scale=0.3, size=shape).astype(np.float32)

    architecture = replace(V8, planes=planes, globals=globals_, score_outputs=2)
    weights = base.weights | {
        "conv.weight": normal(V8.channels, planes, 3, 3),
        "globals.weight": normal(V8.channels, globals_),
        "value.score.weight": normal(2, V8.value_hidden),
        "value.score.bias": normal(2),
    }
    return NetworkData("random", architecture, weights, OLD_SCALING)


def older(version: int) -> list[Token]:
    """The same network as a file of this version has it."""
    return write_network(unchanged(version), version).tokens


def opinion(data: NetworkData, batch: Batch) -> Evaluation:
    with torch.no_grad():
        said = network_from(data)(torch.from_numpy(batch.planes), torch.from_numpy(batch.globals))
    return decode(RawOutputs(*(output.numpy() for output in said)), batch, data.scaling)


# What older versions are shown


def own_komi(position: Position) -> float:
    """What the side to play gets besides what it holds on the board."""
    rules, white = position.rules, position.komi
    passes = [move.color for move in position.moves if move.point is None]
    if rules.button and passes:
        white += 0.5 if passes[0] == WHITE else -0.5
    if rules.scoring is Scoring.TERRITORY:
        white += position.captured("black") - position.captured("white")
        white += int((position.stones == BLACK).sum()) - int((position.stones == WHITE).sum())
    return white if position.to_play == WHITE else -white


def clipped_komi(position: Position) -> float:
    most = position.size.area + 1
    return max(-most, min(most, own_komi(position)))


def in_scope(version: int, position: Position) -> bool:
    if clipped_komi(position) != own_komi(position):
        return False
    # Under other rules the areas of the oldest inputs are others; KataGo does not show them any.
    rules = position.rules
    return version > 4 or (rules.scoring is Scoring.AREA and rules.tax is Tax.NONE)


def parity(komi: float, area: int) -> float:
    """By a table of the half points above a komi that makes a draw possible."""
    return [0.0, 0.5, 0.0, -0.5][int(2 * (komi - area)) % 4]


def stone_planes(position: Position) -> list[NDArray[np.bool_]]:
    stones, me = position.stones, position.to_play
    return [np.ones_like(stones, bool), stones == me, stones == me.opponent]


def liberty_planes(position: Position) -> list[NDArray[np.bool_]]:
    size = (position.height, position.width)
    counts = [position.liberties((x, y)) for y in range(size[0]) for x in range(size[1])]
    return [np.reshape(counts, size) == n for n in (1, 2, 3)]


def rule_values(position: Position, komi_scale: float) -> list[float]:
    rules = position.rules
    kind = {KoRule.SIMPLE: 0.0, KoRule.POSITIONAL: 0.5, KoRule.SITUATIONAL: -0.5}[rules.ko]
    return [
        clipped_komi(position) / komi_scale,
        float(rules.ko is not KoRule.SIMPLE),
        kind,
        float(rules.suicide),
        float(rules.scoring is Scoring.TERRITORY),
    ]


def older_inputs(version: int, position: Position, newest: Batch) -> Batch:
    """V5 or V6 inputs of one position; what is the same in V7 and long to find comes from there."""
    same, values = newest.planes[0], newest.globals[0].tolist()
    passes, no_clean_up, ending = values[:5], [0.0, 0.0], values[14]
    area = position.rules.scoring is Scoring.AREA
    if version == 6:
        ko, moves, clean_up = same[6:9], same[9:14], same[20:22]
        planes = [*stone_planes(position), *ko, *moves, *clean_up]
        globals_ = [*passes, *rule_values(position, 15), *no_clean_up]
    elif version < 5:
        planes = [*stone_planes(position), *liberty_planes(position), *same[6:22]]
        wave = parity(clipped_komi(position), position.size.area) if area else 0.0
        globals_ = [*passes, *rule_values(position, 15), *no_clean_up, ending, wave]
    else:
        planes = [*stone_planes(position), *liberty_planes(position), *same[6:22]]
        tax = position.rules.tax
        taxes = [float(tax is not Tax.NONE), float(tax is Tax.ALL)]
        wave = parity(clipped_komi(position), position.size.area) if area else 0.0
        globals_ = [*passes, *rule_values(position, 20), *taxes, *no_clean_up, ending, wave]
    stacked = np.stack(planes).astype(np.float32)
    return Batch(stacked[None], np.array([globals_], np.float32))


# Some where each rule says something, besides those of random games
RULES = [
    Rules(ko, scoring, tax, suicide=suicide, button=scoring is Scoring.AREA and suicide)
    for ko in KoRule
    for scoring in Scoring
    for tax in Tax
    for suicide in (False, True)
]
KOMI = [-82.0, -7.5, 0.0, 0.5, 6.0, 6.5, 7.0, 7.5, 30.5, 82.0]


def chosen_positions() -> list[Position]:
    positions = []
    for i, rules in enumerate(RULES):
        position = Position(9, rules, KOMI[i % len(KOMI)])
        moves = ["C3", "C4", "D4", "G7", "D3", "pass", "B4", "pass", "E5"]
        positions.append(position.play_all(moves[: i % 10]))
    return [*positions, *random_positions(seed=11, count=60)]


@pytest.mark.parametrize("version", INPUTS)
def test_a_mapped_network_says_of_v7_inputs_what_it_said_of_its_own(version: int) -> None:
    mapped, original = read_katago(as_bytes(older(version)), "test"), unchanged(version)
    assert mapped.architecture == replace(V8, features=KATAGO_OLDER.name)
    positions = [position for position in chosen_positions() if in_scope(version, position)]
    assert len(positions) > (80 if version > 4 else 15)
    assert len({position.rules for position in positions}) > (40 if version > 4 else 6)
    leads = set()
    for position in positions:
        batch = encode(KATAGO_OLDER, [position])
        mine = opinion(mapped, batch)
        theirs = opinion(original, older_inputs(version, position, batch))
        for name, value, expected in zip(Evaluation._fields, mine, theirs, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4, err_msg=name)
        leads.add(round(float(mine.lead[0]), 3))
    assert len(leads) > 0.7 * len(positions)  # the network does look at what it is shown


def test_where_v7_has_what_older_inputs_have() -> None:
    planes = {
        version: [PLANES.index(name) for name in INPUTS[version].planes] for version in INPUTS
    }
    everything = [*range(22)]
    some = [0, 1, 2, 6, 7, 8, *range(9, 14), 20, 21]
    assert planes == {4: everything, 6: some, 7: everything}
    globals_ = {
        version: [GLOBALS.index(name) for name in INPUTS[version].globals] for version in INPUTS
    }
    oldest = [*range(10), 12, 13, 14, 18]
    assert globals_ == {4: oldest, 6: [*range(10), 12, 13], 7: [*range(15), 18]}


@pytest.mark.parametrize("version", INPUTS)
def test_a_mapped_network_is_written_as_version_8(version: int) -> None:
    data = read_katago(as_bytes(older(version)), "test")
    assert data.provenance["katago_version"] == str(version)
    assert [value for _, value in to_katago(data)[1]][1:4] == [8, 22, 19]
    up_to_date = replace(data, architecture=replace(data.architecture, features=KATAGO.name))
    assert_same(there_and_back(data)[1], up_to_date)


@pytest.mark.parametrize(("version", "reason"), [(3, "arctangent"), (5, "pass-alive")])
def test_other_versions_are_refused(version: int, reason: str) -> None:
    content = with_values(to_katago(random_network(V8))[1], version=version)
    with pytest.raises(NetworkFileError, match=f"random: model version {version} .*{reason}"):
        read_katago(content, "test")


def test_each_version_before_8_is_either_mapped_or_refused() -> None:
    assert sorted([*INPUTS, *OBSTACLES]) == [*range(OLDEST_VERSION, FIRST_V7_VERSION)]


@pytest.mark.parametrize("version", INPUTS)
@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("planes", 23),
        ("globals", 19),
        ("conv: inputs", 23),
        ("globals: inputs", 19),
        ("value.score: outputs", 4),
        ("value.score.bias: channels", 4),
    ],
)
def test_files_that_are_not_as_their_version_demands_are_refused(
    version: int, what: str, value: int
) -> None:
    right = {
        "planes": SIZES[version][0],
        "globals": SIZES[version][1],
        "conv: inputs": SIZES[version][0],
        "globals: inputs": SIZES[version][1],
    }.get(what, 2)
    wrong = with_values(older(version), **{what: value})
    complaint = f"old.bin: {what} is {value}, but only {right} is known here"
    with pytest.raises(NetworkFileError, match=complaint):
        read_katago(wrong, "old.bin")


def test_version_9_says_its_errors_without_a_root() -> None:
    data = random_network("b2c32", scaling=OLD_SCALING)
    read = read_katago(as_bytes(write_network(data, 9).tokens), "test")
    batch = encode(KATAGO, [Position(5), Position(5).play("C3")])
    with torch.no_grad():
        plain, doubled = (
            RawOutputs(*(o.numpy() for o in network_from(d)(*map(torch.from_numpy, batch[:2]))))
            for d in (data, read)
        )
    decoded = decode(doubled, batch, read.scaling)
    softplus = np.log1p(np.exp(plain.score.astype(float)))
    np.testing.assert_allclose(decoded.value_error, softplus[:, 4], rtol=1e-4)
    np.testing.assert_allclose(decoded.score_error, 10 * softplus[:, 5], rtol=1e-4)
    same = decode(plain, batch, OLD_SCALING)
    np.testing.assert_allclose(decoded.lead, same.lead, rtol=1e-4)
    np.testing.assert_allclose(decoded.variance_time, same.variance_time, rtol=1e-4)
    assert to_katago(read)[0] == 9
