"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("setting", "tests"),
    [
        ("NUMBA_DISABLE_JIT", ("tests",)),
        ("NUMBA_BOUNDSCHECK", ("tests/game",)),
        # Plain Python finds most of what is out of bounds, too, and all else takes minutes to
        # compile.
        pytest.param(
            *("NUMBA_BOUNDSCHECK", ("tests", "--ignore=tests/game")), marks=pytest.mark.long
        ),
    ],
)
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass_in_other_modes(setting: str, tests: tuple[str, ...]) -> None:
    # Without the compiler NumPy warns of the overflow that hashing and random numbers live on.
    command = [sys.executable, "-m", "pytest", "-m", "kernel and not long"]
    command += ["-W", "ignore:overflow:RuntimeWarning", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, *tests],
        cwd=ROOT,
        env=os.environ | {setting: "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]
    assert " passed" in run.stdout
