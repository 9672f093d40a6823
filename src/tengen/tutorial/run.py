"""The run: each iteration plays games, learns from them alone, and saves a network.

Everything a run needs to go on is saved after each iteration. An iteration that was cut off is
played again, game for game.
"""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.config import read_toml
from tengen.game.rules import parse_rules
from tengen.interrupt import interruptible
from tengen.network.files.tengen_format import save_network
from tengen.network.trained_on import facts_of_training
from tengen.runs.checkpoint import Checkpoint, CheckpointWriter, load_latest, remove_shards_after
from tengen.runs.folder import RunError, RunFolder, RunLock, is_run, open_or_create_run
from tengen.runs.progress import Counters, Progress, game_metrics
from tengen.runs.rating import network_file, network_name
from tengen.runs.selfplay_network import learning_device
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
        return "tutorial" in read_toml(RunFolder(Path(path)).config)
    except (OSError, ValueError):
        return False  # loading it reports the error


def train(path: str | Path, wanted: Config | None = None) -> None:
    """Begin a run or go on with it, until its end or until it is interrupted; raises RunError."""
    with RunLock(path):
        sections = None if wanted is None else vars(wanted)
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
        self._window = 0  # examples of the last iteration, which alone are learned from
        self._stop = threading.Event()
        checkpoint = load_latest(folder)
        if checkpoint is not None:
            self._resume(checkpoint)
        remove_shards_after(folder, checkpoint.facts["last_shard"] if checkpoint else 0)
        self._saver = CheckpointWriter(folder, SAMPLE_GAMES)
        self._progress = Progress(folder, self.iteration)

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def close(self) -> None:
        """Close threads and files."""
        self._progress.close()
        self._saver.close()

    def go(self) -> None:
        """Run to the end, or until interrupted."""
        with interruptible(self._stop, "stopping; once more to end at once"):
            while self.iteration < self._recipe.iterations and not self._stop.is_set():
                self.iterate()
            self._saver.finish()
        self._progress.close_display()  # before the last message
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
        self._progress.show(self._counters(len(games.games)), stage="learning")
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

    def _counters(self, ended: int = 0) -> Counters:
        """The counters, `ended` games of the iteration under way included."""
        share = self.iteration / self._recipe.iterations
        games = self.iteration * self._recipe.games + ended
        return Counters(self.iteration, self.seconds, share, games, self._examples, self._window)

    def _report(self, games: Games, losses: Losses, playing: float, learning: float) -> None:
        """Write down and show how the iteration went."""
        turns = len(games.turns)
        rates = {
            "games": len(games.games) / playing,
            "evals": float(games.turns["visits"].sum()) / playing,
            "rows": turns / playing,
            "samples": turns * self._learning.epochs / learning,
        }
        seconds = {"seconds/playing": playing, "seconds/learning": learning}
        others = seconds | game_metrics(games)
        self._window = turns
        self._progress.record_iteration(self._counters(), rates, losses._asdict(), others)

    def _show_games(self, ended: int) -> None:
        self._progress.show(self._counters(ended), stage="playing")

    # Saving and resuming

    def _save(self, games: Games) -> None:
        """Save the network at once, and the games and the checkpoint in the background."""
        name = network_name(self.iteration)
        facts = {
            "trained_by": "tengen train --preset tutorial",
            "run": self._folder.path.name,
            "games": str(self.iteration * self._recipe.games),
            "rows": str(self._examples),
            **facts_of_training([self._recipe.side], [parse_rules(self._recipe.rules)]),
        }
        save_network(network_data(self._network, name, facts), network_file(self._folder, name))
        arrays: dict[str, NDArray[Any]] = {"generator": self._generator.get_state().numpy().copy()}
        for name, tensor in self._network.state_dict().items():
            arrays[f"network.{name}"] = np.array(tensor.cpu().numpy())
        for number, state in self._optimizer.state_dict()["state"].items():
            for name, tensor in state.items():
                arrays[f"optimizer.{number}.{name}"] = np.array(tensor.cpu().numpy())
        now = {"iteration": self.iteration, "rows": self._examples, "seconds": self.seconds}
        self._saver.start(self._saver.write, self.iteration, games, arrays, now)

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Go on where a checkpoint was saved."""
        facts = checkpoint.facts
        self.iteration, self._examples = int(facts["iteration"]), int(facts["rows"])
        self._seconds_before = float(facts["seconds"])
        network = {k: torch.from_numpy(v) for k, v in checkpoint.part("network.").items()}
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in checkpoint.part("optimizer.").items():
            number, _, what = name.partition(".")
            state.setdefault(int(number), {})[what] = torch.from_numpy(array)
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
