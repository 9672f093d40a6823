"""Where the parts of a run work: all in this process, or on several machines.

The loop in `tengen.runs.run` is the same for both. What differs is where its games come from and
who rates its networks; `tengen.cluster` has the other placement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from tengen.network.backends.registry import CPU
from tengen.network.network_data import NetworkData
from tengen.replay.shard import shard_files
from tengen.runs.exchange import (
    claim_session,
    clear_counted,
    count_left_over,
    first_game,
    session_of,
)
from tengen.runs.folder import RunFolder
from tengen.runs.ledger import Ledger
from tengen.runs.params import RunConfig
from tengen.runs.progress import Counters
from tengen.runs.rating import rate_network
from tengen.runs.row_maker import Piece, piece_of
from tengen.runs.selfplay_network import DEFAULTS, SelfPlayNetwork, evaluator_on
from tengen.runs.store import FolderStore
from tengen.selfplay.fleet import Counts, Fleet
from tengen.selfplay.record import Games
from tengen.training.trainer import Trainer

TICKS_TO_COLLECT = 64  # between two looks for finished games


class OpenedRun(NamedTuple):
    """What the parts that work for a run need to know of it."""

    folder: RunFolder
    config: RunConfig
    device: str  # that learns
    trainer: Trainer
    games_at_a_time: int
    numbers_from: int  # of this process's own games
    ledger: Ledger  # of the shards of workers
    aside: dict[str, str]  # why sessions were set aside
    kernels_ready: Callable[[], None]  # waits for them
    stopped: Callable[[], bool]  # whether the session is to end


class GameSource(Protocol):
    """Where games come from: a fleet in this process, workers elsewhere, or files of records."""

    overlapped: bool  # whether the device learns while games are played or waited for

    @property
    def share(self) -> float:
        """The share of all data that has been used; 0 if it has no end."""

    def collect(self, learn: Callable[[], bool]) -> Games | Piece:
        """The next games, perhaps none; meanwhile, if overlapped, call `learn` again and again.

        `learn` takes one training step if the schedule allows it. It returns True while many more
        are due, so that the caller may put off playing.
        """

    def wants_weights(self) -> bool:
        """Whether new weights should play before the end of the iteration."""

    def publish(self, trainer: Trainer) -> None:
        """Let the trainer's averaged weights play from now on."""

    def play(self, data: NetworkData) -> None:
        """Let this network play from now on; its provenance has its steps."""

    @property
    def counts(self) -> Counts:
        """What has been played so far."""

    def metrics(self, before: Counters, now: Counters) -> dict[str, float]:
        """Facts about an iteration's games beside their rates."""

    def save(self) -> dict[str, NDArray[Any]]:
        """The games under way, for a checkpoint."""

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on with games that were saved; raises KeyError or ValueError."""

    def left_over(self) -> list[Games]:
        """Games from before this session that nobody has counted; called once, after `load`."""

    def earlier(self, folder: RunFolder) -> Iterator[Piece]:
        """The files with what was collected before this session, the last first."""

    def first(self, folder: RunFolder) -> Iterator[Piece]:
        """Files of games in an order that never changes, in which held-out games are looked for."""


class PlayedGames:
    """Base class of sources of games that are played, and saved as shards in the run's folder."""

    share = 0.0

    def earlier(self, folder: RunFolder) -> Iterator[Piece]:
        """The shards, the latest first."""
        return map(piece_of, reversed(shard_files(folder.shards)))

    def first(self, folder: RunFolder) -> Iterator[Piece]:
        """The shards, the oldest first."""
        return map(piece_of, shard_files(folder.shards))


class Rater(Protocol):
    """Plays the matches of a run's networks, now or later."""

    def rate(self, iteration: int, playing: str) -> None:
        """Rate an iteration's network, which was kept; see `rate_network` for `playing`."""

    def rated(self) -> list[int]:
        """The iterations whose matches were all recorded since the last call."""


class Placement(Protocol):
    """Where the parts of a run work."""

    plays_here: bool  # whether this process plays games

    def open_games(self, run: OpenedRun) -> GameSource:
        """Where the run's games come from."""

    def open_rater(self, run: OpenedRun) -> Rater:
        """Who rates the run's networks."""

    def check(self) -> None:
        """Raise RunError if this process may not go on; called again and again, so it is cheap."""

    def saving(self) -> None:
        """Called in the background before a checkpoint; raises RunError to prevent it."""

    def saved(self, facts: Mapping[str, Any]) -> None:
        """Called in the background after each checkpoint, with its facts."""


