"""The run: each iteration plays games, learns from them alone, and saves a network.

Everything a run needs to go on is saved after each iteration. An iteration that was cut off is
played again, game for game.
"""

from __future__ import annotations

import math
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.interrupt import interruptible
from tengen.network.files.tengen_format import save_network
from tengen.runs.checkpoint import Checkpoint, load_latest
from tengen.runs.checkpoint_writer import CheckpointWriter, remove_shards_after
from tengen.runs.errors import RunError
from tengen.runs.folder import RunFolder, RunLock, is_run, open_or_create_run
from tengen.runs.metrics import Metrics, game_metrics
from tengen.runs.rating import network_file, network_name
from tengen.runs.selfplay_network import learning_device
from tengen.runs.terminal_display import RunDisplay, RunStatus
from tengen.selfplay.record import Games
from tengen.tutorial.learning import Losses, learn, new_optimizer
from tengen.tutorial.network import initial_network, network_data
from tengen.tutorial.recipe import CHANGEABLE, SECTIONS, Config
from tengen.tutorial.self_play import examples_of, play_games, player
from tengen.user_messages import say

SAMPLE_GAMES = 4  # kept as SGF, of each iteration
_SEEDS_OF_A_RUN = 1_000_000  # one for each iteration


def is_tutorial(path: str | Path) -> bool:
    """Whether the run in this folder follows the tutorial's recipe."""
    if not is_run(path):
        return False
    try:
        return "tutorial" in tomllib.loads(RunFolder(Path(path)).config.read_text("utf-8"))
    except (OSError, ValueError):
        return False  # loading it reports the error


def train(path: str | Path, wanted: Config | None = None) -> None:
    """Begin a run or go on with it, until its end or until it is interrupted; raises RunError."""
    with RunLock(path):
        sections = None if wanted is None else wanted.sections()
        folder, settled = open_or_create_run(path, sections, SECTIONS, CHANGEABLE)
        with TutorialRun(folder, Config(**settled)) as run:
            run.go()


