"""The manifest: a small file by which the learner tells all others where the run stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tengen.runs.exchange import MANIFEST, WEIGHTS, read_json, write_json
from tengen.runs.store import Store

TRAINING, STOPPED, ENDED = "training", "stopped", "ended"
SET_ASIDE = "set aside"  # how the reason begins why a worker must not be started again


class RatingTask(NamedTuple):
    """A network that is to be rated."""

    iteration: int
    checksum: str  # of its file: after a loss of the learner, its number may name another
    playing: str  # the network that a gate compares it with; "" without a gate


class Manifest(NamedTuple):
    """Where a run stands."""

    state: str = STOPPED
    version: int = 0  # of the weights that play; counts up, whatever happens; 0: none yet
    file: str = ""  # of these weights
    steps: int = 0  # that they were trained for
    last_step: int | None = 0  # of the most trained weights ever announced; None: not known
    beat: int = 0  # changes while the learner lives
    learner: Mapping[str, Any] = {}  # who learns
    counted: Mapping[str, int] = {}  # shards of each session so far, though not all saved
    waiting: int = 0  # shards of all workers that are not counted yet
    aside: Mapping[str, str] = {}  # why sessions were set aside
    tasks: tuple[RatingTask, ...] = ()
    workers: tuple[Mapping[str, Any], ...] = ()  # for people to look at, see `worker_watch`
    losses: int = 0  # of contact, since the learner started


def read_manifest(store: Store) -> Manifest:
    """The manifest, with defaults for what it does not say; raises OSError."""
    found = read_json(store, MANIFEST)
    known = {name: found[name] for name in Manifest._fields if name in found}
    known["tasks"] = tuple(RatingTask(*task) for task in known.get("tasks", ()))
    known["workers"] = tuple(known.get("workers", ()))
    return Manifest(**known)


def last_manifest(store: Store) -> Manifest:
    """The manifest for a learner to go on from; raises OSError.

    It changes every second, so a file server that loses power may lose it. Then the weights tell
    how far versions have counted.
    """
    manifest = read_manifest(store)
    stems = (name.partition(".")[0] for name in store.names(WEIGHTS))
    last = max((int(stem) for stem in stems if stem.isdecimal()), default=0)
    if manifest.version or not last:
        return manifest
    return manifest._replace(version=last, last_step=None)


def write_manifest(store: Store, manifest: Manifest) -> None:
    """Replace the manifest; raises OSError."""
    write_json(store, MANIFEST, manifest._asdict())
