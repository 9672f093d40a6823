"""A cluster of several nodes on this machine, whose parts are killed while it trains 3x3."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tengen.cluster.driver import prepare
from tengen.cluster.manifest import TRAINING, Manifest, read_manifest
from tengen.cluster.rater import NICENESS
from tengen.network.files.tengen_format import load_network_file
from tengen.runs.checkpoint import load_latest
from tengen.runs.exchange import FOLDER, read_json, session_file, sessions
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.params import RatingParams, RunConfig, Session
from tengen.runs.rating import network_file, network_name
from tengen.runs.run import train
from tengen.runs.selfplay_network import evaluator_on
from tengen.runs.store import FolderStore
from tests.cluster.tiny import ENDLESS, Archive, assert_counted_once
from tests.runs import test_tiny_truth as truth

pytestmark = pytest.mark.timeout(1200)

RANDOM_KILLS = 100

# One process knows after six iterations where to open and, by 0.71 and more, who wins by half a
# point: see the lab notebook. Three workers here have as many games under way as that process.
LEARNED, LONG = 9, 18
LEARNING = replace(
    truth.CONFIG,
    run=replace(truth.CONFIG.run, iterations=0, checkpoint_seconds=0),
    selfplay=replace(truth.CONFIG.selfplay, games=40),
    rating=RatingParams(every=LEARNED, games=4, visits=2, opponents=1),
)


class Nodes:
    """Nodes of a Ray cluster, each with one core, and a driver in a process of its own."""

    def __init__(self, path: Path, config: RunConfig) -> None:
        self.path, self.store = path, FolderStore(path)
        self.driver: subprocess.Popen[str] | None = None
        self.patience = 480.0  # seconds: kernels may have to be compiled on busy cores
        prepare(str(path), config, Session())
        self.start()

    def start(self) -> None:
        """A head and a second node."""
        from ray.cluster_utils import Cluster

        options = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
        self._options = {key: value for key, value in options.items() if key != "include_dashboard"}
        self.cluster = Cluster(initialize_head=True, head_node_args=options)
        self.second = self.add_node()

    def add_node(self) -> Any:
        return self.cluster.add_node(**self._options)

    def train(self, *words: str) -> None:
        """Start the driver."""
        command = [sys.executable, "-m", "tengen", "train", str(self.path)]
        command += ["--cluster", self.cluster.address, *words]
        # To files: a driver that is killed leaves processes that keep a pipe open.
        with (self.path.parent / "driver.log").open("a") as log:
            self.driver = subprocess.Popen(
                command, stdout=log, stderr=log, text=True, start_new_session=True
            )

    @property
    def manifest(self) -> Manifest:
        return read_manifest(self.store)

    def beats(self) -> list[dict[str, Any]]:
        """The heartbeats of workers whose processes are there."""
        found = (read_json(self.store, session_file(each)) for each in sessions(self.store))
        return [each for each in found if "beat" in each and _is_alive(each["pid"])]

    def pid_of(self, part: str) -> int:
        """The process of a part; 0 if it is not there."""
        if part == "worker":
            return max((int(each["pid"]) for each in self.beats()), default=0)
        if part == "learner":
            manifest = self.manifest
            pid = int(manifest.learner.get("pid", 0)) if manifest.state == TRAINING else 0
        else:
            pid = int(read_json(self.store, f"{FOLDER}/rater.json").get("pid", 0))
        return pid if pid and _is_alive(pid) else 0

    def iteration(self) -> int:
        names = [each.stem for each in (self.path / "checkpoints").glob("checkpoint-*.safetensors")]
        return max((int(name.partition("-")[2]) for name in names), default=0)

    def last_iteration(self) -> int:
        """Of those that have ended, saved or not."""
        lines = read_lines(RunFolder(self.path).metrics)
        return max((int(line["step"]) for line in lines), default=0)

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + self.patience
        while not condition():
            assert self.driver is not None
            ended = self.driver.poll() is not None
            if ended or time.monotonic() > deadline:
                log = (self.path.parent / "driver.log").read_text()[-5000:]
                pytest.fail(f"waited in vain for {what}\n{log}")
            time.sleep(0.05)

    def kill_part(self, part: str) -> Callable[[], bool]:
        """kill -9 a worker, the learner or the rater; the result tells whether it is back."""
        self.wait_for(lambda: self.pid_of(part), f"the {part}")
        pid, is_back = self.pid_of(part), self.is_another(part)
        assert pid
        os.kill(pid, signal.SIGKILL)
        return is_back

    def is_another(self, part: str) -> Callable[[], bool]:
        """Tells whether a worker has begun since, or there is another learner or rater."""
        pid, begun = self.pid_of(part), len(sessions(self.store))
        if part == "worker":
            return lambda: len(sessions(self.store)) > begun
        return lambda: self.pid_of(part) not in (0, pid)

    def progress(self, iterations: int = 1) -> None:
        wanted = self.iteration() + iterations
        self.wait_for(lambda: self.iteration() >= wanted, f"iteration {wanted}")

    def kill_all(self) -> None:
        """kill -9 both nodes, the head among them, and the driver."""
        for node in (*self.cluster.worker_nodes, self.cluster.head_node):
            self.cluster.remove_node(node, allow_graceful=False)
        self.close()

    def close(self) -> None:
        with suppress(Exception):
            self.cluster.shutdown()
        if self.driver is not None:
            self.driver.kill()
            self.driver.wait()
        deadline = time.monotonic() + 30
        while any(map(self.pid_of, ("worker", "learner", "rater"))) and time.monotonic() < deadline:
            time.sleep(0.1)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def _niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def _status(pid: int, name: str) -> str:
    """A line of what Linux says of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


