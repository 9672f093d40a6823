"""A training run: self-play, learning, rating and checkpoints, in one loop.

An iteration ends after a number of new rows. On a CPU everything depends on counts alone, never on
the clock, so a resumed run continues exactly as if it had never stopped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.features.feature_set import FEATURE_SETS
from tengen.interrupt import interruptible
from tengen.network.backends.registry import CUDA
from tengen.network.evaluator import drop_graphs
from tengen.network.files.loading import find_network
from tengen.network.files.tengen_format import load_network_file, network_bytes
from tengen.network.network_data import NetworkData
from tengen.network.trained_on import facts_of_training
from tengen.runs.checkpoint import (
    Checkpoint,
    CheckpointWriter,
    load_latest,
    missing_shards,
    remove_shards_after,
)
from tengen.runs.compile_ahead import CompileAhead, compile_first
from tengen.runs.exchange import was_shared
from tengen.runs.folder import (
    RunError,
    RunFolder,
    RunLock,
    forget_after,
    forget_lines,
    is_run,
    open_or_create_run,
    removed_if_refused,
    write_whole,
)
from tengen.runs.ledger import Ledger
from tengen.runs.pack import Packer, pack_run, unpack_run
from tengen.runs.pack_file import check_target, read_pack
from tengen.runs.params import CHANGEABLE, SECTIONS, RunConfig, RunParams, Session
from tengen.runs.placement import OneProcess, OpenedRun, Placement, own_numbers
from tengen.runs.progress import Counters, Progress, game_metrics
from tengen.runs.rating import network_file, network_name, passes, ratings_of
from tengen.runs.record_source import FromRecords
from tengen.runs.records import read_records, with_records
from tengen.runs.replay_writer import ReplayWriter
from tengen.runs.row_maker import RowMaker
from tengen.runs.selfplay_network import DEFAULTS, learning_device
from tengen.runs.starting_network import learned_with, open_teacher, starting_network
from tengen.selfplay.fleet import games_saved
from tengen.training.heads_and_losses import LOSSES, TrainingNetwork
from tengen.training.params import rate_at, steps_allowed
from tengen.training.replay_buffer import ReplayBuffer
from tengen.training.trainer import DivergedError, Trainer
from tengen.user_messages import say

WAIT_SECONDS = 0.2  # for ratings, between two looks
MOST_UNSAVED = 50_000  # games, before they are saved sooner than the settings say
MOST_BEHIND = 256  # steps that are allowed and not done, before new games have to wait


def open_run_with(path: str | Path, wanted: RunConfig | None) -> tuple[RunFolder, RunConfig]:
    """The run in a folder, created if there is none; raises RunError.

    `wanted` are the settings of a new run, or new ones for an old run; see `open_or_create_run`.
    """
    if wanted is not None and wanted.run.start and not is_run(path):
        find_network(wanted.run.start)  # raises before a run without a start is created
    sections = None if wanted is None else vars(wanted)
    folder, settings = open_or_create_run(path, sections, SECTIONS, CHANGEABLE)
    return folder, RunConfig(**settings)


def train(
    path: str | Path, wanted: RunConfig | None = None, session: Session | None = None
) -> None:
    """Begin or resume a run, until it ends or is interrupted; raises RunError."""
    session = session or Session()
    if session.pack is not None:
        check_target(session.pack)
    origin = None if session.origin is None else read_pack(session.origin)
    with removed_if_refused(path), RunLock(path):
        if origin is not None:
            unpack_run(origin, path, wanted)
            wanted = None
        folder, config = open_run_with(path, wanted)
        if session.pack is not None and _nothing_to_do(folder, config.run, session):
            say(pack_run(folder, session.pack))
            return
        try:
            placement = None
            if config.data.records:
                read_records(folder, config.data, config.run.feature_set, config.run.seed)
                config, placement = with_records(folder, config), FromRecords()
            with Run(folder, config, session, placement) as run:
                run.go()
        except DivergedError as error:
            raise RunError(f"{folder.path}: {error}") from error


def _nothing_to_do(folder: RunFolder, params: RunParams, session: Session) -> bool:
    """Whether a run has ended, or the session has no time, so that there is only a pack to write.

    Then neither the run's device nor its compilers are needed.
    """
    checkpoint = load_latest(folder)
    if checkpoint is None or session.minutes == 0:
        return checkpoint is not None
    facts = checkpoint.facts
    done = params.share_done(facts["seconds"], facts["games"], facts["iteration"])
    return done >= 1 and not facts.get("unrated")


class Run(Closeable):
    """A run under way, in a folder that this process has locked."""

    def __init__(
        self,
        folder: RunFolder,
        config: RunConfig,
        session: Session | None = None,
        placement: Placement | None = None,
    ) -> None:
        """`placement` says where games are played and rated; all in this process by default."""
        self._session_began = self._began = self._last_saved = time.monotonic()
        self._session = session or Session()
        self._seconds_before = 0.0  # of earlier sessions
        self._folder, self._config = folder, config
        self._device = learning_device(config.run.device)
        self._defaults = DEFAULTS[self._device]
        self._iteration_rows = config.run.iteration_rows or self._defaults.iteration_rows
        self._first_rows = config.run.first_rows or self._defaults.first_rows
        self.iteration = 0
        self._unrated: list[int] = []  # iterations whose networks are still to be rated
        self._playing = network_name(0)  # the network that plays, if there is a gate
        self._stop = threading.Event()
        checkpoint = load_latest(folder)
        self._start = starting_network(config.run, checkpoint and checkpoint.facts)
        facts = {} if checkpoint is None else checkpoint.facts
        self._teacher = open_teacher(config.data, self._device, facts)
        self._placement: Placement = placement or OneProcess()
        self._ledger = Ledger(facts.get("counted"))
        self._aside: dict[str, str] = dict(facts.get("aside", {}))
        self._numbers_from = int(facts.get("numbers_from", 0))
        if self._placement.plays_here and was_shared(folder) and not _has_fleet(checkpoint):
            self._numbers_from = own_numbers(folder, self._numbers_from)
        self._games_at_a_time = config.selfplay.games or self._defaults.games
        if checkpoint is not None and _has_fleet(checkpoint):  # perhaps of another device
            self._games_at_a_time = games_saved(checkpoint.part("fleet."))
        with ExitStack() as opened:
            self._open_parts(self._start.network, opened)
            if checkpoint is not None:
                self._resume(checkpoint)
            else:
                forget_after(folder.ratings, "iteration", -1)
                remove_shards_after(folder, 0)
            for games in self._games.left_over():
                self._replay.add(games)
            held_out = self._games.first(folder)
            self._replay.find_held_out(held_out, folder.teacher_outputs / "held-out")
            self._refresh_teacher()
            self._packer = opened.enter_context(Packer(folder, self._session.pack))
            self._writer = opened.enter_context(
                CheckpointWriter(
                    folder, config.run.sample_games, self._placement.saving, self._saved
                )
            )
            self._progress = opened.enter_context(
                Progress(folder, self.iteration, self._session.observers)
            )
            self._opened = opened.pop_all()

    def _open_parts(self, network: TrainingNetwork, opened: ExitStack) -> None:
        """Create the trainer, the replay buffer, the source of games and the rater."""
        config, seed = self._config, self._config.run.seed
        features = FEATURE_SETS[network.network.architecture.features]
        on_gpu = self._device == CUDA
        plays = on_gpu and self._placement.plays_here
        compiling = opened.enter_context(CompileAhead(features)) if plays else None
        if not on_gpu and self._placement.plays_here:
            before = time.monotonic()
            compile_first(features)
            # On a slow machine this can take all the minutes of a run, which then learns nothing.
            # Those of the session go on: the machine may be rented for so long.
            self._began += time.monotonic() - before
        buffer = ReplayBuffer(
            config.run.most_rows or self._defaults.most_rows,
            config.selfplay.expected_rows,
            features,
            self._device,
        )
        measure = self._start.needs_statistics
        self._trainer = Trainer(network, buffer, config.training, seed, measure_norms=measure)
        maker = RowMaker(features, seed, self._teacher, config.data.holds_out, buffer.rings.keys())
        self._replay = opened.enter_context(ReplayWriter(buffer, maker, config.window))
        run = OpenedRun(
            self._folder,
            config,
            self._device,
            self._trainer,
            self._games_at_a_time,
            self._numbers_from,
            self._ledger,
            self._aside,
            kernels_ready=compiling.wait if compiling is not None else lambda: None,
            stopped=self._stopped,
        )
        self._games = self._placement.open_games(run)
        self._rater = self._placement.open_rater(run)

    def close(self) -> None:
        """End threads and processes, close files."""
        self._opened.close()

    # The loop

    def go(self) -> None:
        """Run to the end or until interrupted, then save."""
        message = "stopping after this tick; once more to end at once, losing the last minute"
        with interruptible(self._stop, message):
            self.begin()
            while not self._over():
                self.iterate()
            while self._unrated and not self._stopped():  # only if others rate
                self._placement.check()
                time.sleep(WAIT_SECONDS)
                self._take_ratings()
            self._save()
            self._write_network("latest", self._folder.latest)
            self._writer.finish()
            self._packer.pack()
        self._progress.close_display()
        path = self._folder.path
        if self._stopped() and not self.has_ended:
            say(f"stopped and saved; resume with: tengen train {path}")
            return
        run = self._config.run
        ends = {"minutes": run.minutes, "games": run.games, "iterations": run.iterations}
        later = " ".join(f"--{name} {2 * end:.12g}" for name, end in ends.items() if end)
        if self._config.data.records and self._config.data.epochs:
            later += f" --set data.epochs={2 * self._config.data.epochs:.12g}"
        done = f"{self.seconds / 60:.1f} minutes and {self._replay.games:,} games"
        say(f"{path} has ended after {done}; train on with: tengen train {path} {later.strip()}")

    def stop_when(self, stop: threading.Event) -> None:
        """End the session, as an interrupt does, when this is set."""
        self._stop = stop

    @property
    def has_ended(self) -> bool:
        """Whether the run, not only its session, is over and all is rated."""
        return self._share() >= 1 and not self._unrated

    def begin(self) -> None:
        """Keep a new run's first network, or finish a resumed run's rating."""
        for iteration in list(self._unrated):
            self._rate(iteration)
        if self.iteration:
            return
        self._keep_network()
        if self._config.rating.gate:
            self._let_play(self._playing)

    def iterate(self) -> None:
        """Play and learn until there are enough new rows; then publish, save and rate."""
        before = self._counters()
        while self._counters().rows < before.rows + self._iteration_rows and not self._over():
            self._play_and_learn()
            now = self._counters()
            self._progress.show(now, now.rates_since(before))
        self._publish()
        self.iteration += 1
        self._report(before)
        self._take_ratings()
        every = self._config.rating.every
        if every and (self.iteration % every == 0 or self._share() >= 1):
            self._unrated.append(self.iteration)
        due = time.monotonic() - self._last_saved >= self._config.run.checkpoint_seconds
        if due or self._replay.unsaved >= MOST_UNSAVED:
            self._save()  # before the rating, which may take minutes
        if self.iteration in self._unrated and not self._stopped():
            self._rate(self.iteration)

    def _play_and_learn(self) -> None:
        """Take the next games and learn from them."""
        self._placement.check()
        found = self._games.collect(self._learn)
        if self._games.overlapped:
            self._replay.start(self._replay.add, found)
            if self._games.wants_weights():
                self._publish()
            return
        self._replay.add(found)
        while self._may_learn():
            self._trainer.step(self._rate_now())
            if self._games.wants_weights():
                self._publish()

    def _learn(self) -> bool:
        """Start a step if one is allowed and the device is free; whether many more are allowed."""
        if not self._may_learn():
            return False
        if self._trainer.ready():
            self._trainer.step(self._rate_now())
        allowed = steps_allowed(self._config.training, self._replay.buffer.total)
        return allowed - self._trainer.steps > MOST_BEHIND

    def _may_learn(self) -> bool:
        buffer = self._replay.buffer
        if buffer.total < self._first_rows or not buffer.window:  # empty if shards are lost
            return False
        return self._trainer.steps < steps_allowed(self._config.training, buffer.total)

    def _rate_now(self) -> float:
        return rate_at(self._config.training, self._trainer.steps, self._share())

    def _publish(self) -> None:
        """Let the fleet play with the trainer's weights, unless a gate decides that."""
        if not self._trainer.check():
            return  # rolled back to earlier weights, which play next time
        if not self._config.rating.gate:
            self._games.publish(self._trainer)

    # Progress

    @property
    def _learned_from(self) -> str:
        """What the network learned from, for its provenance."""
        return learned_with(self._start.learned_from, self._config.data, self._teacher)

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def _share(self) -> float:
        """How much of the run is over; 0 if it has no end."""
        done = self._config.run.share_done(self.seconds, self._replay.games, self.iteration)
        return max(done, self._games.share)

    def _over(self) -> bool:
        return self._stopped() or self._share() >= 1

    def _stopped(self) -> bool:
        """Whether this session is to end: interrupted, or its time is up."""
        minutes = self._session.minutes
        timed_out = minutes is not None and time.monotonic() - self._session_began >= 60 * minutes
        return timed_out or self._stop.is_set()

    def _counters(self) -> Counters:
        played, buffer, steps = self._games.counts, self._replay.buffer, self._trainer.steps
        return Counters(
            iteration=self.iteration,
            seconds=self.seconds,
            share=self._share(),
            games=self._replay.games,
            rows=buffer.total,
            window=buffer.window,
            steps=steps,
            samples=steps * self._config.training.batch,
            ticks=played.ticks,
            evals=played.rows,
            moves=played.moves,
        )

    def _report(self, before: Counters) -> None:
        """Record the iteration that has ended."""
        learned, now = self._trainer.metrics(), self._counters()
        losses = {name: learned[name] for name in (*LOSSES, "total") if name in learned}
        others: dict[str, float] = {
            "window": now.window,
            "steps": now.steps,
            **{name: learned[name] for name in ("accuracy", "gradient") if name in learned},
            "rate": self._rate_now() * self._trainer.rate_factor,
            **self._games.metrics(before, now),
            **{name: loss for name, loss in learned.items() if "/" in name},  # by board size
        }
        if (games := self._replay.last) is not None:
            age = float(self._trainer.steps - games.games["step"].mean())
            others |= {**game_metrics(games), "games/age in steps": age}
        if self._replay.held_out is not None:
            found = self._trainer.examine(self._replay.held_out)
            others |= {f"held out/{name}": value for name, value in found.items()}
        self._progress.record_iteration(now, now.rates_since(before), losses, others)

    # Rating

    def _rate(self, iteration: int) -> None:
        """Keep an iteration's network and have it rated; if stopped meanwhile, later."""
        self._progress.show(self._counters(), stage="rating")
        self._replay.finish()
        if iteration == self.iteration:
            self._keep_network()
        self._rater.rate(iteration, self._playing if self._config.rating.gate else "")
        self._take_ratings()

    def _take_ratings(self) -> None:
        """Record the ratings of networks that have been rated."""
        gate = self._config.rating.gate
        for iteration in self._rater.rated():
            self._unrated = [each for each in self._unrated if each != iteration]
            name = network_name(iteration)
            if gate and passes(self._folder, iteration, self._playing, gate):
                self._let_play(name)
            if (rated := ratings_of(self._folder).get(name)) is not None:
                now = self._counters()._replace(iteration=iteration)
                self._progress.record_rating(now, rated)

    def _keep_network(self) -> None:
        """Write this iteration's network, for ratings and for other programs."""
        name = network_name(self.iteration)
        self._write_network(name, network_file(self._folder, name))

    def _write_network(self, name: str, path: Path) -> None:
        """Write the network as it is now; raises RunError."""
        write_whole(path, network_bytes(self._network_data(name), str(path), half=True))

    def _network_data(self, name: str) -> NetworkData:
        """The network as it is now, with its provenance."""
        facts = {
            "trained_by": "tengen train",
            "run": self._folder.path.name,
            "minutes": f"{self.seconds / 60:.1f}",
            "games": str(self._replay.games),
            "rows": str(self._replay.buffer.total),
            "steps": str(self._trainer.steps),
            **facts_of_training(
                self._config.selfplay.board_sizes, self._config.selfplay.drawn_rules
            ),
        }
        if self._start.started_from:
            facts["started_from"] = self._start.started_from
        facts["learned_from"] = self._learned_from
        return self._trainer.ema_data(name, facts)

    def _let_play(self, name: str) -> None:
        """Let a network that was kept play from now on."""
        self._playing = name
        data = load_network_file(network_file(self._folder, name))
        self._games.play(data)

    # Saving and resuming

    def _save(self) -> None:
        """Start saving a checkpoint in the background."""
        arrays = {f"fleet.{name}": _as_numbers(array) for name, array in self._games.save().items()}
        for name, tensor in self._trainer.state().items():
            arrays[f"trainer.{name}"] = tensor.numpy()
        unsaved = self._replay.take_unsaved()  # first, so that the counts below include them
        facts = {
            "iteration": self.iteration,
            "rows": self._replay.buffer.total,
            "games": self._replay.games,
            "seconds": self.seconds,
            "steps": self._trainer.steps,
            "playing": self._playing,
            "unrated": self._unrated,
            "architecture": self._trainer.ema.architecture.to_json(),
            "started_from": self._start.started_from,
            "learned_from": self._start.learned_from,
            "needs_statistics": self._start.needs_statistics,
            "numbers_from": self._numbers_from,
        }
        if self._teacher is not None:
            facts["teacher_sha256"] = self._teacher.sha256
        if was_shared(self._folder):
            facts |= {"counted": self._ledger.to_json(), "aside": dict(self._aside)}
        games, outputs = unsaved.games, self._replay.teacher_outputs_saver(unsaved)
        self._writer.start(self._writer.write, self.iteration, games, arrays, facts, outputs)
        if self._config.rating.gate:
            self._let_play(self._playing)  # reloaded, as a resumed run does, so that both agree
        self._refresh_teacher()
        self._last_saved = time.monotonic()

    def _refresh_teacher(self) -> None:
        """Reset the teacher's evaluator, as resuming does, so that a resumed run is exact.

        Which graph evaluates a batch, and so the last digits, depends on earlier batches.
        """
        if self._teacher is not None:
            self._replay.finish()
            drop_graphs(self._teacher.evaluator)

    def _saved(self, facts: Mapping[str, Any]) -> None:
        """Called in the background after each checkpoint."""
        self._packer.offer()
        self._placement.saved(facts)

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint."""
        facts = checkpoint.facts
        self.iteration = int(facts["iteration"])
        unrated = facts.get("unrated") or []  # earlier versions: whether the last one is
        self._unrated = [self.iteration] if unrated is True else list(unrated)
        self._seconds_before = float(facts["seconds"])
        trainer = checkpoint.part("trainer.")
        try:
            self._trainer.load_state({k: torch.from_numpy(v) for k, v in trainer.items()})
            if fleet := checkpoint.part("fleet."):  # a pack has none: its games begin anew
                self._games.load(fleet)
        except (KeyError, ValueError) as error:
            raise RunError(
                f"{self._folder.path}: its checkpoint is of other settings or of another version "
                f"of Tengen ({error}); restore them, or begin a new run in another folder"
            ) from None
        last_shard = int(facts["last_shard"])
        if missing := missing_shards(self._folder, last_shard):
            numbers = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
            what = f"shards that its checkpoint refers to are missing (numbers {numbers})"
            say(f"{self._folder.shards}: {what}; the run goes on without their games")
        remove_shards_after(self._folder, last_shard)
        earlier = self._games.earlier(self._folder)
        self._replay.restore(earlier, int(facts["rows"]), int(facts["games"]))
        if self._config.rating.gate:
            self._let_play(str(facts["playing"]))
        else:
            self._publish()
        forget_after(self._folder.ratings, "iteration", self.iteration)
        forget_lines(self._folder.ratings, lambda line: line.get("iteration") in self._unrated)


def _has_fleet(checkpoint: Checkpoint | None) -> bool:
    """Whether games under way were saved; after a pack or work on several machines none were."""
    return checkpoint is not None and bool(checkpoint.part("fleet."))


def _as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Records as bytes, since checkpoints hold only numbers."""
    if array.dtype.names is None:
        return array
    return np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
