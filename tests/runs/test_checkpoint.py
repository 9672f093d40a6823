"""Checkpoints: what was saved is loaded, and nothing that happens loses a run."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.runs.checkpoint import load_latest, save_checkpoint
from tengen.runs.folder import RunError, RunFolder, create_run


def arrays_of(number: int, size: int = 1000) -> dict[str, NDArray[Any]]:
    return {"weights": np.full((size,), number, np.float32), "step": np.array(number, np.int64)}


def save(folder: RunFolder, number: int) -> Path:
    return save_checkpoint(folder, number, arrays_of(number), {"number": number})


def names(folder: RunFolder) -> list[str]:
    return sorted(each.name for each in folder.checkpoints.iterdir())


def test_what_was_saved_is_loaded(folder: RunFolder) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "network.weight": np.random.default_rng(1).normal(size=(3, 5, 2)).astype(np.float32),
        "turned": np.arange(12, dtype=np.int16).reshape(3, 4).T[::2],
        "half": np.array([np.nan, np.inf, 1], np.float16),
        "random": np.frombuffer(b"state of a generator", np.uint8),
        "scalar": np.array(-7, np.int64),
        "flags": np.array([[True, False]]),
        "empty": np.zeros((0, 3)),
    }
    facts: dict[str, Any] = {
        "games": 10**12,
        "window": [1, 2.5, None],
        "碁": {"rate": 0.1, "noisy": True},
    }
    path = save_checkpoint(folder, 12, arrays, facts)
    assert path.name == "checkpoint-00000012.safetensors"
    found = load_latest(folder)
    assert found is not None
    assert (found.number, found.facts) == (12, facts)
    assert found.arrays.keys() == arrays.keys()
    for name, values in arrays.items():
        assert found.arrays[name].dtype == values.dtype
        assert found.arrays[name].shape == values.shape
        np.testing.assert_array_equal(found.arrays[name], values)


def test_a_new_run_has_no_checkpoint(folder: RunFolder) -> None:
    assert load_latest(folder) is None


def test_the_last_three_are_kept_by_number_and_not_by_name(folder: RunFolder) -> None:
    for number in (8, 9, 10, 99_999_999, 100_000_000):
        save(folder, number)
    kept = [f"checkpoint-{number}.safetensors" for number in ("00000010", 10**8, 99_999_999)]
    assert names(folder) == kept
    found = load_latest(folder)
    assert found is not None
    assert found.number == 100_000_000


def test_the_same_number_replaces_and_a_smaller_one_is_refused(folder: RunFolder) -> None:
    save(folder, 5)
    save_checkpoint(folder, 5, arrays_of(5), {"number": "again"})
    with pytest.raises(ValueError, match="checkpoint 4 is older than 5"):
        save(folder, 4)
    found = load_latest(folder)
    assert found is not None
    assert found.facts == {"number": "again"}


def test_objects_are_refused_by_name(folder: RunFolder) -> None:
    with pytest.raises(ValueError, match="things: a checkpoint holds numbers, not object"):
        save_checkpoint(folder, 1, {"things": np.array([None])}, {})
    assert names(folder) == []


@pytest.mark.parametrize("damage", ["cut", "emptied", "flipped", "facts", "foreign"])
def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_is_used(
    folder: RunFolder, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save(folder, 1)
    path = save(folder, 2)
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "emptied":
        path.write_bytes(b"")
    elif damage == "flipped":
        path.write_bytes(content[:-5] + bytes([content[-5] ^ 1]) + content[-4:])
    elif damage == "facts":
        path.write_bytes(content.replace(rb"\"number\": 2", rb"\"number\": 3"))
    else:
        path.write_bytes(b"<html>" + content)
    assert path.read_bytes() != content
    found = load_latest(folder)
    assert found is not None
    assert (found.number, found.facts) == (1, {"number": 1})
    assert names(folder) == [
        "checkpoint-00000001.safetensors",
        "checkpoint-00000002.safetensors.damaged",
    ]
    assert f"tengen: {path}: damaged: " in capsys.readouterr().err
    save(folder, 2)
    found = load_latest(folder)
    assert found is not None
    assert found.number == 2


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    folder = create_run(tmp_path / "run", "")
    content = save_checkpoint(folder, 1, {"a": np.arange(9, dtype=np.uint8)}, {}).read_bytes()
    for length in range(len(content)):
        save_checkpoint(folder, 2, {}, {}).write_bytes(content[:length])
        found = load_latest(folder)
        assert found is not None
        assert found.number == 1


def test_a_run_whose_checkpoints_are_all_damaged_does_not_begin_anew(folder: RunFolder) -> None:
    for number in (1, 2):
        save(folder, number).write_bytes(b"?")
    for _ in range(2):  # nor at the second attempt
        with pytest.raises(RunError, match=r"all checkpoints are damaged .*restore one, or remove"):
            load_latest(folder)
    for path in folder.checkpoints.iterdir():
        path.unlink()
    assert load_latest(folder) is None


def test_a_checkpoint_of_a_later_version_is_no_damage(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr("tengen.runs.checkpoint.FORMAT", "tengen checkpoint 99")
        save(folder, 1)
    with pytest.raises(RunError, match=r"'tengen checkpoint 99'; .*update Tengen"):
        load_latest(folder)
    assert names(folder) == ["checkpoint-00000001.safetensors"]


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_checkpoints_as_they_were(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    save(folder, 1)
    with monkeypatch.context() as full:
        full.setattr(step, fail)
        with pytest.raises(RunError, match=r"full \([\d.]+ [kMGT]B free, 4\.\d kB needed\); make"):
            save(folder, 2)
    assert names(folder) == ["checkpoint-00000001.safetensors"]
    found = load_latest(folder)
    assert found is not None
    assert found.number == 1


def test_a_file_that_cannot_be_written_to_its_end_leaves_nothing_behind(folder: RunFolder) -> None:
    code = (
        "import resource, sys\n"
        "import numpy as np\n"
        "from tengen.runs.checkpoint import save_checkpoint\n"
        "from tengen.runs.folder import RunError\n"
        "from tengen.runs.folder import open_run\n"
        "folder = open_run(sys.argv[1])\n"
        "save_checkpoint(folder, 1, {'a': np.zeros(10)}, {})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    save_checkpoint(folder, 2, {'a': np.zeros(1_000_000)}, {})\n"
        "except RunError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder.path)], capture_output=True, text=True, check=True
    )
    assert "the disk is full" in run.stdout
    assert "8.0 MB needed" in run.stdout
    assert names(folder) == ["checkpoint-00000001.safetensors"]


def test_a_folder_that_became_read_only_is_explained(read_only: Path) -> None:
    with pytest.raises(RunError, match=r"may not be written .*change its permissions"):
        save(RunFolder(read_only), 1)


def test_what_killed_processes_left_is_removed(folder: RunFolder) -> None:
    (folder.checkpoints / ".checkpoint-00000001.safetensors.12345678.unfinished").write_bytes(b"")
    save(folder, 1)
    assert names(folder) == ["checkpoint-00000001.safetensors"]


# Forks for each line it reads, which costs less than to start anew: tells the child's number, what
# the child saves, and that it has ended.
SAVERS = """
import itertools, os, sys
import numpy as np
from tengen.runs.checkpoint import load_latest, save_checkpoint
from tengen.runs.folder import RunLock, open_run

