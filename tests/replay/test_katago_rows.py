from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import BLACK
from tengen.replay.katago_rows import katago_arrays, write_katago_rows
from tengen.replay.rows import TrainingRows, copies_of_turns, encode_games
from tengen.selfplay.record import FAST, FULL, Games
from tests.features.samples import WITHOUT_COMPILER
from tests.replay.games import random_games

pytestmark = pytest.mark.kernel

SIDE = 9
SEED = 4
GAMES = random_games(3, seed=5, sides=(5, 6)) if WITHOUT_COMPILER else random_games(40, seed=11)


@pytest.fixture(scope="module")
def rows() -> TrainingRows:
    return encode_games(GAMES, KATAGO, SIDE, SEED)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[Any]]:
    path = tmp_path_factory.mktemp("rows") / "rows.npz"
    count = write_katago_rows(path, GAMES, SIDE, SEED)
    assert [file.name for file in path.parent.iterdir()] == ["rows.npz"]
    with np.load(path) as file:
        found = dict(file)
    assert len(found["globalInputNC"]) == count
    return found


def turns_of_rows(games: Games) -> NDArray[Any]:
    return np.repeat(games.turns, copies_of_turns(games, SEED))


def games_of_rows(games: Games) -> NDArray[Any]:
    return np.repeat(np.repeat(games.games, games.games["n_turns"]), copies_of_turns(games, SEED))


def test_shapes_and_types_are_those_of_the_format(arrays: dict[str, NDArray[Any]]) -> None:
    n = int(copies_of_turns(GAMES, SEED).sum())
    assert n > 5
    assert {name: (array.shape, array.dtype.name) for name, array in arrays.items()} == {
        "binaryInputNCHWPacked": ((n, 22, 11), "uint8"),  # 81 points are 11 bytes
        "globalInputNC": ((n, 19), "float32"),
        "policyTargetsNCMove": ((n, 2, 82), "int16"),
        "globalTargetsNC": ((n, 80), "float32"),
        "scoreDistrN": ((n, 282), "int8"),
        "valueTargetsNCHW": ((n, 5, 9, 9), "int8"),
        "qValueTargetsNCMove": ((n, 3, 82), "int16"),
    }


