"""A run that is killed, whose disk is full, clock jumps and files are torn, loses nothing."""

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
FAULTS = ("kill", "kill", "kill", "clock", "disk", "torn")
DISK = 60_000  # bytes of a file: less than a checkpoint has
BY_NAME: dict[str, dict[str, Any]] = {"clock": {"clock": True}, "disk": {"disk": DISK}}
LIMIT = 1200.0  # seconds for an iteration: the first one compiles kernels


def tear_last_lines(path: Path) -> None:
    """What a kill in the middle of a write leaves: half a line at the end of a file."""
    for name in ("metrics.jsonl", "ratings.jsonl"):
        if (path / name).exists():
            with (path / name).open("a", encoding="utf-8") as file:
                file.write('{"step": 10000, "iteration": 10000, "loss')


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
                # A third are killed wherever they are, the others after an iteration was saved.
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
        assert "Traceback" not in errors
        assert saved_iteration(path) >= iteration, "what was saved is lost"
        iteration = saved_iteration(path)
        if fault == "torn":
            tear_last_lines(path)
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