class NoOtherMachine:
    """Base class of placements with all parts in this process."""

    def open_rater(self, run: OpenedRun) -> LocalRater:
        """Matches that the loop waits for."""
        return LocalRater(run)

    def check(self) -> None:
        """Does nothing: the lock of the folder keeps other processes out."""

    def saving(self) -> None:
        """Does nothing: no other machine takes part in the run."""

    def saved(self, facts: Mapping[str, Any]) -> None:
        """Does nothing: no other machine takes part in the run."""


class OneProcess(NoOtherMachine):
    """Self-play, learning and matches in this process."""

    plays_here = True

    def open_games(self, run: OpenedRun) -> LocalFleet:
        """A fleet."""
        self._store = FolderStore(run.folder.path)
        return LocalFleet(run)

    def saved(self, facts: Mapping[str, Any]) -> None:
        """Clear away what workers left and the checkpoint has counted."""
        if facts.get("counted"):
            clear_counted(self._store, Ledger(facts["counted"]))


class LocalFleet(PlayedGames):
    """A fleet in this process, on the device that learns."""

    def __init__(self, run: OpenedRun) -> None:
        config = run.config
        self._run = run
        self._ticks_to_publish = DEFAULTS[run.device].ticks_to_publish
        self.overlapped = bool(self._ticks_to_publish)
        data = run.trainer.ema_data("playing", {}) if run.device == CPU else None
        halves = config.selfplay.halves(run.games_at_a_time)
        self._network = SelfPlayNetwork(data or run.trainer.ema, halves)
        run.kernels_ready()
        games, first = config.selfplay, run.numbers_from
        if first:  # only the first games of an untrained network are cut short
            games = replace(games, stagger=False)
        self._fleet = Fleet(
            self._network.buffers, games, config.search, config.run.seed, first_game=first
        )

    def collect(self, learn: Callable[[], bool]) -> Games:
        """Play some ticks. On a GPU steps run between them, on a CPU after them."""
        for _ in range(TICKS_TO_COLLECT):
            self._fleet.tick()
            if self.overlapped:
                learn()
        return self._fleet.take_games()

    def wants_weights(self) -> bool:
        """On a GPU every so many ticks."""
        ticks = self._fleet.counts.ticks
        return self.overlapped and ticks % self._ticks_to_publish < TICKS_TO_COLLECT

    def publish(self, trainer: Trainer) -> None:
        """Copy the weights while the device is idle, or open a new evaluator."""
        self._network.publish(trainer)
        self._fleet.set_step(trainer.steps)

    def play(self, data: NetworkData) -> None:
        """Play with this network from now on."""
        self._network.play(data)
        self._fleet.set_step(int(data.provenance["steps"]))

    @property
    def counts(self) -> Counts:
        """The counts of the fleet."""
        return self._fleet.counts

    def metrics(self, before: Counters, now: Counters) -> dict[str, float]:
        """How full batches were."""
        filled = (now.evals - before.evals) / max(1, now.ticks - before.ticks)
        return {"batch fill": filled * len(self._network.buffers) / self._run.games_at_a_time}

    def save(self) -> dict[str, NDArray[Any]]:
        """The games under way."""
        return self._fleet.save()

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on with games that were saved."""
        self._fleet.load(arrays)

    def left_over(self) -> list[Games]:
        """The games of shards that workers left, if the run was on several machines before."""
        run = self._run
        store = FolderStore(run.folder.path)
        return count_left_over(store, run.ledger, run.config.selfplay, run.aside)


class LocalRater:
    """Plays matches at once; the caller waits."""

    def __init__(self, run: OpenedRun) -> None:
        self._run = run
        self._rated: list[int] = []

    def rate(self, iteration: int, playing: str) -> None:
        """Play all matches, unless the session is to end meanwhile."""
        run = self._run
        all_played = rate_network(
            run.folder,
            iteration,
            run.config.rating,
            run.config.selfplay,
            partial(evaluator_on, run.device),
            playing,
            run.stopped,
        )
        if all_played:
            self._rated.append(iteration)

    def rated(self) -> list[int]:
        """The iterations rated since the last call."""
        rated, self._rated = self._rated, []
        return rated


def own_numbers(folder: RunFolder, before: int) -> int:
    """Claim a session for a new fleet of this process, in a run shared with workers.

    Returns the number of its first game. `before` is that of the previous fleet: no number of its
    games, nor of workers' games, is given again.
    """
    at_least = session_of(before) + 1
    session = claim_session(FolderStore(folder.path), {"kind": "one process"}, at_least)
    return first_game(session)
