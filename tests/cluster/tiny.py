"""A run on 3x3 that takes seconds, and what must be true of its games at any time."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

from tengen.replay.shard import read_shard, shard_files, shard_number
from tengen.runs.checkpoint import load_latest
from tengen.runs.exchange import INCOMING, incoming_shards
from tengen.runs.folder import RunFolder
from tengen.runs.ledger import Ledger
from tengen.runs.params import RatingParams, RunConfig, RunParams
from tengen.runs.store import FolderStore
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Records, joined
from tengen.training.params import TrainingParams

TINY = RunConfig(
    run=RunParams(
        model="b2c32",
        device="cpu",
        iterations=4,
        iteration_rows=200,
        first_rows=200,
        checkpoint_seconds=0,
    ),
    selfplay=SelfPlayParams(
        games=16, visits=6, fast_visits=3, board_sizes=(3,), full_share=0.5, opening_share=0.5
    ),
    training=TrainingParams(batch=32, warm_up=20, samples_per_row=1),
    rating=RatingParams(every=2, games=4, visits=2, opponents=1),
)
ENDLESS = replace(TINY, run=replace(TINY.run, iterations=0))


class Archive:
    """Links every shard of the workers as soon as it is there, so that none goes unseen.

    A shard is cleared away only after two checkpoints, which leaves time to see it.
    """

    def __init__(self, run: Path, folder: Path) -> None:
        self._incoming, self.folder = run / INCOMING, folder
        folder.mkdir()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.look()

    def look(self) -> None:
        for path in self._incoming.glob("*.games"):
            try:
                if not (self.folder / path.name).exists():
                    os.link(path, self.folder / path.name)
            except FileNotFoundError:
                continue

    def close(self) -> None:
        self._done.set()
        self._thread.join()
        self.look()

    def games(self) -> Records:
        """The games of all shards that workers ever finished."""
        return joined([read_shard(path).games for path in self.folder.iterdir()]).games


def assert_counted_once(path: Path, archive: Archive) -> int:
    """Every game that workers finished is in the run's shards or waits to be counted, once.

    Returns how many games the run has counted.
    """
    archive.close()
    folder, store = RunFolder(path), FolderStore(path)
    checkpoint = load_latest(folder)
    assert checkpoint is not None
    ledger = Ledger(checkpoint.facts.get("counted"))
    # Later shards are of a save that was cut short: the next start removes them.
    last = int(checkpoint.facts["last_shard"])
    files = [file for file in shard_files(folder.shards) if shard_number(file) <= last]
    counted = joined([read_shard(file).games for file in files]).games["number"].tolist()
    assert len(counted) == len(set(counted)) == checkpoint.facts["games"]
    waiting = [
        number
        for shard in incoming_shards(store)
        if shard not in ledger
        for number in read_shard(path / INCOMING / shard.file).games.games["number"].tolist()
    ]
    assert not set(waiting) & set(counted)
    finished = archive.games()["number"].tolist()
    assert len(finished) == len(set(finished))
    assert set(finished) <= set(counted) | set(waiting)
    return len(counted)
