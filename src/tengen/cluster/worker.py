"""A self-play worker: plays with the weights that are announced, and writes whole shards.

It has no state that others need: finished games are in shards, and games under way are few. If
the store cannot be reached it waits; if the learner is away or busy, it pauses after a few
shards.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tengen.closeable import Closeable
from tengen.cluster.manifest import SET_ASIDE, TRAINING, Manifest, read_manifest
from tengen.cluster.outage import Outage, patiently
from tengen.config import parse_sections
from tengen.network.backends.registry import CPU
from tengen.network.decoding import BrokenNetworkError
from tengen.network.files.tengen_format import load_network_file
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import network_from
from tengen.replay.shard import shard_bytes
from tengen.runs.exchange import (
    INCOMING,
    WorkerShard,
    claim_session,
    first_game,
    session_file,
    write_json,
)
from tengen.runs.params import SECTIONS, RunConfig
from tengen.runs.selfplay_network import DEFAULTS, SelfPlayNetwork
from tengen.runs.store import Store, open_store
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.record import Games, joined
from tengen.user_messages import say

SHARD_SECONDS = 5.0  # at most so much is lost if a worker dies, beside the games under way
SHARDS_OF_AN_ITERATION = 4  # from one worker at least: new weights should not wait for a shard
LEAST_ROWS = 50  # of a shard that is written sooner
MOST_WAITING = 8  # shards that were not counted yet, before the worker pauses
LOOK_SECONDS = 1.0  # between two looks at the manifest
BEAT_SECONDS = 2.0
TICKS = 16  # between two looks at the clock

PLAYING, WAITING, LEAVING = "playing", "waiting", "left"


def work(
    location: str,
    device: str = CPU,
    label: str = "",
    should_stop: Callable[[], bool] = lambda: False,
) -> str:
    """Play for the run at a path or URL until it ends or `should_stop`; returns why it ended.

    `label` names the worker to people.
    """
    store = open_store(location)
    text = patiently(location, lambda: _config_text(store), should_stop)
    if text is None:
        return "stopped"
    config = RunConfig(**parse_sections(text, f"{location}/config.toml", SECTIONS))
    facts = {
        "kind": "worker",
        "label": label,
        "node": socket.gethostname(),
        "pid": os.getpid(),
        "device": device,
        "began": time.time(),
    }
    found = _first_weights(store, should_stop)
    session = found and patiently(location, lambda: claim_session(store, facts), should_stop)
    if not found or not session:
        return "stopped"
    with Worker(store, config, session, facts, found) as worker:
        return worker.go(should_stop)


def _config_text(store: Store) -> str:
    try:
        return store.read("config.toml").decode()
    except FileNotFoundError:
        where = f"{socket.gethostname()} does not see the run at {store.location}"
        raise ValueError(
            f"{where}: put it on a file system that all machines share, or behind a URL"
        ) from None


class _Weights(NamedTuple):
    """Weights that were announced."""

    manifest: Manifest  # that announced them
    data: NetworkData


def _first_weights(store: Store, should_stop: Callable[[], bool]) -> _Weights | None:
    """Weights as soon as there are some to play with; None if stopped before."""

    def look() -> _Weights | None:
        manifest = read_manifest(store)
        if not manifest.version or manifest.state != TRAINING:
            return None
        return _weights(store, manifest)

    while not should_stop():
        if (found := patiently(store.location, look, should_stop)) is not None:
            return found
        time.sleep(LOOK_SECONDS / 4)
    return None


def _weights(store: Store, manifest: Manifest) -> _Weights:
    """Fetch the weights of a manifest; raises OSError or NetworkFileError."""
    content = store.read(manifest.file)
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        path = Path(folder) / "weights.safetensors"
        path.write_bytes(content)
        return _Weights(manifest, load_network_file(path))


class Worker(Closeable):
    """One session of a worker."""

    def __init__(
        self,
        store: Store,
        config: RunConfig,
        session: int,
        facts: Mapping[str, Any],
        found: _Weights,
    ) -> None:
        """`facts` tell people who has the session."""
        self._store, self._config, self.session, self._facts = store, config, session, facts
        self._device = device = str(facts["device"])
        self._manifest, data = found
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="weights")
        self._coming: Future[_Weights] | None = None
        self._unheard = Outage(store.location, "heartbeats cannot be written")
        self._version = self._manifest.version
        self._beats = self._written = self._games_written = 0
        self._state = PLAYING
        self._fresh: list[Games] = []
        rows = config.run.iteration_rows or DEFAULTS[device].iteration_rows
        self._shard_rows = max(LEAST_ROWS, rows // SHARDS_OF_AN_ITERATION)
        games = config.selfplay
        at_a_time = games.games or DEFAULTS[device].games
        network = data if device == CPU else network_from(data).cuda().eval()
        self._network = SelfPlayNetwork(network, games.halves(at_a_time))
        if self._manifest.steps:  # as in a run that goes on, see `LocalFleet`
            games = replace(games, stagger=False)
        self._fleet = Fleet(
            self._network.buffers,
            games,
            config.search,
            config.run.seed,
            first_game=first_game(self.session),
        )
        self._fleet.set_step(self._manifest.steps)

    def close(self) -> None:
        """End the thread that fetches weights."""
        self._pool.shutdown(cancel_futures=True)

    def go(self, should_stop: Callable[[], bool]) -> str:
        """Play until the run ends, the worker is set aside, or `should_stop`; returns which.

        Whatever the reason, the last heartbeat tells it to the learner.
        """
        try:
            why = self._play(should_stop)
        except BrokenNetworkError as error:  # the weights are broken, or what computes with them
            why = f"{SET_ASIDE}: {error}"
        except Exception as error:
            self._beat(LEAVING, f"{type(error).__name__}: {error}")
            raise
        self._beat(LEAVING, why if why.startswith(SET_ASIDE) else "")
        if self._device != CPU:
            torch.cuda.synchronize()
        return why

    def _play(self, should_stop: Callable[[], bool]) -> str:
        now = time.monotonic()
        looked, beaten, shipped = now, now - BEAT_SECONDS, now
        why = ""
        while not why:
            for _ in range(TICKS):
                self._fleet.tick()
            self._fresh.append(self._fleet.take_games())
            self._take_weights()
            now = time.monotonic()
            if now - looked >= LOOK_SECONDS:
                looked = now
                self._look(should_stop)
                why = self._why_to_end(should_stop)
            fresh = sum(float(games.turns["weight"].sum()) for games in self._fresh)
            if fresh and (now - shipped >= SHARD_SECONDS or fresh >= self._shard_rows or why):
                shipped = now
                why = self._ship(should_stop) or why or self._wait_for_learner(should_stop)
            if now - beaten >= BEAT_SECONDS:
                beaten = now
                self._beat(PLAYING)
        return why

    def _why_to_end(self, should_stop: Callable[[], bool]) -> str:
        manifest = self._manifest
        if reason := manifest.aside.get(str(self.session)):
            return f"{SET_ASIDE}: a shard {reason}"
        if manifest.state != TRAINING:
            return manifest.state
        return "stopped" if should_stop() else ""

    def _look(self, should_stop: Callable[[], bool]) -> None:
        """Read the manifest, and begin to fetch weights that are new."""
        store = self._store
        found = patiently(store.location, lambda: read_manifest(store), should_stop)
        if found is None or not found.version:
            return
        self._manifest = found
        if self._coming is None and found.version != self._version:
            self._coming = self._pool.submit(_weights, store, found)

    def _take_weights(self) -> None:
        """Play with new weights as soon as they have come; if they cannot be read, look again."""
        if self._coming is None or not self._coming.done():
            return
        coming, self._coming = self._coming, None
        try:
            manifest, data = coming.result()
        except (OSError, ValueError) as error:  # replaced by newer ones meanwhile, or out of reach
            say(f"new weights cannot be read yet: {error}")
            return
        self._network.play(data)
        self._fleet.set_step(manifest.steps)
        self._version = manifest.version

    def _ship(self, should_stop: Callable[[], bool]) -> str:
        """Write the finished games as the next shard; it is there whole, or not at all.

        Returns why to end, if there is reason.
        """
        games, self._fresh = joined(self._fresh), []
        provenance = {
            "run": self._store.location.rpartition("/")[2],
            "session": self.session,
            "version": self._version,
        }
        try:
            content = shard_bytes(games, provenance)
        except ValueError as error:  # such as NaN, of a broken GPU
            return f"{SET_ASIDE}: in its games {error}"
        shard = WorkerShard(self.session, self._written + 1)

        def write() -> bool:  # again and again, if need be: the same content to the same name
            self._store.write(f"{INCOMING}/{shard.file}", content)
            return True

        if not patiently(self._store.location, write, should_stop):
            return "stopped"  # the shard may have been written, so no other may get its number
        self._written += 1
        self._games_written += len(games.games)
        return ""

    def _wait_for_learner(self, should_stop: Callable[[], bool]) -> str:
        """Pause while too many shards wait to be counted; returns why to end, if there is reason.

        So neither the store nor anybody's memory fills up, however long the learner is away.
        """
        beaten = time.monotonic()
        while self._must_wait():
            if time.monotonic() - beaten >= BEAT_SECONDS or self._state != WAITING:
                self._beat(WAITING)
                beaten = time.monotonic()
            time.sleep(LOOK_SECONDS / 4)
            self._look(should_stop)
            if why := self._why_to_end(should_stop):
                return why
        self._state = PLAYING
        return ""

    def _must_wait(self) -> bool:
        """Whether the learner has enough to do, or is away.

        The longer games wait, the older is the network that played them, so all workers together
        keep no more of them than an iteration needs.
        """
        mine = self._written - self._manifest.counted.get(str(self.session), 0)
        enough = mine >= 1 and self._manifest.waiting >= SHARDS_OF_AN_ITERATION
        return enough or mine >= MOST_WAITING

    def _beat(self, state: str, failure: str = "") -> None:
        """Write the heartbeat, if the store can be reached."""
        self._state = state
        self._beats += 1
        counts = self._fleet.counts
        values = {
            **self._facts,
            "state": state,
            "failure": failure,
            "beat": self._beats,
            "version": self._version,
            "shards": self._written,
            "games": self._games_written,
            "ticks": counts.ticks,
            "evals": counts.rows,
            "moves": counts.moves,
        }
        with self._unheard.reporting():
            write_json(self._store, session_file(self.session), values)
