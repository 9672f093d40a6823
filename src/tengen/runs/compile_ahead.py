"""Compile kernels in other processes, so that a cold start takes less time.

A run on a GPU spends its first minute in `torch.compile`. Meanwhile these processes, each
`python -m tengen.runs.compile_ahead JOB FEATURES`, fill the kernel cache on disk. They import
neither torch nor more of the package than their job needs. A run without a GPU has nothing else to
do meanwhile: `compile_first` waits.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from functools import partial

from tengen.closeable import Closeable
from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.parallel_compiling import compile_for


def compile_first(features: FeatureSet) -> None:
    """Have what a run without a GPU calls compiled and loaded."""
    compile_for(partial(run_a_little, features), f"training {features.name}")
    run_a_little(features)


def run_a_little(features: FeatureSet) -> None:
    """Call all kernels that a run without a GPU calls, for the same types."""
    _play_with_arrays(features)
    _compile_rows(features)
    _compile_matches(features, on_processor=True)


def _play_with_arrays(features: FeatureSet) -> None:
    """Step a tiny fleet once, with planes as numbers, as processors take them."""
    from tengen.game.geometry import Size
    from tengen.network.fake import FakeEvaluator
    from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers
    from tengen.selfplay.fleet import Fleet
    from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch

    buffers = EvaluatorBuffers(FakeEvaluator(features=features), BufferShape(Size(3, 3), 2))
    Fleet([buffers], SelfPlayParams(board_sizes=(3,)), SelfPlaySearch(), 1).tick()


def _compile_self_play(features: FeatureSet) -> None:
    """Step a tiny fleet once, with planes as bits, as GPUs take them."""
    import numpy as np

    from tengen.game.geometry import Size
    from tengen.network.fake import FakeEvaluator
    from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers
    from tengen.selfplay.fleet import Fleet
    from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch

    class BitBuffers(EvaluatorBuffers):
        planes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]  # type: ignore[assignment]

        def launch(self) -> None:
            """Evaluate nothing."""

    buffers = BitBuffers(FakeEvaluator(features=features), BufferShape(Size(3, 3), 2))
    buffers.planes = np.zeros((2, 3, 3), np.uint32)
    buffers.globals = np.zeros((2, features.packed_globals), np.float32)
    Fleet([buffers], SelfPlayParams(board_sizes=(3,)), SelfPlaySearch(), 1).tick()


def _compile_rows(features: FeatureSet) -> None:
    """Encode no games."""
    from tengen.game.geometry import Size
    from tengen.replay.rows import encode_padded
    from tengen.selfplay.record import no_games

    encode_padded(no_games(), features, Size(3, 3), 1)


def _compile_matches(features: FeatureSet, *, on_processor: bool = False) -> None:
    """Play two tiny games, as networks on that device do, and write the record of one."""
    from tengen.evaluation.lockstep import Player, openings, play_in_lockstep
    from tengen.game.position import Position
    from tengen.game.sgf.records import record
    from tengen.network.fake import FakeEvaluator

    evaluator = FakeEvaluator(features=features, on_processor=on_processor)
    player = Player("nobody", evaluator, 4)
    starts = openings(evaluator, Position(3, "tromp-taylor", 0, move_limit=6), 1, 2, seed=1)
    record(play_in_lockstep((player, player), starts, 1)[0].end)


_REPORTING = "selfplay"  # the longest job, which says how far it is
JOBS = {"selfplay": _compile_self_play, "rows": _compile_rows, "matches": _compile_matches}


class CompileAhead(Closeable):
    """A process for each job. A failed job's kernels are compiled where they are first used."""

    def __init__(self, features: FeatureSet) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._processes = {
            job: subprocess.Popen(
                [sys.executable, "-m", "tengen.runs.compile_ahead", job, features.name],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if job == _REPORTING else subprocess.DEVNULL,
            )
            for job in JOBS
        }

    def wait(self) -> None:
        """Wait for the kernels of self-play; matches come minutes later."""
        for job in ("selfplay", "rows"):
            self._processes[job].wait()

    def close(self) -> None:
        """Kill the processes still at work."""
        for process in self._processes.values():
            process.kill()
            process.wait()


if __name__ == "__main__":
    gc.disable()  # the process ends soon
    JOBS[sys.argv[1]](FEATURE_SETS[sys.argv[2]])
