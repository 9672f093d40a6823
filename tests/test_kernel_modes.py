"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[1]

Mode: TypeAlias = tuple[str, tuple[str, ...]]  # a setting of Numba's, and the tests to run so

MODES: tuple[Mode, ...] = (
    ("NUMBA_BOUNDSCHECK", ("tests/game",)),
    ("NUMBA_DISABLE_JIT", ("tests",)),
)
# Plain Python finds most of what is out of bounds, too, and all else takes minutes to compile.
LONG_MODES: tuple[Mode, ...] = (("NUMBA_BOUNDSCHECK", ("tests", "--ignore=tests/game")),)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("modes", [MODES, pytest.param(LONG_MODES, marks=pytest.mark.long)])
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass_in_other_modes(tmp_path: Path, modes: tuple[Mode, ...]) -> None:
    # Without the compiler NumPy warns of the overflow that hashing and random numbers live on.
    command = [sys.executable, "-m", "pytest", "-m", "kernel and not long"]
    command += ["-W", "ignore:overflow:RuntimeWarning", "-p", "no:cacheprovider"]
    runs = []
    for k, (setting, tests) in enumerate(modes):  # all at a time: they take minutes
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
        assert status == 0, f"{modes[k]}: {said[-4000:]}"
        assert " passed" in said
