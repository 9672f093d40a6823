"""A run that is killed again and again, or interrupted, goes on as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tengen.network.files.tengen_format import load_network_file
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.rating import ratings_of
from tengen.selfplay.record import joined
from tests.replay.games import read_shards

KILLS = 30
SETTINGS = (
    "selfplay.games=16",
    "selfplay.visits=12",
    "selfplay.fast_visits=4",
    "selfplay.full_share=0.5",
    "training.batch=32",
    "training.warm_up=20",
    "run.iteration_rows=200",
    "run.first_rows=200",
    "run.checkpoint_seconds=0",
    "rating.every=2",
    "rating.games=4",
    "rating.visits=4",
)
FIRST_WORDS = ("--board-size", "3", "--model", "b2c32", "--device", "cpu")


def started(path: Path, *words: str) -> subprocess.Popen[str]:
    """`tengen train` in a process of its own, on one thread."""
    command = [sys.executable, "-m", "tengen", "train", str(path), *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def first_words() -> list[str]:
    return [*FIRST_WORDS, *(word for setting in SETTINGS for word in ("--set", setting))]


def saved_iteration(path: Path) -> int:
    """Of the newest checkpoint, by its name alone: a run writes there."""
    names = [file.stem for file in (path / "checkpoints").glob("checkpoint-*.safetensors")]
    return max((int(name.partition("-")[2]) for name in names), default=0)


def wait_for_iteration(process: subprocess.Popen[str], path: Path, iteration: int) -> None:
    while saved_iteration(path) < iteration:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)


def assert_consistent(path: Path) -> None:
    """What a run knows of itself at rest."""
    folder = RunFolder(path)
    iterations = [line["step"] for line in read_lines(folder.metrics) if "games" in line]
    assert iterations == list(range(1, len(iterations) + 1))
    played = [line["games"] for line in read_lines(folder.metrics) if "games" in line]
    steps = [line["steps"] for line in read_lines(folder.metrics) if "games" in line]
    assert all(one < other for one, other in pairwise(played))
    assert all(one <= other for one, other in pairwise(steps))
    rated = [line["iteration"] for line in read_lines(folder.ratings)]
    assert all(one <= other for one, other in pairwise(rated))
    pairs = [(line["first"], line["second"]) for line in read_lines(folder.ratings)]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_run_survives_thirty_kills(tmp_path: Path) -> None:
    path, choice = tmp_path / "run", random.Random(1)
    words: list[str] = first_words()
    iteration = 0
    for kill in range(KILLS):
        process = started(path, *words)
        began = time.monotonic()
        # Some are killed wherever they are, starts included; others while there is progress.
        if kill % 3:
            wait_for_iteration(process, path, iteration + 1)
            time.sleep(choice.uniform(0, 2))
        else:
            time.sleep(choice.uniform(0.1, 15))
        assert process.poll() is None, process.communicate()[1]
        process.kill()
        errors = process.communicate()[1]
        assert "damaged" not in errors, errors
        assert saved_iteration(path) >= iteration
        iteration = saved_iteration(path)
        words = [] if (path / "config.toml").exists() else words
        print(f"kill {kill} after {time.monotonic() - began:.1f} s, iteration {iteration}")
    assert iteration >= 20
    ended = started(path, "--iterations", str(iteration + 2))
    errors = ended.communicate()[1]
    assert ended.returncode == 0, errors
    assert_consistent(path)
    folder = RunFolder(path)
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert checkpoint.number == iteration + 2
    games = joined(list(read_shards(folder.shards))).games
    numbers = games["number"].tolist()
    assert len(set(numbers)) == len(numbers) == checkpoint.facts["games"]
    assert f"{iteration + 2:06}" in ratings_of(folder)
    last = load_network_file(folder.networks / f"{iteration + 2:06}.safetensors")
    assert last.provenance["steps"] == str(checkpoint.facts["steps"])
    assert not list(path.rglob("*.damaged"))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_an_interrupt_saves_everything_and_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "run"
    process = started(path, *first_words(), "--set", "run.checkpoint_seconds=1000")
    lines = RunFolder(path).metrics
    while len(read_lines(lines)) < 2:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1]
    assert process.returncode == 0, errors
    assert errors.rstrip().endswith(f"resume with: tengen train {path}")
    checkpoint = load_latest(RunFolder(path))
    assert checkpoint is not None
    assert_consistent(path)
    last = [line for line in read_lines(lines) if "games" in line][-1]
    assert checkpoint.number == last["step"]
    games = joined(list(read_shards(path / "shards"))).games
    assert len(games) == checkpoint.facts["games"] == last["games"]