def test_unpacked_planes_are_those_of_the_inputs(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    bits = np.unpackbits(arrays["binaryInputNCHWPacked"], axis=2)
    assert not bits[:, :, 81:].any()
    planes = bits[:, :, :81].reshape(-1, 22, 9, 9)
    for plane in range(22):
        np.testing.assert_array_equal(planes[:, plane], rows.planes >> np.uint32(plane) & 1)
    np.testing.assert_array_equal(planes[:, 0].sum((1, 2)), rows.size.prod(1, dtype=int))
    np.testing.assert_array_equal(arrays["globalInputNC"], rows.globals)


def test_policies_are_shares_in_ten_thousands(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    policy = arrays["policyTargetsNCMove"] / 10_000
    np.testing.assert_allclose(policy[:, 0], rows.policy, atol=1e-4)
    replied = rows.reply.any(axis=1)
    assert replied.sum() > 0
    np.testing.assert_allclose(policy[replied, 1], rows.reply[replied], atol=1e-4)
    np.testing.assert_array_equal(arrays["globalTargetsNC"][:, 28], replied)
    assert (arrays["policyTargetsNCMove"].sum(axis=2) > 0).all()  # the trainer divides by it
    assert (arrays["globalTargetsNC"][:, 26] == 1).all()


def test_values_and_scores_are_in_their_columns(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    turns = turns_of_rows(GAMES)
    targets = arrays["globalTargetsNC"]
    np.testing.assert_array_equal(targets[:, 0:3], rows.value)
    for column in (3, 20):
        np.testing.assert_array_equal(targets[:, column], rows.score)
    for h in range(3):
        np.testing.assert_array_equal(
            targets[:, 4 + 4 * h : 7 + 4 * h], rows.short_values[:, 2 - h]
        )
        np.testing.assert_array_equal(targets[:, 7 + 4 * h], rows.short_scores[:, 2 - h])
    np.testing.assert_array_equal(targets[:, 16:19], rows.search_value)
    sign = np.where(turns["color"] == BLACK, 1, -1)
    np.testing.assert_array_equal(targets[:, 19], sign * turns["score"])
    counted = games_of_rows(GAMES)["no_result"] == 0
    np.testing.assert_array_equal(targets[:, 21], np.where(counted, sign * turns["score"], 0))
    np.testing.assert_array_equal(targets[:, 29], counted)


def test_what_is_told_about_the_row_is_in_its_columns(arrays: dict[str, NDArray[Any]]) -> None:
    targets, games = arrays["globalTargetsNC"], games_of_rows(GAMES)
    white = turns_of_rows(GAMES)["color"] != BLACK
    area = games["terms"]["territory"] == 0
    no_button = games["terms"]["button"] == 0
    plain = area & no_button  # else captures, and whoever took the button, change it
    komi = np.where(white, games["terms"]["komi"], -games["terms"]["komi"])
    np.testing.assert_allclose(targets[plain, 47], komi[plain], atol=1e-5)
    np.testing.assert_array_equal(targets[:, 48], area)
    assert (targets[:, 25] == 1).all()
    assert (targets[:, 36:41] == 1).all()
    np.testing.assert_array_equal(targets[:, 41], games["number"])
    assert not targets[:, 42:47].any()
    counts = np.concatenate([np.arange(n) for n in GAMES.games["n_turns"]])
    np.testing.assert_array_equal(targets[:, 51], counts.repeat(copies_of_turns(GAMES, SEED)))
    np.testing.assert_array_equal(targets[:, 60], turns_of_rows(GAMES)["visits"])
    assert (targets[:, 63] == 3).all()
    filled = [*range(22), 22, 25, 26, 27, 28, 29, 34, *range(36, 49), 51, 52, 60, 62, 63]
    assert not np.delete(targets, filled, axis=1).any()


def test_large_game_numbers_are_told_apart() -> None:
    number = (5 << 44) + (6 << 22) + 7
    games = random_games(1, seed=2, sides=(5,), first=number)
    row = katago_arrays(games, SIDE, SEED)["globalTargetsNC"][0]
    assert row[41:47].tolist() == [7, 6, 5, 0, 0, 0]


def test_ownership_and_scoring_points(arrays: dict[str, NDArray[Any]], rows: TrainingRows) -> None:
    games = games_of_rows(GAMES)
    spatial, targets = arrays["valueTargetsNCHW"], arrays["globalTargetsNC"]
    counted = games["no_result"] == 0
    np.testing.assert_array_equal(targets[:, 27], counted)
    np.testing.assert_array_equal(spatial[counted, 0], rows.ownership[counted])
    assert not spatial[~counted].any()
    plain = counted & (games["terms"]["territory"] == 0) & (games["terms"]["tax"] == 0)
    np.testing.assert_array_equal(targets[:, 34], plain)
    np.testing.assert_array_equal(spatial[plain, 4], 120 * rows.ownership[plain].astype(int))
    assert not spatial[~plain, 4].any()
    assert not spatial[:, 1:4].any()
    assert not targets[:, 33].any()
    assert not arrays["qValueTargetsNCMove"].any()


def test_the_mean_of_the_score_distribution_is_the_score(arrays: dict[str, NDArray[Any]]) -> None:
    distribution = arrays["scoreDistrN"].astype(int)
    assert (distribution.sum(axis=1) == 100).all()
    assert (distribution >= 0).all()
    scores = np.arange(282) - 141 + 0.5  # of the entries, all half points
    mean = distribution @ scores / 100
    np.testing.assert_allclose(mean, arrays["globalTargetsNC"][:, 3], atol=1e-6)
    halves = mean % 1 == 0.5
    assert (distribution[halves].max(axis=1) == 100).all()


def test_the_arrival_of_changes_is_their_turns_times_their_squares(
    arrays: dict[str, NDArray[Any]],
) -> None:
    turns, row = GAMES.turns, 0
    copies = copies_of_turns(GAMES, SEED)
    begin = 0
    for game in GAMES.games:
        end = begin + game["n_turns"]
        result = 0.0 if game["no_result"] else np.sign(game["score"])
        for t in range(begin, end):
            later = [turns[k]["value"] for k in range(t, end) if turns[k]["kind"] in (FAST, FULL)]
            values = [*map(float, later), float(result)]
            expected = sum(k * (values[k] - values[k - 1]) ** 2 for k in range(1, len(values)))
            for _ in range(copies[t]):
                assert arrays["globalTargetsNC"][row, 22] == pytest.approx(expected, rel=1e-4)
                row += 1
        begin = end
    assert row == len(arrays["globalTargetsNC"])
