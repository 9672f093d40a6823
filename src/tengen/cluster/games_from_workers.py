"""Games from workers, as the learner's source of games, and its announcements to them."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tengen.cluster.manifest import (
    TRAINING,
    RatingTask,
    last_manifest,
    write_manifest,
)
from tengen.cluster.outage import Outage
from tengen.cluster.worker_watch import WorkerWatch
from tengen.network.backends.registry import CUDA
from tengen.network.files.tengen_format import network_bytes
from tengen.network.network_data import NetworkData
from tengen.runs.exchange import (
    WEIGHTS,
    BrokenShardError,
    WorkerShard,
    incoming_shards,
    read_worker_shard,
    reject,
)
from tengen.runs.folder import RunError
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
KEPT_WEIGHTS = 3  # versions, for workers that are slow to fetch


class _Fetched(NamedTuple):
    """A shard that was read ahead."""

    shard: WorkerShard
    games: Games | None
    broken: str = ""


class GamesFromWorkers(PlayedGames):
    """Reads shards as they appear, each once, and announces weights by version."""

    def __init__(
        self, store: Store, run: OpenedRun, check_ours: Callable[[], None] = lambda: None
    ) -> None:
        """`check_ours` raises RunError if this learner must not write any more."""
        self._store, self._run, self._check_ours = store, run, check_ours
        self.overlapped = run.device == CUDA
        self.watch = WorkerWatch(store)
        self._lock = threading.Lock()  # of the manifest
        before = last_manifest(store)
        who = {"node": socket.gethostname(), "pid": os.getpid(), "device": run.device}
        # Of all sessions so far; the manifest tells of those that may still play.
        self._counted = {each: run.ledger.count(each) for each in run.ledger.sessions()}
        self._playing = set[int]()
        self._manifest = before._replace(
            state=TRAINING,
            learner=who,
            counted={},
            aside=dict(run.aside),
            tasks=(),
            workers=(),
            losses=0,
        )
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="reading shards")
        self._fetching: Future[_Fetched | None] | None = None
        self._queue: deque[WorkerShard] = deque()  # of the reading thread
        self._listed = 0.0
        self._waiting = 0  # shards that are not counted yet
        self._announced: tuple[str, int] | None = None  # name and steps of what plays
        self._announced_at = time.monotonic()
        self._unwritten_weights: NetworkData | None = None  # announced and not written yet
        self._unread = Outage(store.location, "shards cannot be read")
        self._unmoved = Outage(store.location, "a refused shard cannot be moved")
        self._unseen = Outage(store.location, "heartbeats cannot be read")
        self._untold = Outage(store.location, "weights and manifest cannot be written")
        self._failure: Exception | None = None  # of the thread that follows
        self._closing, self._news = False, threading.Event()
        self._talking = threading.Thread(target=self._talk, name="to workers", daemon=True)
        self._talking.start()

    # Games

    def collect(self, learn: Callable[[], bool]) -> Games:
        """The next shard, unless the learner is behind with those it has."""
        if self._announced is None:
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
            with self._unread.reporting():
                found = self._fetching.result()
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
            self._counted[shard.session] = ledger.count(shard.session)
            self._playing.add(shard.session)
        return found.games

    def _set_aside(self, shard: WorkerShard, reason: str) -> None:
        session = str(shard.session)
        if session not in self._run.aside:
            say(f"{self.watch.name(shard.session)} is set aside: a shard of its {reason}")
        with self._lock:
            self._run.aside.setdefault(session, reason)
            self._manifest = self._manifest._replace(aside=dict(self._run.aside))
        with self._unmoved.reporting():  # it is found again
            reject(self._store, shard, reason)

    def _fetch(self) -> _Fetched | None:
        """Read the next shard, in a thread of its own; None if there is none. Raises OSError."""
        if not self._queue:
            time.sleep(max(0.0, self._listed + LIST_SECONDS - time.monotonic()))
            self._listed = time.monotonic()
            self._queue.extend(self._uncounted())
        if not self._queue:
            return None
        shard = self._queue.popleft()  # which is listed again, unless it is counted
        if (aside := self._run.aside.get(str(shard.session))) is not None:
            return _Fetched(shard, None, aside)
        try:
            games = read_worker_shard(
                self._store, shard, self._run.config.selfplay, self._manifest.last_step
            )
        except FileNotFoundError:  # cleared away since it was listed
            return None
        except BrokenShardError as error:
            return _Fetched(shard, None, str(error))
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

    # Weights and tasks

    def wants_weights(self) -> bool:
        """Whether weights are due, as they are every few seconds."""
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
        self._announced_at = time.monotonic()
        with self._lock:
            self._unwritten_weights = data
        self._news.set()

    def set_tasks(self, tasks: tuple[RatingTask, ...]) -> None:
        """Ask for these ratings."""
        with self._lock:
            self._manifest = self._manifest._replace(tasks=tasks)
        self._news.set()

    # Announcements to workers, by a thread of its own

    def check(self) -> None:
        """Raise the exception that ended the thread, without which all would wait for ever."""
        if self._failure is not None:
            raise self._failure

    def _talk(self) -> None:
        """Look at the workers, and write weights and the manifest, again and again.

        Whatever cannot be read or written now is tried again at the next beat.
        """
        looked = -WATCH_SECONDS
        try:
            while not self._closing:
                self._check_ours()
                with self._unseen.reporting():
                    if time.monotonic() - looked >= WATCH_SECONDS:
                        looked = time.monotonic()
                        self.watch.look()
                    shards = incoming_shards(self._store)
                    self._waiting = sum(shard not in self._run.ledger for shard in shards)
                with self._untold.reporting():
                    self._write_weights()
                    self._write_manifest()
                self._news.wait(BEAT_SECONDS)
                self._news.clear()
        except Exception as error:
            self._failure = error

    def _write_weights(self) -> None:
        """Write the weights that were announced last, if they are not there yet."""
        if (data := self._unwritten_weights) is None:
            return
        version, steps = self._manifest.version + 1, int(data.provenance["steps"])
        file = f"{WEIGHTS}/{version:08}.safetensors"
        self._store.write(file, network_bytes(data, file, half=True))
        with self._lock:
            last = self._manifest.last_step
            last = None if last is None else max(last, steps)
            self._manifest = self._manifest._replace(
                version=version, file=file, steps=steps, last_step=last
            )
            if self._unwritten_weights is data:  # and not newer ones meanwhile
                self._unwritten_weights = None
        for name in self._store.names(WEIGHTS)[:-KEPT_WEIGHTS]:
            self._store.remove(f"{WEIGHTS}/{name}")

    def _write_manifest(self) -> None:
        with self._lock:
            self._playing.update(self.watch.sessions)
            counted = {str(each): self._counted.get(each, 0) for each in sorted(self._playing)}
            self._manifest = manifest = self._manifest._replace(
                beat=self._manifest.beat + 1,
                counted=counted,
                waiting=self._waiting,
                workers=tuple(self.watch.table()),
                losses=self.watch.losses,
            )
        write_manifest(self._store, manifest)
        if not isinstance(self._store, FolderStore):  # for the page of the run
            write_manifest(FolderStore(self._run.folder.path), manifest)

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

    def close(self, state: str) -> None:
        """End the threads, and tell the workers this state, unless it is empty."""
        self._closing = True
        self._news.set()
        self._talking.join()
        self._reading.shutdown(cancel_futures=True)
        if state:
            self._tell_the_end(state)

    def _tell_the_end(self, state: str) -> None:
        try:
            self._check_ours()
        except RunError:
            return  # another learner speaks to them
        with self._lock:
            self._manifest = self._manifest._replace(state=state, tasks=())
        with self._untold.reporting():
            self._write_manifest()