def _descendants(pid: int) -> set[int]:
    """A process and all that it has started, directly or not."""
    parents = {}
    for each in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (each / "stat").read_text().rpartition(")")[2].split()
            parents[int(each.name)] = int(fields[1])
    found = {pid}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _signal_all(pids: set[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.fixture
def opened(ray: Any, tmp_path: Path) -> Iterator[Callable[[RunConfig], Nodes]]:
    """Opens nodes for a run, and closes them."""
    found: list[Nodes] = []

    def open_nodes(config: RunConfig) -> Nodes:
        found.append(Nodes(tmp_path / "run", config))
        return found[-1]

    yield open_nodes
    for nodes in found:
        nodes.close()


@pytest.fixture
def nodes(opened: Callable[[RunConfig], Nodes]) -> Nodes:
    """Nodes for a run that learns little and quickly."""
    return opened(ENDLESS)


def test_every_part_may_die_and_yet_it_learns_and_no_game_is_lost_or_counted_twice(
    opened: Callable[[RunConfig], Nodes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = opened(LEARNING)
    archive = Archive(nodes.path, tmp_path / "archive")
    nodes.train()
    nodes.progress()
    assert len(nodes.beats()) == 2
    third = nodes.add_node()
    for is_back in [nodes.kill_part(part) for part in ("worker", "learner", "rater")]:
        nodes.wait_for(is_back, "a part that was killed")
    nodes.wait_for(lambda: len(nodes.beats()) == 3, "a worker on the third node")
    assert _niceness(nodes.pid_of("rater")) == min(19, _niceness(os.getpid()) + NICENESS)
    nodes.progress()
    nodes.cluster.remove_node(nodes.second)
    nodes.progress()
    nodes.wait_for(lambda: nodes.iteration() >= LEARNED, f"iteration {LEARNED}")
    head = nodes.cluster.head_node
    for process in head.all_processes["gcs_server"]:
        process.process.kill()
    assert nodes.driver is not None
    nodes.cluster.remove_node(third)
    nodes.close()
    assert not any(map(nodes.pid_of, ("worker", "learner", "rater")))
    counted = assert_counted_once(nodes.path, archive)
    learned = evaluator_on(
        "cpu", load_network_file(network_file(RunFolder(nodes.path), network_name(LEARNED)))
    )
    truth.assert_opens_in_the_centre(learned, 0.65)
    truth.assert_knows_who_wins_by_half_a_point(learned, 0.65)
    # The run goes on in one process, without Ray.
    monkeypatch.setitem(sys.modules, "ray", None)
    alone = replace(LEARNING.run, iterations=nodes.iteration() + 1)
    train(nodes.path, replace(LEARNING, run=alone))
    assert assert_counted_once(nodes.path, archive) > counted


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_cluster_that_changes_learns_the_truth_about_3x3(
    opened: Callable[[RunConfig], Nodes], tmp_path: Path
) -> None:
    """As surely as one process does in fewer iterations, see tests/runs/test_tiny_truth.py."""
    longer = replace(truth.CONFIG.run, iterations=LONG)
    nodes = opened(
        replace(truth.CONFIG, run=longer, rating=replace(truth.CONFIG.rating, every=LONG))
    )
    nodes.patience = 900
    archive = Archive(nodes.path, tmp_path / "archive")
    nodes.train()
    nodes.wait_for(lambda: nodes.last_iteration() >= 3, "three iterations")
    nodes.add_node()
    nodes.wait_for(lambda: len(nodes.beats()) == 3, "a third worker")
    nodes.wait_for(lambda: nodes.last_iteration() >= 8, "eight iterations")
    nodes.cluster.remove_node(nodes.second)
    assert nodes.driver is not None
    assert nodes.driver.wait(1200) == 0
    nodes.close()
    assert_counted_once(nodes.path, archive)
    last = network_file(RunFolder(nodes.path), network_name(LONG))
    learned = evaluator_on("cpu", load_network_file(last))
    truth.assert_opens_in_the_centre(learned, 0.8)
    truth.assert_knows_who_wins_by_half_a_point(learned, 0.9)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of other processes")
def test_a_worker_that_runs_out_of_memory_is_started_again(nodes: Nodes, tmp_path: Path) -> None:
    import resource

    archive = Archive(nodes.path, tmp_path / "archive")
    nodes.patience = 900
    nodes.train()
    nodes.wait_for(lambda: nodes.pid_of("worker"), "a worker")
    pid, is_another = nodes.pid_of("worker"), nodes.is_another("worker")
    size = 2**10 * int(_status(pid, "VmSize"))  # what it has, and not a page more
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
    nodes.wait_for(is_another, "another worker")
    nodes.progress()
    nodes.close()
    assert_counted_once(nodes.path, archive)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_a_node_that_is_silent_for_a_minute_costs_no_game(nodes: Nodes, tmp_path: Path) -> None:
    """As if its network were lost. Ray may give it up, so that it has to join again."""
    archive = Archive(nodes.path, tmp_path / "archive")
    nodes.patience = 900
    nodes.train()
    nodes.progress()
    nodes.wait_for(lambda: len(nodes.beats()) == 2, "two workers")
    (raylet,) = nodes.second.all_processes["raylet"]
    silent = _descendants(raylet.process.pid)
    assert {int(beat["pid"]) for beat in nodes.beats()} & silent
    _signal_all(silent, signal.SIGSTOP)
    try:
        began = time.monotonic()
        nodes.progress()
        time.sleep(max(0.0, began + 60 - time.monotonic()))
    finally:
        _signal_all(silent, signal.SIGCONT)
    time.sleep(10)  # in which it ends, if it was given up
    print("given up:", not _is_alive(raylet.process.pid))
    nodes.add_node()
    nodes.wait_for(lambda: len(nodes.beats()) >= 2, "two workers again")
    nodes.progress(2)
    nodes.close()
    assert_counted_once(nodes.path, archive)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_hundred_random_kills(nodes: Nodes, tmp_path: Path) -> None:
    """Of workers, learner, rater, driver, nodes and the head; 0 games lost or counted twice."""
    choice = random.Random(1)
    kills = int(os.environ.get("TENGEN_KILLS", RANDOM_KILLS))
    archive = Archive(nodes.path, tmp_path / "archive")
    nodes.patience = 900
    nodes.train()
    tally: dict[str, int] = {}
    for kill in range(kills):
        what = choice.choices(
            ("worker", "learner", "rater", "driver", "node", "head"), (8, 6, 2, 2, 2, 1)
        )[0]
        tally[what] = tally.get(what, 0) + 1
        if what in ("worker", "learner", "rater"):
            nodes.wait_for(lambda part=what: nodes.pid_of(part), f"the {what}")  # type: ignore[misc]
            time.sleep(choice.uniform(0, 2))
            with suppress(ProcessLookupError):
                if pid := nodes.pid_of(what):
                    os.kill(pid, signal.SIGKILL)
        elif what == "driver":
            assert nodes.driver is not None
            nodes.driver.kill()
            nodes.driver.wait()
            nodes.train()
        elif what == "node":
            nodes.cluster.remove_node(nodes.second, allow_graceful=False)
            nodes.second = nodes.add_node()
        else:
            nodes.kill_all()
            nodes.start()
            nodes.train()
        if kill % 10 == 9:
            nodes.progress()
            print(kill + 1, tally, nodes.iteration(), len(sessions(nodes.store)), flush=True)
    nodes.progress()
    nodes.close()
    counted = assert_counted_once(nodes.path, archive)
    checkpoint = load_latest(RunFolder(nodes.path))
    assert checkpoint is not None
    print(json.dumps(tally), counted, "games,", len(sessions(nodes.store)), "sessions")
    assert not list(nodes.path.rglob("*.damaged"))
    assert not (nodes.path / FOLDER / "rejected").exists()
