"""`tengen selfplay --rows katago`: the files that KataGo's trainer gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.frontends.command_options import SelfPlayOptions
from tengen.frontends.selfplay import run_self_play
from tengen.replay.shard import read_shard, shard_files
from tengen.selfplay.params import SelfPlayParams
from tests.katago_data import SMALL_FOLDER

NETWORK = str(SMALL_FOLDER / "conv-relu-v9.bin.gz")
PARAMS = SelfPlayParams(board_sizes=(5,), visits=12, fast_visits=4, games=16, stagger=False)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of the same games."""
    found = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    for folder in found:
        options = SelfPlayOptions(folder, games=24, board_size=5, visits=12, rows="katago")
        run_self_play(NETWORK, PARAMS, options)
    return found


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[dict[str, NDArray[Any]]]:
    arrays = []
    for folder in folders:
        (path,) = folder.glob("*.npz")
        with np.load(path) as file:
            arrays.append(dict(file))
    return arrays


def test_runs_with_one_seed_play_the_same_games_under_other_hashes(
    folders: list[Path], runs: list[dict[str, NDArray[Any]]]
) -> None:
    one, two = (arrays["globalTargetsNC"] for arrays in runs)
    estimated = (21, *range(30, 32), *range(57, 60))  # searches share batches as they come
    same = np.delete(np.arange(80), (*estimated, *range(41, 47)))
    np.testing.assert_array_equal(one[:, same], two[:, same])
    assert not {tuple(row) for row in one[:, 41:47]} & {tuple(row) for row in two[:, 41:47]}
    shards = [read_shard(shard_files(folder)[0]) for folder in folders]
    assert len({shard.provenance["run"] for shard in shards}) == 2
    assert len(list(folders[0].glob("*.sgf"))) == len(shards[0].games.games) == 24


def test_some_rows_have_leads_and_all_have_values_of_moves(
    runs: list[dict[str, NDArray[Any]]],
) -> None:
    targets, moves = runs[0]["globalTargetsNC"], runs[0]["qValueTargetsNCMove"]
    known = targets[:, 29] == 1
    assert 0 < known.sum() < len(known) / 4
    assert (targets[known, 21] != 0).any()
    assert (moves[:, 2].max(axis=1) > 0).all()
    assert (np.abs(moves[:, :2].astype(int)) <= 32_000).all()
    assert (targets[:, 31] > 0).all()
    assert np.abs(targets[:, 57]).max() <= 1
    assert (targets[:, 57] != 0).any()
    assert (targets[:, 30] >= -1e-4).all()


def test_what_the_trainer_would_learn_from_is_within_its_bounds(
    runs: list[dict[str, NDArray[Any]]],
) -> None:
    """What its losses divide by, take logarithms of, or count on to be masked."""
    arrays = runs[0]
    targets, spatial = arrays["globalTargetsNC"], arrays["valueTargetsNCHW"]
    assert np.isfinite(targets).all()
    for column in (0, 4, 8, 12, 16):
        assert (targets[:, column : column + 3] >= 0).all()
        np.testing.assert_allclose(targets[:, column : column + 3].sum(axis=1), 1, atol=1e-5)
    for weight in (26, 27, 28, 29, 33, 34):
        assert set(targets[:, weight]) <= {0, 1}
    for taken in (24, 35):  # subtracted from weights
        assert not targets[:, taken].any()
    assert not targets[targets[:, 29] == 0, 21].any()
    assert (arrays["policyTargetsNCMove"].sum(axis=2) > 0).all()
    assert (arrays["scoreDistrN"].sum(axis=1, dtype=int) == 100).all()
    assert set(spatial[:, :4].ravel()) <= {-1, 0, 1}
    assert np.abs(spatial[:, 4].astype(int)).max() <= 120
    assert (spatial[:, 2:4] != 0).any((1, 2, 3)).all()
    moves = arrays["qValueTargetsNCMove"]
    assert (moves[:, 2] >= 0).all()
    assert not moves[:, 0][moves[:, 2] == 0].any()
    assert not moves[:, 1][moves[:, 2] == 0].any()
