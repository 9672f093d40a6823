"""A worker and a learner that share one GPU, against the single process that does both.

The loops of `tengen.cluster` in two processes, without Ray, which only starts them: the difference
is what files, checks and a second process on the GPU cost.

    python -m benchmarks.gpu_cluster [--seconds 60] [--start tengen-9x9] [--device cuda]
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.gpu_training import play
from tengen.cluster.driver import prepare
from tengen.cluster.learner import learn
from tengen.cluster.worker import work
from tengen.runs.exchange import read_json, session_file, sessions
from tengen.runs.folder import RunFolder, RunLock, read_lines
from tengen.runs.params import RatingParams, RunConfig, RunParams, Session
from tengen.runs.run import Run, open_run_with
from tengen.runs.store import FolderStore
from tengen.training.params import WindowParams

GOAL = 0.95


class Rates(NamedTuple):
    """Per second."""

    leaves: float
    rows: float
    samples: float


def config_from(start: str, device: str) -> RunConfig:
    rows = 50_000 if device == "cuda" else 200
    return RunConfig(
        run=RunParams(start=start, device=device, iteration_rows=rows),
        window=WindowParams(start=1_000_000),
        rating=RatingParams(every=0),
    )


def one_process(config: RunConfig, seconds: float) -> Rates:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run"
        with RunLock(path), Run(*open_run_with(path, config)) as run:
            play(run, seconds)  # until games are at all stages and training has caught up
            return Rates(*play(run, seconds))


def _learn(path: str) -> None:
    learn(path, Session(), threading.Event())


def _work(path: str, device: str) -> None:
    work(path, device)


def two_processes(config: RunConfig, seconds: float) -> Rates:
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run"
        prepare(str(path), config, Session())
        parts = [
            processes.Process(target=_learn, args=(str(path),)),
            processes.Process(target=_work, args=(str(path), config.run.device)),
        ]
        for part in parts:
            part.start()
        try:
            while len(read_lines(RunFolder(path).metrics)) < 2:
                time.sleep(0.5)
                assert all(part.is_alive() for part in parts)
            time.sleep(seconds)
            before, leaves, began = _last(path), _leaves(path), time.monotonic()
            time.sleep(seconds)
            after, more, ended = _last(path), _leaves(path), time.monotonic()
        finally:
            for part in parts:
                part.kill()
                part.join()
        took = 60 * (after["minutes"] - before["minutes"])
        steps = after["steps"] - before["steps"]
        return Rates(
            (more - leaves) / (ended - began),
            (after["rows"] - before["rows"]) / took,
            steps * config.training.batch / took,
        )


def _last(path: Path) -> dict[str, float]:
    return read_lines(RunFolder(path).metrics)[-1]


def _leaves(path: Path) -> int:
    store = FolderStore(path)
    beats = (read_json(store, session_file(each)) for each in sessions(store))
    return sum(int(beat.get("evals", 0)) for beat in beats)


def _words(rates: Rates) -> str:
    return ", ".join(f"{rate:,.0f} {name}/s" for name, rate in rates._asdict().items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--start", default="tengen-9x9")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    config = config_from(options.start, options.device)
    for _ in range(options.rounds):
        two = two_processes(config, options.seconds)
        print(f"worker and learner: {_words(two)}", flush=True)
        one = one_process(config, options.seconds)
        print(f"one process: {_words(one)}", flush=True)
        pairs = zip(Rates._fields, two, one, strict=True)
        shares = (f"{name} {mine / max(1e-9, other):.3f}" for name, mine, other in pairs)
        print("worker and learner against one process:", *shares, f"(goal {GOAL})", flush=True)


if __name__ == "__main__":
    main()
