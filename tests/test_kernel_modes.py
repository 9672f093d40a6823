"""The kernel tests pass again as plain Python, and compiled with bounds checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GAME = ROOT / "tests" / "game"
# To collect all other files, too, takes as long as many of these tests.
KERNEL_TESTS = [
    path
    for path in sorted(ROOT.glob("tests/**/test_*.py"))
    if re.search(r"\bmark\.kernel\b", path.read_text(encoding="utf-8"))
]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("setting", "tests"),
    [
        ("NUMBA_DISABLE_JIT", KERNEL_TESTS),
        ("NUMBA_BOUNDSCHECK", [path for path in KERNEL_TESTS if GAME in path.parents]),
        # Plain Python finds most of what is out of bounds, too, and all else takes minutes to
        # compile.
        pytest.param(
            "NUMBA_BOUNDSCHECK",
            [path for path in KERNEL_TESTS if GAME not in path.parents],
            marks=pytest.mark.long,
        ),
    ],
    ids=["plain Python", "bounds checks of the game", "bounds checks of all else"],
)
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="these are the kernel tests' modes")
def test_kernel_tests_pass_in_other_modes(setting: str, tests: list[Path]) -> None:
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
