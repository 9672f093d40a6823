"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass(setting: str) -> None:
    # Without the compiler NumPy warns of the overflow that hashing and random numbers live on.
    command = [sys.executable, "-m", "pytest", "-m", "kernel and not long", "tests"]
    command += ["-W", "ignore:overflow:RuntimeWarning", "-p", "no:cacheprovider"]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | {setting: "1"}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
