"""Run a module with a clock that jumps or a disk that is full: `python -m ... FAULTS MODULE WORDS`.

FAULTS is JSON: {"clock": true} lets the wall clock jump by weeks whenever it is read;
{"disk": BYTES} makes every write beyond so many bytes of a file fail, as on a full disk.
"""

from __future__ import annotations

import json
import os
import random
import resource
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# Seconds. Sessions that were not used for 60 days are put away, and compiled kernels for 30 days:
# those of other programs that use the same folder, too.
MOST_JUMP = 20 * 24 * 3600.0


def command(faults: dict[str, Any], module: str, *words: str) -> list[str]:
    """The command that runs a module with faults."""
    return [sys.executable, "-m", "tests.faults.faulty_process", json.dumps(faults), module, *words]


def started(faults: dict[str, Any], module: str, *words: str) -> subprocess.Popen[str]:
    """Such a process, whose messages can be read; on one thread."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return subprocess.Popen(
        command(faults, module, *words),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _let_the_clock_jump() -> None:
    real, draw = time.time, random.Random(0)
    time.time = lambda: real() + draw.uniform(-MOST_JUMP, MOST_JUMP)
    time.time_ns = lambda: int(time.time() * 1e9)


def _fill_the_disk(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writes fail, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def bring_about(faults: dict[str, Any]) -> None:
    """Let these faults befall this process."""
    if faults.get("clock"):
        _let_the_clock_jump()
    if "disk" in faults:
        _fill_the_disk(int(faults["disk"]))


def main() -> None:
    faults, module, *words = sys.argv[1:]
    sys.argv = [module, *words]
    bring_about(json.loads(faults))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
