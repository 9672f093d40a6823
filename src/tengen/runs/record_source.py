"""Learning from records in place of self-play: the files of a run, gone through again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.network.backends.registry import CUDA
from tengen.network.network_data import NetworkData
from tengen.runs.folder import RunFolder
from tengen.runs.placement import NoOtherMachine, OpenedRun
from tengen.runs.progress import Counters
from tengen.runs.records import TAKEN, record_pieces
from tengen.runs.row_maker import Piece
from tengen.selfplay.fleet import Counts
from tengen.selfplay.record import Games, no_games
from tengen.training.trainer import Trainer


class FromRecords(NoOtherMachine):
    """A placement without any self-play; matches are played in this process."""

    plays_here = False

    def open_games(self, run: OpenedRun) -> RecordedGames:
        """The records of the run."""
        return RecordedGames(run)


class RecordedGames:
    """All files of records in a new random order in each epoch, which depends on the seed alone."""

    counts = Counts()

    def __init__(self, run: OpenedRun) -> None:
        self._pieces = record_pieces(run.folder)
        self._epochs, self._seed = run.config.data.epochs, run.config.run.seed
        self._taken = 0  # pieces, of all epochs
        self.overlapped = run.device == CUDA

    @property
    def share(self) -> float:
        """How much of all epochs has been gone through; 0 if they have no end."""
        wanted = self._epochs * len(self._pieces)
        return self._taken / wanted if wanted else 0.0

    def collect(self, learn: Callable[[], bool]) -> Games | Piece:
        """The next file, or no games while the trainer still has earlier rows to learn from."""
        if self.overlapped and learn():
            return no_games()
        self._taken += 1
        return self._piece(self._taken - 1)

    def earlier(self, _: RunFolder) -> Iterator[Piece]:
        """The files that were taken, the last first."""
        return (self._piece(number) for number in range(self._taken - 1, -1, -1))

    def first(self, _: RunFolder) -> Iterator[Piece]:
        """All files in their own order."""
        return iter(self._pieces)

    def _piece(self, number: int) -> Piece:
        epoch, at = divmod(number, len(self._pieces))
        order = np.random.default_rng([self._seed, epoch]).permutation(len(self._pieces))
        return self._pieces[int(order[at])]

    def metrics(self, _before: Counters, _now: Counters) -> dict[str, float]:
        """How often all records were gone through."""
        return {"epochs": self._taken / len(self._pieces)}

    def save(self) -> dict[str, NDArray[Any]]:
        """The number of files taken so far."""
        return {TAKEN: np.array(self._taken)}

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on after the files that were taken."""
        self._taken = int(arrays[TAKEN])

    # Does nothing: there is no self-play

    def wants_weights(self) -> bool:
        """False: no game needs the trained weights."""
        return False

    def publish(self, trainer: Trainer) -> None:
        """Does nothing: no game needs the trained weights."""

    def play(self, data: NetworkData) -> None:
        """Does nothing: no game needs this network."""

    def left_over(self) -> list[Games]:
        """None: no games are under way."""
        return []
