"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


SETTINGS = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")


@pytest.mark.timeout(1200)
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass_in_other_modes(tmp_path: Path) -> None:
    # Without the compiler NumPy warns of the overflow that hashing and random numbers live on.
    command = [sys.executable, "-m", "pytest", "-m", "kernel and not long", "tests"]
    command += ["-W", "ignore:overflow:RuntimeWarning", "-p", "no:cacheprovider"]
    runs = {}
    for setting in SETTINGS:  # both at a time: they take minutes
        with (tmp_path / setting).open("wb") as out:
            environment = os.environ | {setting: "1"}
            runs[setting] = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT
            )
    for setting, run in runs.items():
        status = run.wait()
        said = (tmp_path / setting).read_text()
        assert status == 0, f"{setting}: {said[-4000:]}"
        assert " passed" in said
