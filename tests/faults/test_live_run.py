"""A run that is killed, whose disk is full, clock jumps and files are cut, loses nothing."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from tengen.runs.checkpoint import load_latest
from tengen.runs.folder import RunFolder
from tengen.selfplay.record import joined
from tests.faults.faulty_process import started
from tests.replay.games import read_shards
from tests.runs.test_kills import assert_consistent, first_words, saved_iteration

KILLS = int(os.environ.get("TENGEN_KILLS", "100"))
FAULTS = ("kill", "kill", "kill", "clock", "disk", "cut")
DISK = 60_000  # bytes of a file: less than a checkpoint has
BY_NAME: dict[str, dict[str, Any]] = {"clock": {"clock": True}, "disk": {"disk": DISK}}
LIMIT = 1200.0  # seconds for an iteration: the first one compiles kernels


def cut_last_lines(path: Path, choice: random.Random) -> None:
    """What a power failure may do to files that are added to: their last line is cut."""
    for name in ("metrics.jsonl", "ratings.jsonl"):
        file = path / name
        if file.exists() and (size := file.stat().st_size) > 1:
            with file.open("r+b") as opened:
                opened.truncate(size - choice.randrange(1, min(size, 60)))


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_a_run_survives_faults(tmp_path: Path) -> None:
    path, choice = tmp_path / "run", random.Random(1)
    words, iteration, kills = first_words(), 0, 0
    while kills < KILLS:
        fault = choice.choice(FAULTS) if iteration else "kill"
        process = started(BY_NAME.get(fault, {}), "tengen", "train", str(path), *words)
        began = time.monotonic()
        try:
            if fault == "disk":
                errors = process.communicate(timeout=LIMIT)[1]
                assert process.returncode == 1, errors
                assert "Traceback" not in errors
                assert "make room, then start" in errors
            else:
                # A third are killed wherever they are, the others soon after an iteration was saved.
                if kills % 3 == 0:
                    time.sleep(choice.uniform(0.1, 8))
                while kills % 3 and saved_iteration(path) <= iteration:
                    assert process.poll() is None, process.communicate()[1]
                    assert time.monotonic() - began < LIMIT
                    time.sleep(0.01)
                time.sleep(choice.uniform(0, 0.5))
                assert process.poll() is None, process.communicate()[1]
                process.kill()
                errors = process.communicate()[1]
                kills += 1
        finally:
            process.kill()
        assert "damaged" not in errors or fault == "cut", errors
        assert saved_iteration(path) >= iteration, "what was saved is lost"
        iteration = saved_iteration(path)
        if fault == "cut":
            cut_last_lines(path, choice)
        words = [] if (path / "config.toml").exists() else words
        print(f"{kills} kills, {fault}, iteration {iteration}, {time.monotonic() - began:.0f} s")
    ended = started({}, "tengen", "train", str(path), "--iterations", str(iteration + 2))
    errors = ended.communicate(timeout=10 * LIMIT)[1]
    assert ended.returncode == 0, errors
    assert_consistent(path)
    folder = RunFolder(path)
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    assert checkpoint.number == iteration + 2
    numbers = joined(list(read_shards(folder.shards))).games["number"].tolist()
    assert len(set(numbers)) == len(numbers) == checkpoint.facts["games"]  # no loss and no double
