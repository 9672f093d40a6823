"""The tutorial's run: an iteration plays some games, learns from them alone, and saves a model.

It is the same folder as that of any run, and all that a run needs to go on is saved after each
iteration: one that is cut off is played again, game for game.
"""

from __future__ import annotations

import math
import threading
import time
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from tengen.closeable import Closeable
from tengen.features.feature_set import BASIC
from tengen.game.geometry import Size
from tengen.interrupt import interruptible
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import EvaluatorBuffers
from tengen.network.tutorial import TutorialArchitecture, TutorialNetwork
from tengen.network.tutorial_evaluator import TutorialEvaluator
from tengen.network.tutorial_file import save_tutorial
from tengen.replay.rows import encode_games
from tengen.runs.checkpoint import Checkpoint, load_latest
from tengen.runs.checkpoint_writer import CheckpointWriter, remove_shards_after
from tengen.runs.errors import RunError
from tengen.runs.folder import RunFolder, RunLock, is_run, open_or_create_run
from tengen.runs.metrics import Metrics, game_metrics
from tengen.runs.rating import network_file, network_name
from tengen.runs.selfplay_network import learning_device
from tengen.runs.terminal_display import RunDisplay, RunStatus
from tengen.runs.tutorial_recipe import (
    TUTORIAL_CHANGEABLE,
    TUTORIAL_SECTIONS,
    TutorialConfig,
    TutorialRecipe,
)
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.record import Games, joined, split_games
from tengen.training.tutorial import TutorialLosses, TutorialRows, learn, new_optimizer
from tengen.user_messages import say

TICKS_TO_COLLECT = 64  # between two looks for games that ended
SAMPLE_GAMES = 4  # kept as SGF, of each iteration
_SEEDS_OF_A_RUN = 1_000_000  # one for each iteration


def is_tutorial(path: str | Path) -> bool:
    """Whether the run in this folder follows the tutorial's recipe."""
    if not is_run(path):
        return False
    try:
        return "tutorial" in tomllib.loads(RunFolder(Path(path)).config.read_text("utf-8"))
    except (OSError, ValueError):
        return False  # whoever loads it says what is wrong


def train_tutorial(path: str | Path, wanted: TutorialConfig | None = None) -> None:
    """Begin a run or go on with it, until its end or until it is interrupted; raises RunError."""
    with RunLock(path):
        sections = None if wanted is None else wanted.sections()
        folder, settled = open_or_create_run(path, sections, TUTORIAL_SECTIONS, TUTORIAL_CHANGEABLE)
        with TutorialRun(folder, TutorialConfig(**settled)) as run:
            run.go()


