"""Games from workers: the learner's source of games, and its voice to the workers."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tengen.cluster.manifest import (
    STOPPED,
    TRAINING,
    RatingTask,
    read_manifest,
    write_manifest,
)
from tengen.cluster.worker_watch import WorkerWatch
from tengen.network.backends.registry import CUDA
from tengen.network.data import NetworkData
from tengen.network.files.tengen_format import save_network
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.exchange import (
    WEIGHTS,
    BrokenShardError,
    WorkerShard,
    incoming_shards,
    read_worker_shard,
    reject,
)
from tengen.runs.placement import OpenedRun, PlayedGames
from tengen.runs.progress import Counters
from tengen.runs.store import FolderStore, Store
from tengen.selfplay.fleet import Counts
from tengen.selfplay.record import Games, no_games
from tengen.training.trainer import Trainer
from tengen.user_messages import say

COLLECT_SECONDS = 0.5  # that a call waits for games at most
LIST_SECONDS = 0.25  # between two looks for shards
PUBLISH_SECONDS = 10.0  # between two announcements within an iteration
BEAT_SECONDS = 1.0
WATCH_SECONDS = 2.0
MOST_SESSIONS = 500  # of earlier learners' workers, which may still be there
KEPT_WEIGHTS = 3  # versions, for workers that are slow to fetch


class _Fetched(NamedTuple):
    """A shard that was read ahead."""

    shard: WorkerShard
    games: Games | None
    broken: str = ""


class WorkerGames(PlayedGames):
    """Reads shards as they appear, each once, and announces weights by version."""

    def __init__(self, store: Store, run: OpenedRun) -> None:
        self._store, self._run = store, run
        self.overlapped = run.device == CUDA
        self.watch = WorkerWatch(store)
        self._lock = threading.Lock()  # of the manifest
        before = read_manifest(store)
        who = {"node": socket.gethostname(), "pid": os.getpid(), "device": run.device}
        recent = run.ledger.sessions()[-MOST_SESSIONS:]
        self._manifest = before._replace(
            state=TRAINING,
            learner=who,
            counted={str(session): run.ledger.count(session) for session in recent},
            aside=dict(run.aside),
            tasks=(),
            workers=(),
            losses=0,
        )
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="reading shards")
        self._announcing = BackgroundThread("announcing")
        self._fetching: Future[_Fetched | None] | None = None
        self._queue: deque[WorkerShard] = deque()  # of the reading thread
        self._listed = 0.0
        self._waiting = 0  # shards that are not counted yet
        self._announced: tuple[str, int] | None = None  # name and steps of what plays
        self._has_announced = False  # anything in this session
        self._announced_at = time.monotonic()
        self._closing = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._beating.start()

    # Games

    def collect(self, learn: Callable[[], bool]) -> Games:
        """The next shard, unless the learner is behind with those it has."""
        if not self._has_announced:
            self.publish(self._run.trainer)
        deadline = time.monotonic() + COLLECT_SECONDS
        while True:
            behind = learn() if self.overlapped else False
            if not behind and (games := self._next_games()) is not None:
                return games
            if time.monotonic() >= deadline:
                return no_games()
            time.sleep(0.001 if self.overlapped else 0.02)

    def _next_games(self) -> Games | None:
        """The games of the shard that was read ahead, if there is one; then reads the next."""
        found = None
        if self._fetching is not None:
            if not self._fetching.done():
                return None
            try:
                found = self._fetching.result()
            except OSError as error:
                say(f"{self._store.location}: shards cannot be read now: {error}")
        games = None if found is None else self._count(found)
        self._fetching = self._reading.submit(self._fetch)
        return games

    def _count(self, found: _Fetched) -> Games | None:
        """Count a shard, or set its worker aside."""
        shard, ledger = found.shard, self._run.ledger
        if shard in ledger:  # by a checkpoint whose cleaning up was cut short
            return None
        if found.games is None:
            self._set_aside(shard, found.broken)
            return None
        ledger.add(*shard)
        with self._lock:
            counted = {**self._manifest.counted, str(shard.session): ledger.count(shard.session)}
            self._manifest = self._manifest._replace(counted=counted)
        return found.games

    def _set_aside(self, shard: WorkerShard, reason: str) -> None:
        session = str(shard.session)
        if session not in self._run.aside:
            say(f"{self.watch.name(shard.session)} is set aside: a shard of its {reason}")
        with self._lock:
            self._run.aside.setdefault(session, reason)
            self._manifest = self._manifest._replace(aside=dict(self._run.aside))
        try:
            reject(self._store, shard, reason)
        except OSError as error:  # it is found again
            say(f"{self._store.location}: {shard.file} cannot be moved now: {error}")

    def _fetch(self) -> _Fetched | None:
        """Read the next shard, in a thread of its own; None if there is none. Raises OSError."""
        if not self._queue:
            time.sleep(max(0.0, self._listed + LIST_SECONDS - time.monotonic()))
            self._listed = time.monotonic()
            self._queue.extend(self._uncounted())
        if not self._queue:
            return None
        shard = self._queue[0]
        if (aside := self._run.aside.get(str(shard.session))) is not None:
            self._queue.popleft()
            return _Fetched(shard, None, aside)
        try:
            games = read_worker_shard(
                self._store, shard, self._run.config.selfplay, self._manifest.last_step
            )
        except FileNotFoundError:  # cleared away since it was listed
            self._queue.popleft()
            return None
        except BrokenShardError as error:
            self._queue.popleft()
            return _Fetched(shard, None, str(error))
        self._queue.popleft()
        return _Fetched(shard, games)

    def _uncounted(self) -> list[WorkerShard]:
        """The shards to be counted, sessions in turn, so that a fast worker is not preferred."""
        seen: dict[int, int] = {}
        waiting = []
        for shard in incoming_shards(self._store):
            if shard not in self._run.ledger:
                seen[shard.session] = seen.get(shard.session, 0) + 1
                waiting.append((seen[shard.session], shard))
        return [shard for _, shard in sorted(waiting)]

    # Weights

    def wants_weights(self) -> bool:
        """Every few seconds."""
        return time.monotonic() - self._announced_at >= PUBLISH_SECONDS

    def publish(self, trainer: Trainer) -> None:
        """Announce the trainer's averaged weights."""
        self._announce(trainer.ema_data("playing", {"steps": str(trainer.steps)}))

    def play(self, data: NetworkData) -> None:
        """Announce a network, unless it plays already."""
        if (data.name, int(data.provenance["steps"])) != self._announced:
            self._announce(data)

    def _announce(self, data: NetworkData) -> None:
        self._announced = data.name, int(data.provenance["steps"])
        self._has_announced = True
        self._announced_at = time.monotonic()
        self._announcing.start(self._write_weights, data, self._announced[1])

    def _write_weights(self, data: NetworkData, steps: int) -> None:
        version = self._manifest.version + 1
        file = f"{WEIGHTS}/{version:08}.safetensors"
        with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
            path = Path(folder) / "weights.safetensors"
            save_network(data, path, half=True)
            content = path.read_bytes()
        try:
            self._store.write(file, content)
            for name in self._store.names(WEIGHTS)[:-KEPT_WEIGHTS]:
                self._store.remove(f"{WEIGHTS}/{name}")
        except OSError as error:
            say(f"{self._store.location}: weights cannot be announced now: {error}")
            self._announced = None  # so that the next ones are, whichever they are
            return
        with self._lock:
            last = max(self._manifest.last_step, steps)
            self._manifest = self._manifest._replace(
                version=version, file=file, steps=steps, last_step=last
            )
        self._write_manifest()

    # Manifest

    def set_tasks(self, tasks: tuple[RatingTask, ...]) -> None:
        """Ask for these ratings."""
        with self._lock:
            self._manifest = self._manifest._replace(tasks=tasks)
        self._write_manifest()

    def _beat(self) -> None:
        """Write the manifest and look at the workers again and again, in a thread of its own."""
        looked = -WATCH_SECONDS
        while not self._closing.wait(BEAT_SECONDS):
            try:
                if time.monotonic() - looked >= WATCH_SECONDS:
                    self.watch.look()
                    looked = time.monotonic()
                shards = incoming_shards(self._store)
                self._waiting = sum(shard not in self._run.ledger for shard in shards)
            except OSError as error:
                say(f"{self._store.location}: heartbeats cannot be read now: {error}")
            self._write_manifest()

    def _write_manifest(self) -> None:
        with self._lock:
            self._manifest = self._manifest._replace(
                beat=self._manifest.beat + 1,
                waiting=self._waiting,
                workers=tuple(self.watch.table()),
                losses=self.watch.losses,
            )
            try:
                write_manifest(self._store, self._manifest)
                if not isinstance(self._store, FolderStore):  # for the page of the run
                    write_manifest(FolderStore(self._run.folder.path), self._manifest)
            except OSError as error:
                say(f"{self._store.location}: the manifest cannot be written now: {error}")

    # The rest of a source of games

    @property
    def counts(self) -> Counts:
        """What all workers have done."""
        return self.watch.counts

    def metrics(self, before: Counters, now: Counters) -> dict[str, float]:  # noqa: ARG002
        """The number of workers, of losses of contact, of shards that wait, and the version."""
        return {
            "workers/present": self.watch.present,
            "workers/losses": self.watch.losses,
            "workers/set aside": len(self._run.aside),
            "workers/waiting": self._waiting,
            "workers/version": self._manifest.version,
        }

    def save(self) -> dict[str, NDArray[Any]]:
        """Nothing: games under way are with the workers."""
        return {}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Games that one process had under way are not gone on with."""
        say("games that were under way in one process begin anew with the workers")

    def left_over(self) -> list[Games]:
        """None: they are read as all others."""
        return []

    def close(self, state: str = STOPPED) -> None:
        """Tell the workers that the learner has ended, and why; end the threads."""
        self._closing.set()
        self._beating.join()
        self._reading.shutdown(cancel_futures=True)
        self._announcing.close()
        with self._lock:
            self._manifest = self._manifest._replace(state=state, tasks=())
        self._write_manifest()
