"""A run that is killed, whose disk is full, clock jumps and files are damaged, loses nothing.

The moments and the kinds of faults are drawn at random, with a seed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tengen.network.files.tengen_format import load_network_file
from tengen.replay.shard import ShardError, read_shard, shard_files, shard_number
from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.rating import ratings_of
from tests.faults.nursery import Nursery, Started

KILLS = int(os.environ.get("TENGEN_KILLS", "100"))
SEED = int(os.environ.get("TENGEN_SEED", "1"))
SETTINGS = (
    "selfplay.games=16",
    "selfplay.visits=12",
    "selfplay.fast_visits=4",
    "selfplay.full_share=0.5",
    "training.batch=32",
    "training.warm_up=20",
    "run.iteration_rows=200",
    "run.first_rows=200",
    "rating.every=2",
    "rating.games=4",
    "rating.visits=4",
)
FIRST_WORDS = ("--board-size", "3", "--model", "b2c32", "--device", "cpu")
# What befalls a run while it works, or its files after it was killed.
FAULTS = ("none", "none", "clock", "disk", "torn lines", "a checkpoint", "a shard")
DISKS = (300, 3_000, 20_000, 60_000)  # bytes of a file, after which writing fails
LIMIT = 3600.0  # seconds for an iteration: the first one compiles kernels


def first_words(*settings: str) -> list[str]:
    """Of a new run."""
    chosen = (*SETTINGS, *settings)
    return [*FIRST_WORDS, *(word for setting in chosen for word in ("--set", setting))]


def saved_iterations(path: Path) -> list[int]:
    """Of all checkpoints, by their names alone: a run writes there."""
    names = [file.stem for file in (path / "checkpoints").glob("checkpoint-*.safetensors")]
    return sorted(int(name.partition("-")[2]) for name in names)


class Watched:
    """A run, and what must not be lost of it."""

    def __init__(self, path: Path, nursery: Nursery, choice: random.Random) -> None:
        self.path, self.folder, self.choice = path, RunFolder(path), choice
        self._nursery = nursery
        self._words = first_words("run.checkpoint_seconds=0")
        self.games: set[int] = set()  # that were saved
        self._damaged: dict[int, set[int]] = {}  # games of shards that we damaged

    @property
    def iteration(self) -> int:
        """That was saved last."""
        return max(saved_iterations(self.path), default=0)

    def start(self, fault: str = "none") -> Started:
        faults: dict[str, dict[str, Any]] = {
            "clock": {"clock": True},
            "disk": {"disk": self.choice.choice(DISKS)},
        }
        begun = self.folder.config.exists()
        words = ["train", str(self.path), *([] if begun else self._words)]
        return self._nursery.start(faults.get(fault, {}), words)

    def live(self, fault: str) -> bool:
        """Let it work for a while and kill it; returns whether it had to be killed."""
        began, process = self.iteration, self.start(fault)
        deadline = time.monotonic() + LIMIT
        try:
            # A third are killed wherever they are, the others after an iteration was saved.
            if self.choice.random() < 1 / 3:
                time.sleep(self.choice.uniform(0.0, 4.0))
            else:
                while self.iteration <= began and process.poll() is None:
                    assert time.monotonic() < deadline, process.errors
                    time.sleep(0.01)
                time.sleep(self.choice.uniform(0.0, 0.5))
        finally:
            ended_itself = process.poll()
            process.send(signal.SIGKILL)
            process.wait(LIMIT)
        assert "Traceback" not in process.errors, process.errors
        if ended_itself is not None:
            assert fault == "disk", process.errors
            assert ended_itself == 1, process.errors
            assert "make room, then start" in process.errors, process.errors
        return ended_itself is None

    def check(self) -> None:
        """Nothing that was saved is lost, and nothing is there twice."""
        checkpoint = load_latest(self.folder) if self.folder.checkpoints.is_dir() else None
        if checkpoint is None:
            assert not self.games
            return
        numbers = list(self._saved_games(int(checkpoint.facts["last_shard"])))
        assert len(numbers) == len(set(numbers)), "a double"
        assert len(numbers) == checkpoint.facts["games"], "a loss"
        assert self.games <= set(numbers), "what was saved is lost"
        self.games = set(numbers)

    def _saved_games(self, last_shard: int) -> Iterator[int]:
        """The games of the shards that a checkpoint refers to, ours of damaged ones included."""
        files = {shard_number(file): file for file in shard_files(self.folder.shards)}
        for number in range(1, last_shard + 1):
            try:
                yield from read_shard(files[number]).games.games["number"].tolist()
            except (KeyError, ShardError):
                yield from self._damaged[number]

    def damage(self, fault: str) -> None:
        """What a kill or a disk may leave behind."""
        if fault == "torn lines":
            for file in (self.folder.metrics, self.folder.ratings):
                if file.exists():
                    with file.open("a", encoding="utf-8") as lines:
                        lines.write('{"step": 10000, "iteration": 10000, "loss')
        elif fault == "a checkpoint":
            if len(saved := saved_iterations(self.path)) > 1:
                self._flip(self.folder.checkpoints / f"checkpoint-{saved[-1]:08}.safetensors")
                self.games = set()  # of the iteration before: checked from the next time on
        elif fault == "a shard" and (files := shard_files(self.folder.shards)):
            file = self.choice.choice(files)
            try:
                games = read_shard(file).games.games["number"].tolist()
            except ShardError:
                return  # damaged already
            self._damaged[shard_number(file)] = set(games)
            self._flip(file)

    def _flip(self, file: Path) -> None:
        content = bytearray(file.read_bytes())
        content[self.choice.randrange(len(content))] ^= 1 << self.choice.randrange(8)
        file.write_bytes(content)


def assert_consistent(folder: RunFolder) -> None:
    """What a run knows of itself at rest."""
    lines = [line for line in read_lines(folder.metrics) if "games" in line]
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(one["games"] < other["games"] for one, other in pairwise(lines))
    assert all(one["steps"] <= other["steps"] for one, other in pairwise(lines))
    rated = [line["iteration"] for line in read_lines(folder.ratings)]
    assert all(one <= other for one, other in pairwise(rated))
    pairs = [(line["first"], line["second"]) for line in read_lines(folder.ratings)]
    assert len(set(pairs)) == len(pairs)


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@pytest.mark.long
@pytest.mark.timeout(6 * LIMIT)
def test_a_run_survives_faults(nursery: Nursery, tmp_path: Path) -> None:
    choice = random.Random(SEED)
    run = Watched(tmp_path / "run", nursery, choice)
    kills, tally = 0, dict.fromkeys(FAULTS, 0)
    began = time.monotonic()
    while kills < KILLS:
        fault = choice.choice(FAULTS) if run.iteration > 1 else "none"
        kills += run.live(fault)
        run.check()
        run.damage(fault)
        tally[fault] += 1
        passed = time.monotonic() - began
        print(f"{kills} kills, {fault}, iteration {run.iteration}, {passed:.0f} s", flush=True)
    print(tally)
    last = run.iteration + 2
    ended = nursery.start({}, ["train", str(run.path), "--iterations", str(last)])
    assert ended.wait(LIMIT) == 0, ended.errors
    run.check()
    assert_consistent(run.folder)
    checkpoint = load_latest(run.folder)
    assert checkpoint is not None
    assert checkpoint.number == last
    assert len(ratings_of(run.folder)) > 1
    network = load_network_file(run.folder.networks / f"{last - last % 2:06}.safetensors")
    assert int(network.provenance["steps"]) <= checkpoint.facts["steps"]


@pytest.mark.long
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_saves_everything_and_says_how_to_go_on(
    nursery: Nursery, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "run"
    words: Sequence[str] = first_words("run.checkpoint_seconds=1000")
    process = nursery.start({}, ["train", str(path), *words])
    folder = RunFolder(path)
    while len(read_lines(folder.metrics)) < 2:
        assert process.poll() is None, process.errors
        time.sleep(0.05)
    process.send(number)
    assert process.wait(LIMIT) == 0, process.errors
    assert process.errors.rstrip().endswith(f"resume with: tengen train {path}")
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert_consistent(folder)
    last = [line for line in read_lines(folder.metrics) if "games" in line][-1]
    assert checkpoint.number == last["step"]
    games = [read_shard(file).games.games for file in shard_files(folder.shards)]
    assert sum(map(len, games)) == checkpoint.facts["games"] == last["games"]
