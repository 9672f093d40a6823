"""Runs that learn what another network thinks: distillation."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator, encode, evaluate
from tengen.network.files.bundled import FOLDER
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.learned_from import learned_from
from tengen.network.network_data import NetworkData
from tengen.replay.rows import TrainingRows
from tengen.replay.teacher_outputs import ENDING, TeacherOutputs, evaluate_rows
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, RunLock, read_lines
from tengen.runs.params import DataParams, RatingParams, RunConfig, RunParams
from tengen.runs.rating import network_file
from tengen.runs.run import Run, open_run_with, train
from tengen.runs.selfplay_network import evaluator_on
from tengen.selfplay.params import SelfPlayParams
from tengen.training.params import TrainingParams
from tests.katago_data import network_path
from tests.runs.test_records import few_games
from tests.training.samples import positions_of_random_games

pytestmark = pytest.mark.usefixtures("one_thread")

TEACHER = FOLDER / "tengen-9x9.safetensors"
SMALL = RunConfig(
    run=RunParams(
        model="b2c32",
        device="cpu",
        iterations=4,
        iteration_rows=400,
        first_rows=200,
        checkpoint_seconds=0,
    ),
    selfplay=SelfPlayParams(
        games=16, visits=3, fast_visits=3, full_share=0.5, surprise_share=0.0, board_sizes=(9,)
    ),
    training=TrainingParams(batch=32, warm_up=20),
    rating=RatingParams(every=0),
    data=DataParams(teacher=str(TEACHER), held_out=0.2),
)
TINY = replace(
    SMALL,
    run=replace(SMALL.run, iteration_rows=90, first_rows=60),
    selfplay=replace(SMALL.selfplay, board_sizes=(4, 5)),
)


def session(path: Path, config: RunConfig, iterations: int) -> None:
    """Go on for so many iterations and end as if killed."""
    with RunLock(path):
        folder, config = open_run_with(path, config)
        with Run(folder, config) as run:
            run.begin()
            for _ in range(iterations):
                run.iterate()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many positions the teacher was asked about, each time."""
    counts: list[int] = []

    def counting(teacher: Evaluator, features: FeatureSet, rows: TrainingRows) -> TeacherOutputs:
        counts.append(len(rows.score))
        return evaluate_rows(teacher, features, rows)

    monkeypatch.setattr("tengen.runs.row_maker.evaluate_rows", counting)
    return counts


def apart(
    one: Evaluator, other: Evaluator, positions: list[Position]
) -> tuple[float, float, float]:
    """How far two networks are apart: divergence of policies, winrate, points owned."""
    mine, theirs = (evaluate(each, encode(each.features, positions)) for each in (one, other))

    def logs(logits: NDArray[np.float32]) -> NDArray[np.float64]:
        shifted: NDArray[np.float64] = (logits - logits.max(1, keepdims=True)).astype(np.float64)
        shifted -= np.log(np.exp(shifted).sum(1, keepdims=True))
        return shifted

    teacher, student = logs(theirs.policy), logs(mine.policy)
    divergence = (np.exp(teacher) * (teacher - student)).sum(1).mean()
    wins = np.abs(mine.value[:, 0] - theirs.value[:, 0]).mean()
    owners = np.abs(mine.ownership - theirs.ownership).mean()
    return float(divergence), float(wins), float(owners)


def test_a_student_comes_closer_to_its_teacher_and_plays_better(tmp_path: Path) -> None:
    config = replace(SMALL, rating=RatingParams(every=4, games=20, visits=4, opponents=1))
    train(tmp_path / "run", config)
    folder = RunFolder(tmp_path / "run")
    lines = [line for line in read_lines(folder.metrics) if "loss/policy" in line]
    assert lines[-1]["loss/policy"] < 0.9 * lines[0]["loss/policy"]
    seen = [line for line in lines if "held out/policy" in line]
    assert seen[-1]["held out/policy"] < min(seen[0]["held out/policy"], 0.85 * math.log(82))
    assert lines[-1]["held out/same move"] > 0.1  # 1/82 by chance
    # On positions that are not of its games, by what is measured here and not in the run.
    positions = positions_of_random_games(8, 40, (9,))
    teacher = evaluator_on("cpu", load_network_file(TEACHER))
    first, last = (
        apart(evaluator_on("cpu", load_network_file(path)), teacher, positions)
        for path in (network_file(folder, "000000"), folder.latest)
    )
    assert all(after < 0.9 * before for before, after in zip(first, last, strict=True)), (
        first,
        last,
    )
    (match,) = read_lines(folder.ratings)
    assert (match["first"], match["second"]) == ("000004", "000000")
    assert match["wins"] >= 14  # of 20
    assert learned_from(load_network_file(folder.latest).provenance) == "teacher tengen-9x9"


