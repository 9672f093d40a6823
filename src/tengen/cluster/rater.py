"""A rater: plays the matches that the learner asks for, at a low priority."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tengen.cluster.manifest import TRAINING, Manifest, RatingTask, read_manifest
from tengen.cluster.outage import patiently
from tengen.config import parse_sections
from tengen.network.backends.registry import CPU
from tengen.runs.exchange import FOLDER, RATINGS, write_json
from tengen.runs.folder import RunFolder
from tengen.runs.params import SECTIONS, RunConfig
from tengen.runs.rating import network_file, network_name, rate_network
from tengen.runs.selfplay_network import evaluator_on
from tengen.runs.store import FolderStore, Store, open_store
from tengen.user_messages import say

NICENESS = 15  # of 19: whatever else the machine does comes first
LOOK_SECONDS = 1.0
MOST_FAILURES = 3  # of a network's matches, before the learner is told that they cannot be played


def rate(location: str, should_stop: Callable[[], bool]) -> str:
    """Rate networks for the run at a path or URL until it ends; returns why it ended."""
    with suppress(AttributeError, OSError):  # Windows has no such thing
        os.nice(NICENESS)
    store = open_store(location)
    facts = {"node": socket.gethostname(), "pid": os.getpid()}
    patiently(location, lambda: write_json(store, f"{FOLDER}/rater.json", facts), should_stop)
    started = False
    failures: Counter[RatingTask] = Counter()
    while not should_stop():
        manifest = patiently(location, lambda: read_manifest(store), should_stop)
        if manifest is not None:
            started = started or manifest.state == TRAINING
            if started and manifest.state != TRAINING:
                return manifest.state
            if manifest.state == TRAINING and manifest.tasks:
                _try_to_rate(store, manifest.tasks[0], failures, should_stop)
        time.sleep(LOOK_SECONDS)
    return "stopped"


def _try_to_rate(
    store: Store, task: RatingTask, failures: Counter[RatingTask], should_stop: Callable[[], bool]
) -> None:
    """Rate a network; if that fails again and again, tell the learner, which would wait for ever.

    Files that are out of reach are no reason to give up.
    """
    try:
        _rate(store, task, should_stop)
    except (OSError, ValueError) as error:
        say(f"{network_name(task.iteration)} cannot be rated now: {error}")
        failures[task] += not isinstance(error, OSError)
        if failures[task] < MOST_FAILURES:
            time.sleep(10 * LOOK_SECONDS)
            return
        values = {"checksum": task.checksum, "matches": [], "failure": str(error)}
        patiently(store.location, partial(_write, store, task, values), should_stop)


def _rate(store: Store, task: RatingTask, should_stop: Callable[[], bool]) -> None:
    """Play the matches of a task, and write them as one file; raises OSError or ValueError."""
    asked = _Asked(store, task, should_stop)
    text = store.read("config.toml").decode()
    config = RunConfig(**parse_sections(text, "config.toml", SECTIONS))
    matches: list[dict[str, Any]] = []
    with ExitStack() as opened:
        played = rate_network(
            _with_networks(store, config, task, opened),
            task.iteration,
            config.rating,
            config.selfplay,
            partial(evaluator_on, CPU),
            task.playing,
            asked.is_over,
            matches.append,
        )
    if played:
        _write(store, task, {"checksum": task.checksum, "matches": matches})


def _write(store: Store, task: RatingTask, values: dict[str, Any]) -> None:
    write_json(store, f"{RATINGS}/{network_name(task.iteration)}.json", values, durable=True)


def _with_networks(
    store: Store, config: RunConfig, task: RatingTask, opened: ExitStack
) -> RunFolder:
    """The run's folder, or one with copies of the networks that a task needs."""
    if isinstance(store, FolderStore):
        return RunFolder(store.path)
    folder = RunFolder(Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="tengen-"))))
    folder.networks.mkdir()
    name = network_name(task.iteration)
    kept = [Path(file).stem for file in store.names("networks")]
    earlier = sorted(each for each in kept if each < name)
    latest = earlier[max(0, len(earlier) - config.rating.opponents) :]
    for each in {name, *latest, *([task.playing] if task.playing else [])}:
        content = store.read(f"networks/{each}.safetensors")
        network_file(folder, each).write_bytes(content)
    return folder


class _Asked:
    """Whether a task is still asked for, looked up now and then."""

    def __init__(self, store: Store, task: RatingTask, should_stop: Callable[[], bool]) -> None:
        self._store, self._task, self._should_stop = store, task, should_stop
        self._looked, self._over = time.monotonic(), False

    def is_over(self) -> bool:
        now = time.monotonic()
        if not self._over and now - self._looked >= LOOK_SECONDS:
            self._looked = now
            with suppress(OSError):
                self._over = self._task not in _tasks(read_manifest(self._store))
        return self._over or self._should_stop()


def _tasks(manifest: Manifest) -> tuple[RatingTask, ...]:
    return manifest.tasks if manifest.state == TRAINING else ()
