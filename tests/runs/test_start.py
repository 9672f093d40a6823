"""A run that starts from a network in place of nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.learned_from import learned_from
from tengen.network.network_data import NetworkData, Scaling
from tengen.network.torch.model import Network
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.params import RatingParams, RunConfig, RunParams
from tengen.runs.run import open_run_with, train
from tengen.selfplay.params import SelfPlayParams
from tengen.training.initial_network import initial_network
from tengen.training.params import TrainingParams
from tests.katago_data import network_path

pytestmark = pytest.mark.usefixtures("one_thread")


def saved_network(path: Path, **changes: object) -> NetworkData:
    """A network whose values are told apart from those of a new run."""
    architecture = replace(named_architecture("b2c32"), channels=40)
    weights = {
        name: tensor.numpy()
        for name, tensor in initial_network(architecture, 77).network.state_dict().items()
    }
    facts = {"minutes": "18.5", "games": "464464"}
    data = NetworkData("older", architecture, weights, Scaling(), facts)
    data = replace(data, **changes)  # type: ignore[arg-type]
    save_network(data, path)
    return data


def for_one_board_alone() -> NetworkData:
    """A network whose heads are fully connected."""
    architecture = replace(named_architecture("b2c32"), board_size=4)
    weights = {
        name: np.zeros(tensor.shape, np.float32)
        for name, tensor in Network(architecture).state_dict().items()
    }
    weights = {
        name: values + 1 if name.endswith((".variance", ".epsilon")) else values
        for name, values in weights.items()
    }
    return NetworkData("older", architecture, weights)


def config_from(start: Path, iterations: int) -> RunConfig:
    return RunConfig(
        run=RunParams(
            start=str(start),
            device="cpu",
            iterations=iterations,
            iteration_rows=60,
            first_rows=30,
            checkpoint_seconds=0,
        ),
        selfplay=SelfPlayParams(games=8, visits=8, fast_visits=4, board_sizes=(4,)),
        training=TrainingParams(batch=16, warm_up=100),
        rating=RatingParams(every=1, opponents=0),
    )


def test_a_run_begins_with_the_weights_of_its_start_and_learns(tmp_path: Path) -> None:
    start = saved_network(tmp_path / "older.safetensors")
    train(tmp_path / "run", config_from(tmp_path / "older.safetensors", 1))
    first, last = (
        load_network_file(tmp_path / "run" / "networks" / f"{name}.safetensors")
        for name in ("000000", "000001")
    )
    name = "blocks.0.conv1.weight"
    np.testing.assert_allclose(first.weights[name], start.weights[name], rtol=1e-3, atol=1e-6)
    assert not np.array_equal(last.weights[name], first.weights[name])
    assert last.architecture.channels == 40
    assert last.provenance["started_from"] == "older, 18.5 minutes, 464464 games"


def test_a_run_goes_on_from_a_network_of_katagos(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It plays as it did, says what is missing, measures its norms at first, and learns."""
    run = tmp_path / "run"
    config = config_from(network_path("conv-relu-v7"), 1)
    config = replace(config, run=replace(config.run, first_rows=100))
    train(run, config)  # ends before the first step
    said = capsys.readouterr().err
    assert "begins at random: the error of values, the error of scores" in said
    assert "norms have no statistics" in said
    start = load_network(network_path("conv-relu-v7"))
    positions = [Position(4), Position(4).play("B2")]
    one, other = (
        evaluate(TorchEvaluator(data, "cpu"), encode(KATAGO, positions))
        for data in (start, load_network_file(run / "networks" / "000000.safetensors"))
    )
    np.testing.assert_allclose(one.policy, other.policy, atol=0.05)  # float16 in the file
    np.testing.assert_allclose(one.value, other.value, atol=0.02)
    first = load_network_file(run / "latest.safetensors")
    assert first.provenance["steps"] == "0"
    assert not first.weights["tip.mean"].any()
    train(run, replace(config, run=replace(config.run, iterations=3)))
    last = load_network_file(run / "latest.safetensors")
    assert int(last.provenance["steps"]) > 0
    assert last.weights["tip.mean"].any()
    assert learned_from(last.provenance) == f"KataGo's {start.name}"
    # Its losses are those of a network with norms that fit: not of one whose outputs have changed.
    (line, *_) = [line for line in read_lines(RunFolder(run).metrics) if "loss/value" in line]
    assert line["loss/value"] < 3


@pytest.mark.parametrize("shown", [False, True])
def test_a_run_shows_ladders_or_not_whatever_its_start_saw(tmp_path: Path, shown: bool) -> None:
    names, ladders = ("katago without ladders", "katago"), slice(14, 18)
    start = saved_network(tmp_path / "older.safetensors")
    architecture = replace(start.architecture, features=names[not shown])
    if shown:
        start.weights["conv.weight"][:, ladders] = 0  # it never saw them
    save_network(replace(start, architecture=architecture), tmp_path / "older.safetensors")
    config = config_from(tmp_path / "older.safetensors", 2)
    config = replace(config, run=replace(config.run, ladders=shown))
    train(tmp_path / "run", config)
    last = load_network_file(tmp_path / "run" / "latest.safetensors")
    assert last.architecture.features == names[shown]
    assert last.weights["conv.weight"][:, ladders].any() == shown


def test_it_goes_on_when_its_start_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, run = tmp_path / "older.safetensors", tmp_path / "run"
    saved_network(start)
    train(run, config_from(start, 1))
    start.unlink()
    (run / "networks" / "000000.safetensors").unlink()
    assert "train on with" in capsys.readouterr().err
    train(run, config_from(start, 2))
    last = load_network_file(run / "latest.safetensors")
    assert last.architecture.channels == 40
    assert last.provenance["started_from"] == "older, 18.5 minutes, 464464 games"


def test_a_start_that_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    start = tmp_path / "older.safetensors"
    save_network(for_one_board_alone(), start)
    with pytest.raises(ValueError, match="older is for 4x4, and such networks are not trained"):
        train(tmp_path / "run", config_from(start, 1))
    assert not (tmp_path / "run").exists()


def test_a_refused_start_leaves_a_folder_as_it_was(tmp_path: Path) -> None:
    start, run = tmp_path / "older.safetensors", tmp_path / "run"
    save_network(for_one_board_alone(), start)
    (run / "games").mkdir(parents=True)
    (run / "games" / "mine.sgf").write_text("(;GM[1])")
    with pytest.raises(ValueError, match="such networks are not trained"):
        train(run, config_from(start, 1))
    assert [path.name for path in run.rglob("*.sgf")] == ["mine.sgf"]


def test_a_start_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"missing\.safetensors"):
        train(tmp_path / "run", config_from(tmp_path / "missing.safetensors", 1))
    # The folder is free for the next try.
    saved_network(tmp_path / "older.safetensors")
    open_run_with(tmp_path / "run", config_from(tmp_path / "older.safetensors", 1))
