"""Self-play and training on one GPU: leaves/s and samples/s together, against each alone.

`python benchmarks/gpu_training.py g170-b6c96.bin.gz`: a run that starts from this network, so that
its games are realistic, with the default visits and 8 samples for each recorded row; ladders by
option. Outputs that KataGo's older networks lack begin at random.
`--fresh-trees` turns tree reuse off: more leaves for a move, so fewer rows for a leaf.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from tengen.runs.folder import RunLock
from tengen.runs.params import RatingParams, RunConfig, RunParams
from tengen.runs.run import Run, open_run_with
from tengen.selfplay.params import SelfPlayParams
from tengen.training.params import TrainingParams

NEVER = 10**9  # rows before training begins
STEPS = 300  # for measuring training alone


def play(run: Run, seconds: float) -> tuple[float, float, float]:
    """Play and train for so long; returns leaves/s, recorded rows/s and samples/s."""
    leaves, rows, steps = run._games.counts.rows, run._replay.buffer.total, run._trainer.steps
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        run._play_and_learn()
    run._replay.finish()
    took = time.perf_counter() - began
    samples = (run._trainer.steps - steps) * run._config.training.batch
    made = run._games.counts.rows - leaves, run._replay.buffer.total - rows, samples
    return made[0] / took, made[1] / took, made[2] / took


def learn(run: Run) -> float:
    """Samples/s of training alone."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(STEPS):
        run._trainer.step(1e-6)
    torch.cuda.synchronize()
    return STEPS * run._config.training.batch / (time.perf_counter() - began)


def measure(config: RunConfig, folder: Path, seconds: float) -> None:
    games, batch = config.selfplay.games, config.training.batch
    with RunLock(folder), Run(*open_run_with(folder, config)) as run:
        play(run, 2 * seconds)  # until games are at all stages and training has caught up
        leaves, rows, samples = play(run, seconds)
        run._first_rows = NEVER
        leaves_alone, _, _ = play(run, seconds)
        samples_alone = learn(run)
    print(
        f"{games:,} games, batches of {batch:,}: {leaves:,.0f} leaves/s, {rows:,.0f} rows/s and "
        f"{samples:,.0f} samples/s ({samples / rows:.1f} for each row); alone {leaves_alone:,.0f} "
        f"leaves/s ({leaves / leaves_alone:.0%} are left) and {samples_alone:,.0f} samples/s "
        f"({samples / samples_alone:.0%} of that time is used)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", default="bundled")
    parser.add_argument("--sizes", nargs="+", default=["9"], help="such as 9 13 19 or 9x13")
    parser.add_argument("--games", type=int, nargs="+", default=[8192, 16384])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--fresh-trees", action="store_true")
    parser.add_argument("--ladders", action="store_true")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("nothing measured: no GPU")
        return
    with tempfile.TemporaryDirectory() as name:
        for games in options.games:
            config = RunConfig(
                run=RunParams(start=options.network, ladders=options.ladders, device="cuda"),
                selfplay=SelfPlayParams(
                    games=games,
                    keep_tree=not options.fresh_trees,
                    board_sizes=tuple(options.sizes),
                ),
                training=TrainingParams(batch=options.batch),
                rating=RatingParams(every=0),
            )
            measure(config, Path(name) / str(games), options.seconds)


if __name__ == "__main__":
    main()
