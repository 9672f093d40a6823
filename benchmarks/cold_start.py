"""Cold start: seconds to a first move and to a run's first ticks, with an empty cache of kernels.

The baseline is Numba's own way in one process: every function is linked with all it calls,
optimised and translated for itself. Both start from an empty folder in turn; both play the same
move, by GTP, and the same ticks of a toy run on the CPU. CPU time counts all processes, while the
time by the clock gains from several cores and suffers from other users of them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

# Run in a new process, before any kernel is imported.
OURS = ""
BASELINE = """
from numba.core.registry import CPUDispatcher
from tengen import kernel_compiler

class Plain(CPUDispatcher):
    def __init__(self, function, options):
        super().__init__(function, targetoptions=dict(options))

class PlainParallel(CPUDispatcher):
    def __init__(self, function, options):
        super().__init__(function, targetoptions={**options, "parallel": True})

kernel_compiler.EntryPoint, kernel_compiler.ParallelEntryPoint = Plain, PlainParallel
from tengen import parallel_compiling
parallel_compiling.compile_for = lambda task, name: None
"""

FIRST_MOVE = """
import sys
from tengen.frontends.cli import main
sys.argv = ["tengen", "gtp", "--visits", "10"]
main()
"""
FIRST_TICKS = """
import os, sys
from tengen.runs.params import RunParams
from tengen.runs.run import RunConfig, train
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams

def end(fleet):
    assert fleet.counts.rows
    os._exit(0)

Fleet.take_games = end
games = SelfPlayParams(games=8, visits=8, fast_visits=4, board_sizes=(5,))
train(sys.argv[1], RunConfig(run=RunParams(device="cpu", games=100), selfplay=games))
"""


class Seconds(NamedTuple):
    """What a start took."""

    clock: float
    processor: float


def start(code: str, commands: str = "") -> Seconds:
    """Run code in a new process with an empty cache, and these lines as its input."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "commands")
        told.write_text(commands)
        environment = {**os.environ, "TENGEN_CACHE_DIR": str(Path(folder, "cache"))}
        environment.pop("NUMBA_CACHE_DIR", None)
        began = time.monotonic()
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", code, str(Path(folder, "run"))],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, str(told), os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(Path(folder, "out")), os.O_WRONLY | os.O_CREAT, 0o600),
            ],
        )
        _, status, used = os.wait4(process, 0)
        seconds = Seconds(time.monotonic() - began, used.ru_utime + used.ru_stime)
        if status or (commands and "= " not in Path(folder, "out").read_text()):
            raise SystemExit("the process failed")
    return seconds


def main() -> None:
    """Print seconds, and the ratios to the baseline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    rounds = parser.parse_args().rounds
    tasks = {
        "first move": (FIRST_MOVE, "genmove b\nquit\n"),
        "first ticks of a run": (FIRST_TICKS, ""),
    }
    for name, (code, commands) in tasks.items():
        for _ in range(rounds):
            before, ours = (start(way + code, commands) for way in (BASELINE, OURS))
            print(
                f"{name}: {ours.processor:.1f} s of CPU time, {ours.clock:.1f} s by the clock; "
                f"Numba's own way {before.processor:.1f} and {before.clock:.1f} s; ratios "
                f"{ours.processor / before.processor:.2f} and {ours.clock / before.clock:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