def save_on():
    folder = open_run(sys.argv[1])
    lock = RunLock(folder.path)
    found = load_latest(folder)
    assert found is None or (found.arrays["a"] == found.number).all()
    for number in itertools.count(found.number + 1 if found else 1):
        save_checkpoint(folder, number, {"a": np.full(1_000_000, number)}, {"number": number})
        print(number, flush=True)

for _ in iter(sys.stdin.readline, ""):
    if (child := os.fork()) == 0:
        print(os.getpid(), flush=True)
        save_on()
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


def test_thirty_kills_lose_nothing_that_was_saved(folder: RunFolder) -> None:
    dice = random.Random(7)
    reached = 0
    command = [sys.executable, "-c", SAVERS, str(folder.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as savers:
        assert savers.stdin is not None
        assert savers.stdout is not None
        for _ in range(30):
            savers.stdin.write("\n")
            savers.stdin.flush()
            process = int(savers.stdout.readline())
            first = savers.stdout.readline()  # it has loaded, saved one, and goes on
            time.sleep(dice.uniform(0, 0.15))
            os.kill(process, signal.SIGKILL)
            saved = [first, *iter(savers.stdout.readline, "ended\n")]
            told = int(saved[-1])
            found = load_latest(folder)
            assert found is not None
            assert found.number >= told > reached
            assert found.facts == {"number": found.number}
            assert (found.arrays["a"] == found.number).all()
            reached = found.number
    assert not [name for name in names(folder) if name.endswith(".damaged")]
    assert len([name for name in names(folder) if name.startswith("checkpoint-")]) <= 4
