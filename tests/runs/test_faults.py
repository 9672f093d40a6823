"""What can go wrong in a run: each fault is told in words, and costs as little as it can."""

from __future__ import annotations

import errno
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tengen.atomic_files import replace_file
from tengen.frontends import cli
from tengen.runs import checkpoint
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunError, RunFolder, read_lines
from tengen.runs.params import RatingParams
from tengen.runs.run import train
from tengen.training import trainer
from tengen.training.replay_buffer import Ring, TrainingBatch
from tests.runs.test_run import SMALL, games_of

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = replace(SMALL, run=replace(SMALL.run, iterations=3), rating=RatingParams(every=0))


def failing_from(call: int, function: Callable[..., Any], error: OSError) -> Callable[..., Any]:
    """A function that works until this call of it."""
    calls = 0

    def wrapped(*words: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= call:
            raise error
        return function(*words, **named)

    return wrapped


def command_line(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    """The exit status of a command."""
    monkeypatch.setattr(sys, "argv", ["tengen", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.mark.parametrize("name", ["replace_file", "write_shard"])
def test_a_full_disk_stops_a_run_and_leaves_its_last_checkpoint(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, full = tmp_path / "run", OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, name, failing_from(2, getattr(checkpoint, name), full))
        with pytest.raises(RunError, match=r"the disk is full .* make room, then start .* again"):
            train(path, TINY)
        patch.setattr(checkpoint, name, failing_from(1, getattr(checkpoint, name), full))
        assert command_line(patch, "train", str(path)) == 1
    kept = load_latest(RunFolder(path))
    assert kept is not None
    assert kept.number == 1
    train(path)  # there is room again
    went_on = load_latest(RunFolder(path))
    assert went_on is not None
    assert went_on.number == 3
    numbers = games_of(path).games["number"].tolist()
    assert len(set(numbers)) == len(numbers) == went_on.facts["games"]
    assert [line["step"] for line in read_lines(RunFolder(path).metrics)] == [1, 2, 3]


def test_a_disk_that_has_no_room_for_a_network_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, full = tmp_path / "run", OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr("tengen.runs.folder.replace_file", failing_from(2, replace_file, full))
        with pytest.raises(RunError, match=r"networks/000000.* the disk is full .* start the run"):
            train(path, TINY)
    train(path)
    assert (path / "networks" / "000000.safetensors").is_file()


def test_a_folder_that_may_not_be_written_is_named(read_only: Path) -> None:
    for path in (read_only, read_only / "run"):
        with pytest.raises(RunError, match=r"may not be written .* change its permissions"):
            train(path, TINY)


def test_a_loss_that_is_no_number_costs_some_steps_and_halves_the_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, calls = Ring.draw, 0

    def poisoned(ring: Ring, count: int, key: torch.Tensor) -> TrainingBatch:
        nonlocal calls
        calls += 1
        batch = draw(ring, count, key)
        return batch._replace(score=batch.score * math.nan) if calls == 60 else batch

    monkeypatch.setattr(Ring, "draw", poisoned)
    path = tmp_path / "run"
    train(path, TINY)
    assert "not finite" in capsys.readouterr().err
    lines = read_lines(RunFolder(path).metrics)
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert math.isfinite(lines[-1]["loss/total"])
    kept = load_latest(RunFolder(path))
    assert kept is not None
    assert kept.arrays["trainer.rate_factor"] == 0.5
    floats = [values for values in kept.arrays.values() if values.dtype.kind == "f"]
    assert all(torch.from_numpy(values).isfinite().all() for values in floats)


def test_losses_that_are_never_numbers_end_the_run_and_leave_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    train(path, replace(TINY, run=replace(TINY.run, iterations=1)))
    draw = Ring.draw

    def poisoned(ring: Ring, count: int, key: torch.Tensor) -> TrainingBatch:
        batch = draw(ring, count, key)
        return batch._replace(score=batch.score * math.nan)

    monkeypatch.setattr(Ring, "draw", poisoned)
    monkeypatch.setattr(trainer, "MOST_ROLL_BACKS", 2)
    longer = replace(TINY, run=replace(TINY.run, iterations=9))
    with pytest.raises(RunError, match=r"run: losses or gradients were not finite"):
        train(path, longer)
    kept = load_latest(RunFolder(path))
    assert kept is not None
    floats = [values for values in kept.arrays.values() if values.dtype.kind == "f"]
    assert all(torch.from_numpy(values).isfinite().all() for values in floats)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("trainig.rate=1", "trainig"),
        ("training.rat=1", "rat"),
        ("training.rate=fast", "rate"),
        ("training.rate=-1", "rate must be"),
        ("training.rate", "section.key=value"),
    ],
)
def test_a_setting_that_cannot_be_is_named_and_no_run_is_made(
    setting: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run"
    assert command_line(monkeypatch, "train", str(path), "--set", setting) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("tengen: ")
    assert said.count("\n") == 1
    assert not path.exists()
