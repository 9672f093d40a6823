"""Does one learner keep up with many workers, and do two workers play twice as much as one?

Simulated: workers that write shards at an H200's pace (540 games/s on 9x9) for a learner that
reads, checks, counts and encodes them as in a run, while a stand-in for its trainer takes steps at
the pace at which one H200 feeds 2.5 such workers. Baseline: what workers would play if nobody
slowed them down, up to what the learner can take. With --unbounded the stand-in takes any pace:
what is left is the exchange itself.

Then real workers on this machine's cores, two against one.

    python -m benchmarks.cluster [--workers 1 4 16 64] [--seconds 30] [--unbounded]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.replay import synthetic_games
from tengen.cluster.driver import prepare
from tengen.cluster.games_from_workers import GamesFromWorkers
from tengen.cluster.manifest import STOPPED, TRAINING, Manifest, read_manifest, write_manifest
from tengen.cluster.worker import MOST_WAITING, SHARDS_OF_AN_ITERATION, work
from tengen.features.feature_set import FEATURE_SETS
from tengen.network.architecture_names import named_architecture
from tengen.network.files.tengen_format import save_network
from tengen.replay.shard import shard_bytes
from tengen.runs.exchange import (
    INCOMING,
    WEIGHTS,
    WorkerShard,
    claim_session,
    clear_counted,
    first_game,
    incoming_shards,
    read_json,
    session_file,
    sessions,
    write_json,
)
from tengen.runs.folder import RunFolder
from tengen.runs.ledger import Ledger
from tengen.runs.params import RunConfig, RunParams, Session
from tengen.runs.placement import OpenedRun
from tengen.runs.replay_writer import ReplayWriter
from tengen.runs.row_maker import RowMaker
from tengen.runs.run import MOST_BEHIND
from tengen.runs.store import FolderStore
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games
from tengen.training.initial_network import initial_network
from tengen.training.params import TrainingParams, WindowParams, steps_allowed
from tengen.training.replay_buffer import ReplayBuffer
from tengen.training.trainer import Trainer

GAMES_A_SECOND = 540  # of a worker on an H200
SHARD_GAMES = 1250  # some 25,000 rows, a quarter of an iteration
FED = 2.5  # such workers that one learner feeds at 8 samples a row
WARM_UP_SECONDS = 10.0
PUBLISH_SECONDS = 5.0
LOOK_SECONDS = 1.0  # between a worker's looks at the manifest, as in `tengen.cluster.worker`
MODEL = "b8c128"
PARAMS = TrainingParams()
CONFIG = RunConfig(run=RunParams(model=MODEL, device="cpu"))
REAL = RunConfig(
    run=RunParams(model="b4c64", device="cpu", iteration_rows=2000),
    selfplay=SelfPlayParams(games=32, visits=32, fast_visits=8),
)
GOAL_EFFICIENCY, GOAL_SECONDS = 0.9, 10.0


# Simulated workers, in a process of their own


def simulate(location: str, count: int, stop: Event, latencies: Any) -> None:
    """Write shards of a quarter of an iteration, and fetch all weights, until stopped."""
    games = synthetic_games(SHARD_GAMES)
    threads = [
        threading.Thread(target=_simulate_one, args=(location, games, k / count, stop, latencies))
        for k in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _simulate_one(location: str, games: Games, phase: float, stop: Event, latencies: Any) -> None:
    store = FolderStore(Path(location))
    facts: dict[str, Any] = {"kind": "worker", "label": "simulated", "state": "playing"}
    session = claim_session(store, facts)
    played = games.games.copy()
    played["number"] = first_game(session) + np.arange(len(played), dtype=np.uint64)
    played["step"] = 0
    content = shard_bytes(games._replace(games=played))
    version = written = beats = 0
    played_at = time.monotonic() + phase * SHARD_GAMES / GAMES_A_SECOND
    pause = SHARD_GAMES / GAMES_A_SECOND
    due = time.monotonic()
    while not stop.wait(max(0.0, due - time.monotonic())):
        manifest = read_manifest(store)
        if manifest.version != version:
            file = Path(location) / manifest.file
            with suppress(FileNotFoundError):
                announced = file.stat().st_mtime
                file.read_bytes()
                latencies.put(time.time() - announced)
                version = manifest.version
        mine = written - manifest.counted.get(str(session), 0)
        enough = mine >= 1 and manifest.waiting >= SHARDS_OF_AN_ITERATION
        if enough or mine >= MOST_WAITING:
            due = time.monotonic() + LOOK_SECONDS / 4
        elif time.monotonic() >= played_at + pause:
            written += 1
            store.write(f"{INCOMING}/{WorkerShard(session, written).file}", content)
            played_at = max(played_at + pause, time.monotonic() - pause)
            due = time.monotonic() + min(pause, LOOK_SECONDS)
        else:
            due = time.monotonic() + min(LOOK_SECONDS, played_at + pause - time.monotonic())
        beats += 1
        values = {**facts, "beat": beats, "games": written * len(played), "version": version}
        write_json(store, session_file(session), values)


# The learner


class StandIn:
    """Takes steps at a set pace, as far as rows allow."""

    def __init__(self, samples_a_second: float, replay: ReplayWriter) -> None:
        self._pace, self._replay = samples_a_second / PARAMS.batch, replay
        self._at = time.monotonic()
        self.steps = 0.0

    def learn(self) -> bool:
        now = time.monotonic()
        allowed = steps_allowed(PARAMS, self._replay.buffer.total)
        self.steps = min(float(allowed), self.steps + (now - self._at) * self._pace)
        self._at = now
        return allowed - self.steps > MOST_BEHIND


class Measured(NamedTuple):
    games: float  # per second
    ratio: float  # samples a row
    cpu: float  # seconds of the learner's process for each second
    megabytes: float  # of the learner's process
    most_waiting: int  # shards at a time
    latency: float  # seconds within which 95% of the workers had new weights


def measure(count: int, seconds: float, pace: float) -> Measured:
    """Let a learner of this pace (in workers) count the shards of so many simulated workers."""
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run"
        prepare(str(path), CONFIG, Session())
        features = FEATURE_SETS[named_architecture(MODEL).features]
        buffer = ReplayBuffer(300_000, CONFIG.selfplay.expected_rows, features)
        trainer = Trainer(initial_network(named_architecture(MODEL), 1), buffer, PARAMS, 1)
        replay = ReplayWriter(buffer, RowMaker(features, 1), WindowParams())
        store, ledger = FolderStore(path), Ledger()
        run = OpenedRun(
            RunFolder(path), CONFIG, "cpu", trainer, 0, 0, ledger, {}, lambda: None, lambda: False
        )
        source = GamesFromWorkers(store, run)
        source.overlapped = True  # the stand-in does its steps meanwhile, as a GPU does
        stop, latencies = processes.Event(), processes.Queue()
        writer = processes.Process(target=simulate, args=(str(path), count, stop, latencies))
        writer.start()
        while not incoming_shards(store):
            time.sleep(0.1)
        rows = float(synthetic_games(200).turns["weight"].sum()) / 200
        stand_in = StandIn(pace * GAMES_A_SECOND * rows * PARAMS.samples_per_row, replay)
        try:
            return _measured(source, stand_in, replay, store, ledger, trainer, seconds, latencies)
        finally:
            stop.set()
            writer.join()
            source.close(STOPPED)
            replay.close()


def _measured(
    source: GamesFromWorkers,
    stand_in: StandIn,
    replay: ReplayWriter,
    store: FolderStore,
    ledger: Ledger,
    trainer: Trainer,
    seconds: float,
    latencies: Any,
) -> Measured:
    began = time.monotonic()
    published = began
    start: tuple[float, int, float, float, int] | None = None
    cleared, most = Ledger(), 0
    while True:
        replay.add(source.collect(stand_in.learn))
        replay.take_unsaved()
        now = time.monotonic()
        state = (now, replay.games, time.process_time(), stand_in.steps, replay.buffer.total)
        if start is None and now - began >= WARM_UP_SECONDS:
            start = state
        if now - published >= PUBLISH_SECONDS:
            source.publish(trainer)
            clear_counted(store, cleared)
            cleared = Ledger(ledger.to_json())
            most = max(most, sum(shard not in ledger for shard in incoming_shards(store)))
            published = now
        if start is not None and now - start[0] >= seconds:
            break
    span = now - start[0]
    found = []
    while not latencies.empty():
        found.append(latencies.get())
    return Measured(
        (state[1] - start[1]) / span,
        (state[3] - start[3]) * PARAMS.batch / max(1, state[4] - start[4]),
        (state[2] - start[2]) / span,
        _megabytes(os.getpid()),
        most,
        float(np.percentile(found, 95)) if found else float("nan"),
    )


def _megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def show_simulated(counts: list[int], seconds: float, unbounded: bool) -> None:
    pace = 1e9 if unbounded else FED
    print(f"simulated workers at {GAMES_A_SECOND} games/s; the learner feeds {pace:g}")
    print("CPU/s: the learner's, without steps; a core: workers whose games one core could count")
    print(
        "workers  games/s  of possible  samples/row  CPU/s  a core  MB learner  waiting"
        "  new weights 95%"
    )
    for count in counts:
        found = measure(count, seconds, pace)
        share = found.games / (min(count, pace) * GAMES_A_SECOND)
        print(
            f"{count:7}  {found.games:7,.0f}  {share:11.1%}  {found.ratio:11.2f}  {found.cpu:5.2f}"
            f"  {found.games / GAMES_A_SECOND / found.cpu:6.1f}"
            f"  {found.megabytes:10,.0f}  {found.most_waiting:7}  {found.latency:13.1f} s",
            flush=True,
        )
    print(f"goals: {GOAL_EFFICIENCY:.0%} of what is possible, new weights within {GOAL_SECONDS} s")


# Real workers


def show_real(seconds: float, rounds: int = 2) -> None:
    """Evaluations of two workers against those of one, in turns."""
    found: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(rounds):
        for count in (1, 2):
            found[count].append(played_by(count, seconds))
    for count, rates in found.items():
        words = ", ".join(f"{wall:,.0f} ({cpu:,.0f})" for wall, cpu in rates)
        print(f"{count} real: evaluations/s (for each second of processor time): {words}")
    one, two = (np.median(found[count], axis=0) for count in (1, 2))
    print(f"two against one: {two[0] / one[0]:.2f} by the clock, {two[1] / one[1]:.2f} by CPU time")


def played_by(count: int, seconds: float) -> tuple[float, float]:
    """Evaluations per second, and per second of processor time, of so many workers together."""
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run"
        prepare(str(path), REAL, Session())
        store = FolderStore(path)
        network = initial_network(named_architecture(REAL.run.model), 1)
        _announce(store, network.network)
        stop = threading.Event()
        counting = threading.Thread(target=_count_all, args=(store, stop))
        counting.start()
        playing = [processes.Process(target=_work, args=(str(path),)) for _ in range(count)]
        for process in playing:
            process.start()
        try:
            _wait(lambda: len(_evals(store)) == count and all(_evals(store).values()))
            time.sleep(3.0)
            before = _evals(store), _cpu(playing), time.monotonic()
            time.sleep(seconds)
            after = _evals(store), _cpu(playing), time.monotonic()
        finally:
            for process in playing:
                process.kill()
                process.join()
            stop.set()
            counting.join()
    made = sum(after[0].values()) - sum(before[0].values())
    return made / (after[2] - before[2]), made / (after[1] - before[1])


def _work(location: str) -> None:
    import numba

    numba.set_num_threads(1)
    torch.set_num_threads(1)
    work(location, "cpu")


def _announce(store: FolderStore, network: Any) -> None:
    from tengen.network.network_data import NetworkData
    from tengen.training.heads_and_losses import SCALING

    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    data = NetworkData("playing", network.architecture, weights, SCALING, {"steps": "0"})
    file = f"{WEIGHTS}/00000001.safetensors"
    (store.path / WEIGHTS).mkdir(parents=True)
    save_network(data, store.path / file, half=True)
    write_manifest(store, Manifest(TRAINING, version=1, file=file))


def _count_all(store: FolderStore, stop: threading.Event) -> None:
    """Count every shard at once, as a learner with nothing else to do."""
    while not stop.wait(0.25):
        counted: dict[str, int] = {}
        for shard in incoming_shards(store):
            counted[str(shard.session)] = max(counted.get(str(shard.session), 0), shard.number)
        write_manifest(store, read_manifest(store)._replace(counted=counted))


def _evals(store: FolderStore) -> dict[int, int]:
    found = {each: read_json(store, session_file(each)) for each in sessions(store)}
    return {each: int(values.get("evals", 0)) for each, values in found.items()}


def _cpu(playing: list[Any]) -> float:
    """Seconds of processor time so far."""
    ticks = 0
    for process in playing:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _wait(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 4, 16, 64])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--unbounded", action="store_true", help="a learner of any pace")
    parser.add_argument("--no-real", action="store_true", help="simulated workers alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    show_simulated(options.workers, options.seconds, options.unbounded)
    if not options.no_real:
        show_real(options.seconds)


if __name__ == "__main__":
    main()