class TutorialRun(Closeable):
    """A run under way, in a folder that this process has locked."""

    def __init__(self, folder: RunFolder, config: TutorialConfig) -> None:
        self._began = time.monotonic()
        self._seconds_before = 0.0  # of earlier sessions
        self._folder, self._recipe, self._training = folder, config.tutorial, config.training
        device = learning_device(config.tutorial.device)
        self._architecture = config.tutorial.architecture()
        self._network = initial_tutorial(self._architecture, config.tutorial.seed).to(device)
        self._optimizer = new_optimizer(self._network, config.training)
        self._generator = torch.Generator().manual_seed(config.tutorial.seed)
        self.iteration = 0
        self._rows = 0
        self._stop = threading.Event()
        checkpoint = load_latest(folder)
        if checkpoint is not None:
            self._take_up(checkpoint)
        remove_shards_after(folder, int(self._facts(checkpoint).get("last_shard", 0)))
        self._saver = CheckpointWriter(folder, SAMPLE_GAMES)
        self._metrics = Metrics(folder, self.iteration)
        self._display = RunDisplay(str(folder.path))
        self._status = RunStatus(self.iteration, 0, self._rows, 0, {}, 0, 0, 0, 0, 0)

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def close(self) -> None:
        """Let go of threads and files."""
        self._display.close()
        self._saver.close()
        self._metrics.close()

    def go(self) -> None:
        """Run to the end, or until interrupted."""
        message = "stopping; once more to end at once"
        with interruptible(self._stop, message):
            while self.iteration < self._recipe.iterations and not self._stop.is_set():
                self.iterate()
            self._saver.finish()
        self._display.close()  # what follows is the last word
        if self.iteration < self._recipe.iterations:
            say(
                f"stopped after iteration {self.iteration}, which is saved; go on with: "
                f"tengen train {self._folder.path}"
            )

    def iterate(self) -> None:
        """Play, learn and save; nothing of it remains if it is stopped while games are played."""
        began = time.monotonic()
        evaluator = player(self._network)
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
        rows = rows_of(games, self._recipe.side)
        losses = learn(self._network, self._optimizer, rows, self._training, self._generator)
        if not all(map(math.isfinite, losses)):
            raise RunError(
                f"{self._folder.path}: the loss of iteration {self.iteration + 1} is not a number; "
                "go on with a lower rate: --set training.rate=..."
            )
        self.iteration += 1
        self._rows += len(rows.value)
        self._report(games, losses, played, time.monotonic() - began - played)
        self._save(games)

    # Reporting

    def _report(
        self, games: Games, losses: TutorialLosses, playing: float, learning: float
    ) -> None:
        """Write down and show how the iteration went."""
        count, rows = len(games.games), len(games.turns)
        rates = {
            "games": count / playing,
            "evals": float(games.turns["visits"].sum()) / playing,
            "rows": rows / playing,
            "samples": rows * self._training.epochs / learning,
        }
        values = {
            "minutes": self.seconds / 60,
            "games": self.iteration * self._recipe.games,
            "rows": self._rows,
            "seconds/playing": playing,
            "seconds/learning": learning,
            **{f"speed/{name}": value for name, value in rates.items()},
            **{f"loss/{name}": value for name, value in losses._asdict().items()},
            **game_metrics(games),
        }
        self._metrics.write(self.iteration, values)
        self._status = RunStatus(
            self.iteration,
            self.iteration * self._recipe.games,
            self._rows,
            rows,
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

    # Saving

    def _save(self, games: Games) -> None:
        """Save the model, then the games and the checkpoint, beside the work."""
        name = network_name(self.iteration)
        facts = {
            "trained_by": "tengen train --preset tutorial",
            "run": self._folder.path.name,
            "games": str(self.iteration * self._recipe.games),
            "rows": str(self._rows),
        }
        save_tutorial(self._network, self._architecture, network_file(self._folder, name), facts)
        arrays: dict[str, NDArray[Any]] = {"generator": self._generator.get_state().numpy().copy()}
        for name, tensor in self._network.state_dict().items():
            arrays[f"network.{name}"] = np.array(tensor.cpu().numpy())
        for number, state in self._optimizer.state_dict()["state"].items():
            for name, tensor in state.items():
                arrays[f"optimizer.{number}.{name}"] = np.array(tensor.cpu().numpy())
        now = {"iteration": self.iteration, "rows": self._rows, "seconds": self.seconds}
        self._saver.save(self.iteration, games, arrays, now)

    def _take_up(self, checkpoint: Checkpoint) -> None:
        """Go on where a checkpoint was saved."""
        facts = self._facts(checkpoint)
        self.iteration, self._rows = int(facts["iteration"]), int(facts["rows"])
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
            groups = self._optimizer.state_dict()["param_groups"]  # with the rate of now
            self._optimizer.load_state_dict({"state": state, "param_groups": groups})
            self._generator.set_state(torch.from_numpy(checkpoint.arrays["generator"]))
        except (KeyError, RuntimeError, ValueError) as error:
            raise RunError(
                f"{self._folder.path}: its checkpoint does not fit its settings ({error}); put the "
                "old settings back, or begin a new run in another folder"
            ) from None

    @staticmethod
    def _facts(checkpoint: Checkpoint | None) -> dict[str, Any]:
        return {} if checkpoint is None else dict(checkpoint.facts)


def initial_tutorial(architecture: TutorialArchitecture, seed: int) -> TutorialNetwork:
    """The network with torch's usual random weights, which the seed decides."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return TutorialNetwork(architecture).eval()


def player(network: TutorialNetwork) -> Evaluator:
    """The network as it plays: on the CPU by OpenVINO where that is installed, else by torch."""
    if next(network.parameters()).is_cuda or find_spec("openvino") is None:
        return TutorialEvaluator(network)
    from tengen.network.tutorial_openvino import OpenVinoTutorialEvaluator

    return OpenVinoTutorialEvaluator(network)


def play_games(
    evaluator: Evaluator,
    recipe: TutorialRecipe,
    seed: int,
    show: Callable[[int], None],
    *,
    should_stop: Callable[[], bool],
) -> Games | None:
    """All games of an iteration at a time, each to its end; None if it should stop before.

    The first game of each slot counts. What a slot plays after it is nobody's, and the network is
    not asked about it: to take whichever games end first would prefer short ones.
    """
    halves = [(recipe.games + 1) // 2, recipe.games // 2]
    size = Size(recipe.side, recipe.side)
    buffers = [EvaluatorBuffers(evaluator, rows, size) for rows in halves if rows]
    fleet = Fleet(buffers, recipe.selfplay(), recipe.search(), seed)
    found: dict[int, Games] = {}
    while len(found) < recipe.games:
        if should_stop():
            return None
        for _ in range(TICKS_TO_COLLECT):
            fleet.tick()
        for game in split_games(fleet.take_games(), 1):
            number = int(game.games["number"][0])
            if number < recipe.games:
                found[number] = game
        going_on = np.array([number not in found for number in range(recipe.games)])
        for half, first in zip(buffers, (0, halves[0]), strict=False):
            half.ask_only(np.flatnonzero(going_on[first : first + len(half.planes)]))
        show(len(found))
    return joined([found[number] for number in range(recipe.games)])


def rows_of(games: Games, side: int) -> TutorialRows:
    """What there is to learn from games: each turn once, as it was."""
    threads = min(numba.get_num_threads(), len(games.games))
    rows = encode_games(games, BASIC, side, seed=0, threads=threads)
    bits = np.arange(len(BASIC.planes), dtype=np.uint32)[:, None, None]
    return TutorialRows(
        (rows.planes[:, None] >> bits & 1).astype(np.float32),
        rows.policy.astype(np.float32),
        rows.value[:, 0] - rows.value[:, 1],
    )
