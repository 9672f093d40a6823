"""A run whose network sees another feature set than KataGo's: it learns, plays and goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.features.feature_set import KATAGO, KATAGO_WITHOUT_LADDERS, RICH
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training
from tengen.game.position import Position
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago
from tengen.network.files.loading import load_network
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder
from tengen.runs.params import RunParams

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = [
    "run.features=rich",
    "run.iteration_rows=60",
    "run.first_rows=30",
    "run.checkpoint_seconds=0",
    "selfplay.games=8",
    "selfplay.visits=8",
    "selfplay.fast_visits=4",
    "training.batch=16",
    "rating.every=1",
    "rating.games=2",
    "rating.visits=2",
]


def test_a_rich_network_learns_plays_and_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    run_training(
        path,
        TrainOptions(model="b2c32", device="cpu", board_size=4, iterations=1, settings=SETTINGS),
    )
    run_training(path, TrainOptions(iterations=2))
    checkpoint = load_latest(RunFolder(tmp_path / "run"))
    assert checkpoint is not None
    assert checkpoint.facts["iteration"] == 2
    first, last = (
        load_network(tmp_path / "run" / "networks" / f"{name}.safetensors")
        for name in ("000000", "000002")
    )
    a = last.architecture
    assert (a.features, a.planes, a.globals) == ("rich", 22, 0)
    assert not np.array_equal(first.weights["conv.weight"], last.weights["conv.weight"])
    with Engine(last, device="cpu") as engine:
        assert engine.search(Position(4, komi=2), visits=20).visits >= 20
        # A board that does not fill its planes is seen as on planes of its own.
        alone, padded = (
            evaluate(engine.network.evaluator, encode(RICH, positions))
            for positions in ([Position(4, komi=2)], [Position(4, komi=2), Position(5)])
        )
        np.testing.assert_allclose(alone.value[0], padded.value[0], atol=0.01)
        assert (
            abs(
                evaluate(engine.network.evaluator, encode(RICH, [Position(4, komi=40)])).value[0]
                - alone.value[0]
            ).max()
            > 0
        )
    with pytest.raises(NetworkFileError, match="its inputs are 'rich', not 'katago'"):
        save_katago(last, tmp_path / "network.bin.gz")
    with pytest.raises(RunError, match=r"run\.features cannot change"):
        run_training(path, TrainOptions(settings=["run.features=katago"]))
    # A run that sees something else cannot start from it.
    file = tmp_path / "run" / "networks" / "000002.safetensors"
    options = TrainOptions(device="cpu", board_size=4, settings=[f"run.start={file}"])
    with pytest.raises(ValueError, match="sees 'rich' and the run 'katago'"):
        run_training(str(tmp_path / "other"), options)


def test_the_default_is_katago_s_set() -> None:
    assert RunParams().feature_set is KATAGO
    assert RunParams(ladders=False).feature_set is KATAGO_WITHOUT_LADDERS
    assert RunParams(features="rich").feature_set is RICH
    with pytest.raises(ValueError, match="features must be one of basic, rich, katago"):
        RunParams(features="seven")