class TutorialRun(Closeable):
    """A run under way, in a folder that this process has locked."""

    def __init__(self, folder: RunFolder, config: Config) -> None:
        self._began = time.monotonic()
        self._seconds_before = 0.0  # of earlier sessions
        self._folder, self._recipe, self._learning = folder, config.tutorial, config.training
        recipe = config.tutorial
        self._device = learning_device(recipe.device)
        network = initial_network(recipe.side, recipe.blocks, recipe.channels, recipe.seed)
        self._network = network.to(self._device)
        self._optimizer = new_optimizer(self._network, config.training)
        self._generator = torch.Generator().manual_seed(recipe.seed)
        self.iteration = 0
        self._examples = 0  # so far
        self._stop = threading.Event()
        checkpoint = load_latest(folder)
        if checkpoint is not None:
            self._resume(checkpoint)
        remove_shards_after(folder, int(_facts(checkpoint).get("last_shard", 0)))
        self._saver = CheckpointWriter(folder, SAMPLE_GAMES)
        self._metrics = Metrics(folder, self.iteration)
        self._display = RunDisplay(str(folder.path))
        self._status = RunStatus(self.iteration, 0, self._examples, 0, {}, 0, 0, 0, 0, 0)

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def close(self) -> None:
        """Close threads and files."""
        self._display.close()
        self._saver.close()
        self._metrics.close()

    def go(self) -> None:
        """Run to the end, or until interrupted."""
        with interruptible(self._stop, "stopping; once more to end at once"):
            while self.iteration < self._recipe.iterations and not self._stop.is_set():
                self.iterate()
            self._saver.finish()
        self._display.close()  # before the last message
        if self.iteration < self._recipe.iterations:
            say(
                f"stopped after iteration {self.iteration}, which is saved; go on with: "
                f"tengen train {self._folder.path}"
            )

    def iterate(self) -> None:
        """Play, learn and save; if stopped while games are played, nothing of it remains."""
        began = time.monotonic()
        evaluator = player(network_data(self._network, "playing", {}), self._device)
        seed = self._recipe.seed * _SEEDS_OF_A_RUN + self.iteration
        games = play_games(
            evaluator, self._recipe, seed, self._show_games, should_stop=self._stop.is_set
        )
        if games is None:
            return
        games.games["number"] += np.uint64(self.iteration * self._recipe.games)
        games.games["step"] = self.iteration
        played = time.monotonic() - began
        self._show(self._status._replace(stage="learning"))
        examples = examples_of(games, self._recipe.side)
        losses = learn(self._network, self._optimizer, examples, self._learning, self._generator)
        if not all(map(math.isfinite, losses)):
            raise RunError(
                f"{self._folder.path}: the loss of iteration {self.iteration + 1} is not a number; "
                "go on with a lower rate: --set training.rate=..."
            )
        self.iteration += 1
        self._examples += len(examples.value)
        self._report(games, losses, played, time.monotonic() - began - played)
        self._save(games)

    # Reporting

    def _report(self, games: Games, losses: Losses, playing: float, learning: float) -> None:
        """Write down and show how the iteration went."""
        turns, total = len(games.turns), self.iteration * self._recipe.games
        rates = {
            "games": len(games.games) / playing,
            "evals": float(games.turns["visits"].sum()) / playing,
            "rows": turns / playing,
            "samples": turns * self._learning.epochs / learning,
        }
        values = {
            "minutes": self.seconds / 60,
            "games": total,
            "rows": self._examples,
            "seconds/playing": playing,
            "seconds/learning": learning,
            **{f"speed/{name}": value for name, value in rates.items()},
            **{f"loss/{name}": value for name, value in losses._asdict().items()},
            **game_metrics(games),
        }
        self._metrics.write(self.iteration, values)
        self._status = RunStatus(
            self.iteration,
            total,
            self._examples,
            turns,
            losses._asdict(),
            rates["games"],
            rates["evals"],
            rates["rows"],
            rates["samples"],
            self.seconds,
        )
        self._show(self._status)

    def _show_games(self, ended: int) -> None:
        games = self.iteration * self._recipe.games + ended
        self._show(self._status._replace(games=games, stage="playing"))

    def _show(self, status: RunStatus) -> None:
        share = self.iteration / self._recipe.iterations
        left = self.seconds * (1 / share - 1) if share else None
        self._display.update(status._replace(seconds=self.seconds, seconds_left=left))

    # Saving and resuming

    def _save(self, games: Games) -> None:
        """Save the network at once, and the games and the checkpoint in the background."""
        name = network_name(self.iteration)
        facts = {
            "trained_by": "tengen train --preset tutorial",
            "run": self._folder.path.name,
            "games": str(self.iteration * self._recipe.games),
            "rows": str(self._examples),
        }
        save_network(network_data(self._network, name, facts), network_file(self._folder, name))
        arrays: dict[str, NDArray[Any]] = {"generator": self._generator.get_state().numpy().copy()}
        for name, tensor in self._network.state_dict().items():
            arrays[f"network.{name}"] = np.array(tensor.cpu().numpy())
        for number, state in self._optimizer.state_dict()["state"].items():
            for name, tensor in state.items():
                arrays[f"optimizer.{number}.{name}"] = np.array(tensor.cpu().numpy())
        now = {"iteration": self.iteration, "rows": self._examples, "seconds": self.seconds}
        self._saver.save(self.iteration, games, arrays, now)

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Go on where a checkpoint was saved."""
        facts = _facts(checkpoint)
        self.iteration, self._examples = int(facts["iteration"]), int(facts["rows"])
        self._seconds_before = float(facts["seconds"])
        network, optimizer = (
            {
                name.removeprefix(part): torch.from_numpy(array)
                for name, array in checkpoint.arrays.items()
                if name.startswith(part)
            }
            for part in ("network.", "optimizer.")
        )
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in optimizer.items():
            number, _, what = name.partition(".")
            state.setdefault(int(number), {})[what] = tensor
        try:
            self._network.load_state_dict(network)
            groups = self._optimizer.state_dict()["param_groups"]  # with the rate set now
            self._optimizer.load_state_dict({"state": state, "param_groups": groups})
            self._generator.set_state(torch.from_numpy(checkpoint.arrays["generator"]))
        except (KeyError, RuntimeError, ValueError) as error:
            raise RunError(
                f"{self._folder.path}: its checkpoint does not fit its settings ({error}); put the "
                "old settings back, or begin a new run in another folder"
            ) from None


def _facts(checkpoint: Checkpoint | None) -> dict[str, Any]:
    return {} if checkpoint is None else dict(checkpoint.facts)