def test_a_run_that_was_cut_equals_one_that_was_not(tmp_path: Path, asked: list[int]) -> None:
    for name, parts in (("whole", [3]), ("cut", [1, 2])):
        for iterations in parts:
            session(tmp_path / name, TINY, iterations)
    one, other = (load_latest(RunFolder(tmp_path / name)) for name in ("whole", "cut"))
    assert one is not None
    assert other is not None
    assert (one.facts["games"], one.facts["rows"]) == (other.facts["games"], other.facts["rows"])
    theirs = other.part("trainer.")
    for name, values in one.part("trainer.").items():
        np.testing.assert_array_equal(values, theirs[name], name)
    assert sum(asked) > 2 * one.facts["rows"]  # those that are held out, too


def test_what_was_asked_is_not_asked_again(tmp_path: Path, asked: list[int]) -> None:
    session(tmp_path / "run", TINY, 1)
    folder = RunFolder(tmp_path / "run")
    before = sum(asked)
    opened, config = open_run_with(tmp_path / "run", TINY)
    with RunLock(tmp_path / "run"), Run(opened, config) as run:
        held_out = run._replay.held_out
        assert held_out is not None
        assert sum(asked) - before == held_out.total  # once more, and kept then
        assert run._replay.buffer.total > held_out.total
    asked.clear()
    with RunLock(tmp_path / "run"), Run(opened, config):
        assert sum(asked) == 0
    for file in folder.shards.glob(f"*{ENDING}"):
        file.write_bytes(file.read_bytes()[:-20])
    with RunLock(tmp_path / "run"), Run(opened, config) as run:
        assert sum(asked) >= run._replay.buffer.total


def test_a_teacher_is_asked_once_about_records(tmp_path: Path, asked: list[int]) -> None:
    games = few_games(tmp_path / "games", 30)
    data = DataParams(records=(str(games),), teacher=str(TEACHER), epochs=3.0, held_out=0.0)
    config = replace(TINY, data=data, run=replace(TINY.run, iterations=0, first_rows=20))
    train(tmp_path / "run", config)
    checkpoint = load_latest(RunFolder(tmp_path / "run"))
    assert checkpoint is not None
    assert checkpoint.facts["rows"] == 3 * sum(asked)
    network = load_network_file(tmp_path / "run" / "latest.safetensors")
    assert learned_from(network.provenance) == "records and teacher tengen-9x9"


def test_a_teacher_may_see_other_inputs(tmp_path: Path) -> None:
    """`rich` inputs learn from a network with KataGo's."""
    config = replace(TINY, run=replace(TINY.run, features="rich", iterations=2))
    train(tmp_path / "run", config)
    lines = read_lines(RunFolder(tmp_path / "run").metrics)
    assert lines[-1]["loss/policy"] < lines[0]["loss/policy"]


def test_another_teacher_under_the_same_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "teacher.safetensors"
    shutil.copy(TEACHER, path)
    config = replace(TINY, data=replace(TINY.data, teacher=str(path)))
    session(tmp_path / "run", config, 1)
    data = load_network_file(TEACHER)
    save_network(NetworkData("other", data.architecture, data.weights, data.scaling, {}), path)
    with pytest.raises(RunError, match="is not the network that has taught this run so far"):
        session(tmp_path / "run", config, 1)
    path.unlink()
    with pytest.raises(ValueError, match=r"teacher\.safetensors: there is no such network"):
        session(tmp_path / "run", config, 1)


@pytest.mark.parametrize(
    ("teacher", "reason"),
    [
        (lambda: network_path("human-nbt-mish-v15"), "is no teacher here"),
        (lambda: "missing.safetensors", "there is no such network file"),
    ],
)
def test_what_cannot_teach_is_refused_and_leaves_no_folder(
    tmp_path: Path, teacher: Callable[[], object], reason: str
) -> None:
    config = replace(TINY, data=replace(TINY.data, teacher=str(teacher())))
    with pytest.raises(ValueError, match=reason):
        train(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()
