"""The process that starts a run's actors on a cluster, watches them, and ends them.

Ray starts an actor again when its process or its machine is lost. The driver adds workers when
machines join, names those that are set aside, and hands on an interrupt. If the driver itself is
killed, Ray ends all actors; started again, the run goes on from its folder.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from tengen.cluster.manifest import SET_ASIDE
from tengen.cluster.outage import lock_soon
from tengen.cluster.ray_actors import LearnerActor, RaterActor, WorkerActor
from tengen.cluster.ray_setup import LOCAL, connect
from tengen.cluster.resources import Machine, Plan, plan
from tengen.cluster.run_copy import copy_of
from tengen.interrupt import interruptible
from tengen.runs.exchange import FOLDER
from tengen.runs.folder import RunError, RunFolder, writing
from tengen.runs.pack import unpack_run
from tengen.runs.pack_file import check_target, read_pack
from tengen.runs.params import RunConfig, Session
from tengen.runs.run import open_run_with
from tengen.runs.store import FolderStore, Store, open_store
from tengen.user_messages import say

LOOK_SECONDS = 0.5
GROW_SECONDS = 5.0  # between two looks for machines that have joined
AGAIN_SECONDS = 10.0  # before a worker that failed is started again
STOP_SECONDS = 120.0  # for the learner to save
LOCK_SECONDS = 20.0  # for the learner of a driver that was killed a moment ago to end
MOST_FAILURES = 3  # of the learner, each soon after it was started; then the run is given up
SOON_SECONDS = 600.0
FOREVER = -1  # Ray's word for it
LEARNER = "learner"


def local_folder(location: str) -> RunFolder:
    """Where the settings of a run can be read and changed: the run itself, or a copy of a URL's.

    Raises StoreError or RunError.
    """
    store = _reached(location)
    if isinstance(store, FolderStore):
        return RunFolder(store.path)
    folder = copy_of(store)
    try:
        content = store.read("config.toml")
    except FileNotFoundError:
        content = b""
    except OSError as error:
        raise _out_of_reach(location, error) from error
    with writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
        if content:
            folder.config.write_bytes(content)
        else:
            folder.config.unlink(missing_ok=True)
    return folder


def _reached(location: str) -> Store:
    try:
        return open_store(location)
    except OSError as error:  # some protocols connect at once
        raise _out_of_reach(location, error) from error


def _out_of_reach(location: str, error: OSError) -> RunError:
    return RunError(f"{location}: is out of reach ({error}); check the URL and the network")


def train_on_cluster(
    location: str,
    wanted: RunConfig | None = None,
    session: Session | None = None,
    address: str = LOCAL,
    workers: int | None = None,
) -> None:
    """Begin or resume a run on a Ray cluster, until it ends or is interrupted.

    `location` is a folder that all machines see, or a URL. Raises RunError or ClusterError.
    """
    session = session or Session()
    ray = connect(address)
    try:
        config = prepare(location, wanted, session)
        division = plan(machines_of(ray), config.run.device, workers)
        _Driver(ray, str(open_store(location).location), session, division, workers).go()
    finally:
        ray.shutdown()


def prepare(location: str, wanted: RunConfig | None, session: Session) -> RunConfig:
    """Create the run or change its settings, as `tengen.runs.run.train` does; raises RunError."""
    if session.pack is not None:
        check_target(session.pack)
    store, folder = _reached(location), local_folder(location)
    with lock_soon(folder.path, LOCK_SECONDS, lambda: False):
        if session.origin is not None:
            if not isinstance(store, FolderStore):
                raise RunError(f"{location}: a pack is unpacked into a folder, not behind a URL")
            unpack_run(read_pack(session.origin), folder.path, wanted)
            wanted = None
        opened, config = open_run_with(folder.path, wanted)
        if not isinstance(store, FolderStore):
            _put(store, "config.toml", opened.config.read_bytes())
    (folder.path / FOLDER).mkdir(exist_ok=True)
    return config


def _put(store: Store, name: str, content: bytes) -> None:
    try:
        store.write(name, content)
    except OSError as error:
        raise RunError(f"{store.location}: cannot be written ({error}); check the URL") from None


def machines_of(ray: Any) -> list[Machine]:
    """The machines of the cluster that are there."""
    found = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [Machine(each.get("CPU", 0.0), each.get("GPU", 0.0)) for each in found]


class _Driver:
    """The actors of a run."""

    def __init__(
        self, ray: Any, location: str, session: Session, division: Plan, workers: int | None
    ) -> None:
        self._ray, self._location, self._plan = ray, location, division
        self._may_grow = workers is None
        self._stop = threading.Event()
        self._pack = str(session.pack or "")
        self._labels: dict[Any, str] = {}  # of calls under way
        self._actors: dict[str, Any] = {}
        self._again: dict[str, float] = {}  # labels of parts to be started, and when
        self._aside: dict[str, str] = {}  # labels of workers that are not, and why
        self._failures, self._learner_began = 0, 0.0
        # Learners may be lost and started again, so the time of the session is the driver's.
        self._deadline = None
        if session.minutes is not None:
            self._deadline = time.monotonic() + 60 * session.minutes
        self._start_learner()
        self._start("rater", RaterActor, (location,))
        for _ in range(division.workers):
            self._add_worker()

    def _start_learner(self) -> None:
        """On this machine, if it has room."""
        ray, division = self._ray, self._plan
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        self._learner_began = time.monotonic()
        self._start(
            LEARNER,
            LearnerActor,
            (self._location, self._pack, division.threads),
            num_gpus=division.learner_gpus,
            scheduling_strategy=here,
        )

    def _start(self, label: str, kind: type, arguments: tuple[Any, ...], **options: Any) -> None:
        actor = self._ray.remote(kind).options(
            max_restarts=FOREVER,
            max_task_retries=FOREVER,
            max_concurrency=2,  # `run`, and `stop` meanwhile
            **{"num_cpus": 0, **options},
        )
        self._actors[label] = actor.remote(*arguments)
        self._labels[self._actors[label].run.remote()] = label

    def _add_worker(self, label: str = "") -> None:
        label = label or f"worker {self._count_workers() + 1}"
        division = self._plan
        self._start(
            label,
            WorkerActor,
            (self._location, division.device, division.threads, label),
            num_cpus=division.worker_cpus,
            num_gpus=division.worker_gpus,
        )

    def go(self) -> None:
        """Watch the actors until the learner ends."""
        division = self._plan
        what = f"{division.worker_gpus:g} GPU" if division.worker_gpus else "no GPU"
        each = f"{division.worker_cpus:g} cores and {what} each"
        say(f"{self._location}: {division.workers} workers ({each}), a learner and a rater")
        grown = time.monotonic()
        message = "stopping and saving; once more to end at once, losing the last minute"
        with interruptible(self._stop, message):
            while self._is_expected(LEARNER) and not self._stop.is_set():
                self._look()
                if self._deadline is not None and time.monotonic() >= self._deadline:
                    break
                if self._may_grow and time.monotonic() - grown >= GROW_SECONDS:
                    grown = time.monotonic()
                    self._grow()
                if len(self._aside) == self._count_workers():
                    break
            self._end()
        if len(self._aside) == self._count_workers():
            why = "; ".join(f"{label} is {reason}" for label, reason in self._aside.items())
            raise RunError(f"{self._location}: has no worker left: {why}")

    def _is_expected(self, label: str) -> bool:
        """Whether a part works, or will soon."""
        return label in self._labels.values() or label in self._again

    def _count_workers(self) -> int:
        """All workers of the session, those that were set aside included."""
        return sum(each.startswith("worker") for each in self._actors)

    def _look(self) -> None:
        """Wait a moment for calls to end, and deal with those that have ended."""
        for call in self._ended(list(self._labels), LOOK_SECONDS):
            label = self._labels.pop(call)
            if label == LEARNER:
                self._learner_ended(call)
                return
            self._other_ended(label, call)
        for label in [label for label, at in self._again.items() if at <= time.monotonic()]:
            del self._again[label]
            if label == LEARNER:
                self._start_learner()
            elif label == "rater":
                self._start(label, RaterActor, (self._location,))
            else:
                self._add_worker(label)

    def _ended(self, calls: list[Any], seconds: float) -> list[Any]:
        if not calls:
            time.sleep(seconds)
            return []
        ended: list[Any] = self._ray.wait(calls, num_returns=1, timeout=seconds)[0]
        return ended

    def _learner_ended(self, call: Any) -> None:
        """The run or the session has ended, or the learner failed and is started again."""
        try:
            result = self._ray.get(call)
        except self._ray.exceptions.RayError as error:  # such as out of memory
            soon = time.monotonic() - self._learner_began < SOON_SECONDS
            self._failures = self._failures + 1 if soon else 1
            what = f"{self._location}: the learner failed: {_first_line(error)}"
            if self._failures >= MOST_FAILURES:
                raise RunError(f"{what}; {self._failures} times in a row") from None
            say(f"{what}; it is started again")
            self._ray.kill(self._actors[LEARNER])
            self._again[LEARNER] = time.monotonic() + AGAIN_SECONDS
            return
        if "error" in result:
            raise RunError(result["error"])

    def _other_ended(self, label: str, call: Any) -> None:
        """A worker that failed is started again later; one that was set aside is not."""
        try:
            why = str(self._ray.get(call))
        except self._ray.exceptions.RayError as error:
            why = ""
            say(f"{label} failed, and is started again: {_first_line(error)}")
        self._ray.kill(self._actors[label])
        if why.startswith(SET_ASIDE):
            self._aside[label] = why
            say(f"{label} is {why}; it is not started again in this session")
        else:
            self._again[label] = time.monotonic() + AGAIN_SECONDS

    def _grow(self) -> None:
        """Add workers for machines that have joined."""
        room = self._plan.room(machines_of(self._ray))
        for _ in range(room - self._count_workers()):
            self._add_worker()

    def _end(self) -> None:
        """Let the learner save, if it is still there; then all actors end with the driver."""
        learner = next((call for call, label in self._labels.items() if label == LEARNER), None)
        if learner is not None:
            self._actors[LEARNER].stop.remote()
            if self._ended([learner], STOP_SECONDS):
                self._learner_ended(learner)
        calls = [call for call, label in self._labels.items() if label != LEARNER]
        for label, actor in self._actors.items():
            if label != LEARNER:
                actor.stop.remote()
        if calls:  # workers write what they have
            self._ray.wait(calls, num_returns=len(calls), timeout=5.0)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
