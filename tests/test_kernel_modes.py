"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


# The fleet's kernels, which are all of them in one, take as long to compile as all the others.
MODES = (
    ("NUMBA_BOUNDSCHECK", ("tests/selfplay",)),
    ("NUMBA_BOUNDSCHECK", ("tests", "--ignore=tests/selfplay")),
    ("NUMBA_DISABLE_JIT", ("tests",)),
)


@pytest.mark.timeout(1200)
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass_in_other_modes(tmp_path: Path) -> None:
    # Without the compiler NumPy warns of the overflow that hashing and random numbers live on.
    command = [sys.executable, "-m", "pytest", "-m", "kernel and not long"]
    command += ["-W", "ignore:overflow:RuntimeWarning", "-p", "no:cacheprovider"]
    runs = []
    for k, (setting, tests) in enumerate(MODES):  # all at a time: they take minutes
        with (tmp_path / str(k)).open("wb") as out:
            environment = os.environ | {setting: "1"}
            runs.append(
                subprocess.Popen(
                    [*command, *tests],
                    cwd=ROOT,
                    env=environment,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                )
            )
    for k, status in enumerate([run.wait() for run in runs]):
        said = (tmp_path / str(k)).read_text()
        assert status == 0, f"{MODES[k]}: {said[-4000:]}"
        assert " passed" in said
