"""A run by all rules: games by area and by territory make its rows, and it goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training
from tengen.game.kernels.board import NO_TERRITORY, PLAYED_OUT
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunFolder
from tests.replay.games import read_shards

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = [
    "run.iteration_rows=80",
    "run.first_rows=40",
    "run.checkpoint_seconds=0",
    "selfplay.games=8",
    "selfplay.visits=8",
    "selfplay.fast_visits=4",
    "selfplay.rules=[random,japanese]",
    "training.batch=16",
    "rating.every=1",
    "rating.games=2",
    "rating.visits=2",
]


def test_a_run_by_all_rules_learns_is_rated_and_goes_on(tmp_path: Path) -> None:
    options = TrainOptions(
        model="b2c32", device="cpu", board_size=3, iterations=1, settings=SETTINGS
    )
    run_training(str(tmp_path / "run"), options)
    run_training(str(tmp_path / "run"), TrainOptions(iterations=2))
    folder = RunFolder(tmp_path / "run")
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert checkpoint.facts["iteration"] == 2
    scored = np.concatenate(
        [games.games["terms"]["territory"] for games in read_shards(folder.shards)]
    )
    assert set(scored.tolist()) == {NO_TERRITORY, PLAYED_OUT}
    assert folder.ratings.is_file()
