"""A run: games are played, rows learned from, networks rated, until it ends or is stopped.

It is one loop of ticks. An iteration is a number of new rows; at its end the network that plays is
the one that has learned, and all that is needed to go on is saved now and then. What happens when
depends on counts alone where there is no GPU, so that a run that is taken up again goes on as if it
had never been stopped.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.features.feature_set import FEATURE_SETS
from tengen.interrupt import interruptible
from tengen.network.architecture import Architecture, named_architecture
from tengen.network.data import NetworkData
from tengen.network.files.loading import find_network, load_network
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.runs.checkpoint import JSON, Checkpoint, load_latest
from tengen.runs.compile_ahead import Warming
from tengen.runs.device import (
    SUITS_CPU,
    SUITS_GPU,
    evaluator_on,
    learning_device,
    new_players,
    unused_planes,
)
from tengen.runs.display import RunDisplay, RunStatus
from tengen.runs.errors import RunError
from tengen.runs.folder import RunFolder, RunLock, is_run
from tengen.runs.json_lines import forget_after
from tengen.runs.memory import Memory
from tengen.runs.metrics import Metrics, game_metrics
from tengen.runs.params import CHANGEABLE, SECTIONS, RunConfig, RunParams
from tengen.runs.rating import (
    keep_network,
    network_file,
    network_name,
    passes,
    rate_network,
    ratings_of,
)
from tengen.runs.saving import Saver, remove_shards_after
from tengen.runs.settings import settle
from tengen.selfplay.fleet import Counts, Fleet
from tengen.training.heads import TrainingNetwork
from tengen.training.initial import initial_network, network_to_go_on
from tengen.training.params import rate_at, steps_allowed
from tengen.training.rows_on_device import RowsOnDevice
from tengen.training.trainer import DivergedError, Trainer
from tengen.user_messages import say

TICKS_TO_COLLECT = 64  # between two looks for games that ended


def begin_or_go_on(path: str | Path, wanted: RunConfig | None) -> tuple[RunFolder, RunConfig]:
    """The run in a folder, made if there is none; raises RunError.

    `wanted` are the settings of a new run, or new ones for an old run: None leaves them as they
    are, and those that would make it another run are refused by name.
    """
    if wanted is not None and wanted.run.start and not is_run(path):
        find_network(wanted.run.start)  # before there is a run that has no beginning
    sections = None if wanted is None else wanted.sections()
    folder, settled = settle(path, sections, SECTIONS, CHANGEABLE)
    return folder, RunConfig(**settled)


def train(path: str | Path, wanted: RunConfig | None = None) -> None:
    """Begin a run or go on with it, until its end or until it is interrupted; raises RunError."""
    with RunLock(path):
        folder, config = begin_or_go_on(path, wanted)
        try:
            with Run(folder, config) as run:
                run.go()
        except DivergedError as error:
            raise RunError(f"{folder.path}: {error}") from error


class Run(Closeable):
    """A run under way, in a folder that this process has locked."""

    def __init__(self, folder: RunFolder, config: RunConfig) -> None:
        self._began = time.monotonic()
        self._folder, self._config = folder, config
        self._device = learning_device(config.run.device)
        self._suits = SUITS_GPU if self._device == "cuda" else SUITS_CPU
        self._iteration_rows = config.run.iteration_rows or self._suits.iteration_rows
        self._first_rows = config.run.first_rows or self._suits.first_rows
        self.iteration = 0
        self._unrated = False  # is the network of this iteration still to be rated?
        self._playing = network_name(0)  # the network that plays, where a gate decides
        self._seconds_before = 0.0  # of earlier sessions
        self._last_saved = time.monotonic()
        self._stop = threading.Event()
        checkpoint = load_latest(folder)
        network, self._started_from = _first_network(config.run, checkpoint)
        self._games_at_a_time = config.selfplay.games or self._suits.games
        if checkpoint is not None:  # perhaps of another device
            self._games_at_a_time = sum(len(checkpoint.arrays[name]) for name in _SEATS)
        with ExitStack() as opened:
            self._begin_work(network, opened)
            if checkpoint is not None:
                self._take_up(checkpoint)
            else:
                forget_after(folder.ratings, "iteration", -1)
                remove_shards_after(folder, 0)
            self._saver = opened.enter_context(Saver(folder, config.run.sample_games))
            self._metrics = opened.enter_context(Metrics(folder, self.iteration))
            self._display = opened.enter_context(RunDisplay(str(folder.path)))
            self._status = RunStatus(0, 0, 0, 0, {}, 0, 0, 0, 0, 0)
            self._opened = opened.pop_all()

    def _begin_work(self, network: TrainingNetwork, opened: ExitStack) -> None:
        """Make what learns, what remembers and what plays, on the device."""
        config, seed, side = self._config, self._config.run.seed, self._config.selfplay.largest_side
        features = FEATURE_SETS[network.network.architecture.features]
        warming = opened.enter_context(Warming(features)) if self._device == "cuda" else None
        rows = RowsOnDevice(
            config.run.most_rows or self._suits.most_rows,
            side,
            features,
            self._device,
            one_size=len(config.selfplay.board_sizes) == 1,
        )
        self._trainer = Trainer(network, rows, config.training, seed)
        self._memory = opened.enter_context(Memory(rows, features, config.window, seed))
        self._players = new_players(self._trainer, self._games_at_a_time, side)
        if warming is not None:
            warming.wait()
        self._fleet = Fleet(self._players.buffers, config.selfplay, config.search, seed)

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def close(self) -> None:
        """Let go of threads, processes and files."""
        self._opened.close()

    def go(self) -> None:
        """Run to the end, or until interrupted; all is saved then."""
        message = "stopping after this tick; once more to end at once, losing the last minute"
        with interruptible(self._stop, message):
            self.begin()
            while not self._over():
                self.iterate()
            self._save()
            save_network(self._network_data("latest"), self._folder.latest, half=True)
            self._saver.finish()
        self._display.close()  # what follows is the last word
        path = self._folder.path
        if self._stop.is_set():
            say(f"stopped and saved; go on with: tengen train {path}")
            return
        run = self._config.run
        ends = {"minutes": run.minutes, "games": run.games, "iterations": run.iterations}
        later = " ".join(f"--{name} {2 * end:.12g}" for name, end in ends.items() if end)
        done = f"{self.seconds / 60:.1f} minutes and {self._memory.games:,} games"
        say(f"{path} is at its end after {done}; set a later one with: tengen train {path} {later}")

    def begin(self) -> None:
        """Keep the network that a new run begins with, or finish the rating of one that goes on."""
        if self._unrated:
            self._rate()
        if self.iteration:
            return
        self.keep_network()
        if self._config.rating.gate:
            self._let_play(self._playing)

    def iterate(self) -> None:
        """Play and learn until so many rows are new; then publish, save and rate."""
        counts, steps, began = self._fleet.counts, self._trainer.steps, time.monotonic()
        rows = self._memory.rows.total
        while self._memory.rows.total < rows + self._iteration_rows and not self._over():
            self._play_and_learn()
            self._show(self._with_rates(counts, rows, steps, time.monotonic() - began))
        self._publish()
        self.iteration += 1
        self._report(counts, rows, steps, time.monotonic() - began)
        every = self._config.rating.every
        self._unrated = bool(every) and (self.iteration % every == 0 or self._share() >= 1)
        if time.monotonic() - self._last_saved >= self._config.run.checkpoint_seconds:
            self._save()  # before matches, which may take minutes
        if self._unrated and not self._stop.is_set():
            self._rate()

    def _play_and_learn(self) -> None:
        """Some ticks, with steps between them as rows and the device allow."""
        on_gpu = self._suits.ticks_to_publish > 0
        for _ in range(TICKS_TO_COLLECT):
            self._fleet.tick()
            if on_gpu and self._may_learn() and self._trainer.ready():
                self._trainer.step(self._rate_now())
        learn_from = self._memory.add_beside if on_gpu else self._memory.add
        learn_from(self._fleet.take_games())
        while not on_gpu and self._may_learn():
            self._trainer.step(self._rate_now())
        if on_gpu and self._fleet.counts.ticks % self._suits.ticks_to_publish < TICKS_TO_COLLECT:
            self._publish()

    def _may_learn(self) -> bool:
        rows = self._memory.rows
        if rows.total < self._first_rows or not rows.window:  # if their shards are lost
            return False
        return self._trainer.steps < steps_allowed(self._config.training, rows.total)

    def _rate_now(self) -> float:
        return rate_at(self._config.training, self._trainer.steps, self._share())

    def _share(self) -> float:
        """How much of the run is over, if it has an end."""
        run = self._config.run
        shares = [0.0]
        if run.minutes:
            shares.append(self.seconds / 60 / run.minutes)
        if run.games:
            shares.append(self._memory.games / run.games)
        if run.iterations:
            shares.append(self.iteration / run.iterations)
        return max(shares)

    def _over(self) -> bool:
        return self._stop.is_set() or self._share() >= 1

    def _publish(self) -> None:
        """Let the fleet play with what was learned."""
        if not self._trainer.check():
            return  # it went back to earlier weights; those play next time
        if self._config.rating.gate:
            return  # only a network that was rated plays
        self._players.publish(self._trainer)
        self._fleet.set_step(self._trainer.steps)

    # Reporting

    def _report(self, before: Counts, rows: int, steps: int, seconds: float) -> None:
        """Write down and show how the iteration went."""
        memory, learned = self._memory, self._trainer.metrics()
        losses = {name: value for name, value in learned.items() if name not in _NO_LOSSES}
        self._status = self._with_rates(before, rows, steps, seconds)._replace(losses=losses)
        status, counts = self._status, self._fleet.counts
        ticks = max(1, counts.ticks - before.ticks)
        values = {
            "minutes": self.seconds / 60,
            "games": memory.games,
            "rows": memory.rows.total,
            "window": memory.rows.window,
            "steps": self._trainer.steps,
            "rate": self._rate_now() * self._trainer.rate_factor,
            "batch fill": (counts.rows - before.rows) / ticks / (self._games_at_a_time / 2),
            "speed/games": status.games_rate,
            "speed/evals": status.evals_rate,
            "speed/rows": status.rows_rate,
            "speed/samples": status.samples_rate,
            "speed/moves": (counts.moves - before.moves) / seconds,
            **{f"loss/{name}": value for name, value in losses.items()},
            **{name: learned[name] for name in ("accuracy", "gradient") if name in learned},
            **self._game_metrics(),
        }
        self._metrics.write(self.iteration, values)
        self._show(status)

    def _with_rates(self, before: Counts, rows: int, steps: int, seconds: float) -> RunStatus:
        """How things stand, with the rates since these counts."""
        counts, memory = self._fleet.counts, self._memory
        return self._status._replace(
            iteration=self.iteration,
            games=memory.games,
            rows=memory.rows.total,
            window=memory.rows.window,
            games_rate=(counts.games - before.games) / seconds,
            evals_rate=(counts.rows - before.rows) / seconds,
            rows_rate=(memory.rows.total - rows) / seconds,
            samples_rate=(self._trainer.steps - steps) * self._config.training.batch / seconds,
        )

    def _game_metrics(self) -> dict[str, float]:
        """What the latest games were like."""
        games = self._memory.last
        if games is None:
            return {}
        age = float(self._trainer.steps - games.games["step"].mean())
        return {**game_metrics(games), "games/age in steps": age}

    def _show(self, status: RunStatus) -> None:
        share = self._share()
        left = self.seconds * (1 / share - 1) if 0 < share < 1 else None
        self._display.update(status._replace(seconds=self.seconds, seconds_left=left))

    # Rating and saving

    def keep_network(self) -> None:
        """Keep the network of now, for ratings and for whoever wants it."""
        keep_network(self._folder, self._network_data(network_name(self.iteration)))

    def _network_data(self, name: str) -> NetworkData:
        """The network of now, with what it has behind it."""
        facts = {
            "trained_by": "tengen train",
            "run": self._folder.path.name,
            "minutes": f"{self.seconds / 60:.1f}",
            "games": str(self._memory.games),
            "rows": str(self._memory.rows.total),
            "steps": str(self._trainer.steps),
            "board_sizes": ", ".join(map(str, self._config.selfplay.board_sizes)),
        }
        if self._started_from:
            facts["started_from"] = self._started_from
        return self._trainer.ema_data(name, facts)

    def _rate(self) -> None:
        """Keep the network of now, and let it play those before it; later if it must stop."""
        self._show(self._status._replace(stage="rating"))
        self._memory.settle()
        self.keep_network()
        config = self._config
        self._unrated = not rate_network(
            self._folder,
            self.iteration,
            config.rating,
            config.selfplay,
            lambda data: evaluator_on(self._device, data),
            self._playing if config.rating.gate else "",
            self._stop.is_set,
        )
        if self._unrated:
            return
        if config.rating.gate and passes(
            self._folder, self.iteration, self._playing, config.rating.gate
        ):
            self._let_play(network_name(self.iteration))
        rating = ratings_of(self._folder).get(network_name(self.iteration))
        if rating is not None:
            self._metrics.write(self.iteration, {"minutes": self.seconds / 60, "elo": rating.elo})
            self._status = self._status._replace(rating=rating)

    def _let_play(self, name: str) -> None:
        """Let a network that was kept play from now on."""
        self._playing = name
        data = load_network_file(network_file(self._folder, name))
        self._players.play(data)
        self._fleet.set_step(int(data.provenance["steps"]))

    def _save(self) -> None:
        """Save a checkpoint, beside the work."""
        arrays: dict[str, NDArray[Any]] = {
            f"fleet.{name}": _as_numbers(array) for name, array in self._fleet.save().items()
        }
        for name, tensor in self._trainer.state().items():
            arrays[f"trainer.{name}"] = tensor.numpy()
        unsaved = self._memory.take_unsaved()  # first: the counts below are then of all games
        facts: dict[str, JSON] = {
            "iteration": self.iteration,
            "rows": self._memory.rows.total,
            "games": self._memory.games,
            "seconds": self.seconds,
            "steps": self._trainer.steps,
            "playing": self._playing,
            "unrated": self._unrated,
            "architecture": self._trainer.ema.architecture.to_json(),
            "started_from": self._started_from,
        }
        self._saver.save(self.iteration, unsaved, arrays, facts)
        if self._config.rating.gate:
            self._let_play(self._playing)  # anew, as whoever takes the run up does
        self._last_saved = time.monotonic()

    def _take_up(self, checkpoint: Checkpoint) -> None:
        """Go on where a checkpoint was saved."""
        facts: dict[str, Any] = checkpoint.facts
        self.iteration = int(facts["iteration"])
        self._unrated = bool(facts.get("unrated"))
        self._seconds_before = float(facts["seconds"])
        trainer, fleet = (
            {
                name.removeprefix(part): values
                for name, values in checkpoint.arrays.items()
                if name.startswith(part)
            }
            for part in ("trainer.", "fleet.")
        )
        try:
            self._trainer.load_state({k: torch.from_numpy(v) for k, v in trainer.items()})
            self._fleet.load(fleet)
        except (KeyError, ValueError) as error:
            raise RunError(
                f"{self._folder.path}: its checkpoint does not fit its settings ({error}); put the "
                "old settings back, or begin a new run in another folder"
            ) from None
        self._memory.fill(
            self._folder, int(facts["last_shard"]), int(facts["rows"]), int(facts["games"])
        )
        if self._config.rating.gate:
            self._let_play(str(facts["playing"]))
        else:
            self._players.publish(self._trainer)
            self._fleet.set_step(self._trainer.steps)
        forget_after(self._folder.ratings, "iteration", self.iteration - self._unrated)


def _first_network(params: RunParams, checkpoint: Checkpoint | None) -> tuple[TrainingNetwork, str]:
    """The network that a run begins with, and where it comes from if that is not nothing.

    Of a run that goes on only its form counts: its weights are in the checkpoint.
    """
    features = params.feature_set
    unused, origin = unused_planes(features), ""
    if checkpoint is None and params.start:
        data = load_network(params.start)
        facts = [f"{data.provenance[name]} {name}" for name in _FACTS if name in data.provenance]
        seen = FEATURE_SETS[data.architecture.features]
        if (seen.planes, seen.globals) != (features.planes, features.globals):
            raise ValueError(
                f"{data.name} sees {seen.name!r} and the run {features.name!r}; start from another "
                f"network, or begin with --set run.features={seen.name}"
            )
        data = replace(data, architecture=data.architecture.seeing(features))
        return network_to_go_on(data, params.seed, unused), ", ".join([data.name, *facts])
    if checkpoint is not None and "architecture" in checkpoint.facts:
        architecture = Architecture.from_json(str(checkpoint.facts["architecture"]))
        origin = str(checkpoint.facts["started_from"])
    else:
        architecture = named_architecture(params.model).seeing(features)
    return initial_network(architecture, params.seed, unused), origin


_SEATS = ("fleet.slots0", "fleet.slots1")
_FACTS = ("minutes", "games", "rows", "steps")  # of a run, that its networks tell
_NO_LOSSES = {"accuracy", "gradient", "steps", "spoiled"}


def _as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Records as the bytes they are, for files that know numbers alone."""
    if array.dtype.names is None:
        return array
    return np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
