"""Self-play: the current network plays games against itself, and these become examples."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import BASIC
from tengen.game.geometry import Size
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.evaluator import Evaluator
from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers
from tengen.network.network_data import NetworkData
from tengen.replay.rows import encode_games
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.record import Games, joined, split_games
from tengen.tutorial.recipe import Recipe

TICKS_TO_COLLECT = 64  # between two looks for games that ended; a tick is a leaf of every game


class Examples(NamedTuple):
    """Positions and the outputs that the network should learn, for the side to play."""

    planes: NDArray[np.float32]  # [examples, 7, side, side]
    policy: NDArray[np.float32]  # [examples, area + 1] shares of the visits
    value: NDArray[np.float32]  # [examples] 1 for a win, -1 for a loss


def play_games(
    evaluator: Evaluator,
    recipe: Recipe,
    seed: int,
    show: Callable[[int], None],
    *,
    should_stop: Callable[[], bool],
) -> Games | None:
    """Play an iteration's games, all at once and each to its end; None if told to stop.

    A fleet starts a new game wherever one ends, but only the first game of each slot counts, and
    the network evaluates no others: taking the games that end first would prefer short ones.
    """
    halves = [(recipe.games + 1) // 2, recipe.games // 2]
    size = Size(recipe.side, recipe.side)
    buffers = [EvaluatorBuffers(evaluator, BufferShape(size, rows)) for rows in halves if rows]
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


def examples_of(games: Games, side: int) -> Examples:
    """One example for each turn of the games."""
    threads = min(numba.get_num_threads(), len(games.games))
    rows, _ = encode_games(games, BASIC, seed=0, threads=threads)[Size(side, side)]
    planes, _ = BASIC.unpacked(rows.planes, rows.globals)
    return Examples(planes, rows.policy.astype(np.float32), rows.value[:, 0] - rows.value[:, 1])


def player(data: NetworkData, device: str, threads: int | None = None) -> Evaluator:
    """The network as it plays: on the CPU in eight bits by OpenVINO if installed, else by torch."""
    if device == "cuda" or find_spec("openvino") is None:
        return TorchEvaluator(data, device)
    from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
    from tengen.network.backends.openvino_int8 import calibrate, calibration_batches

    exact = OpenVinoEvaluator(data, Precision.FLOAT32, threads=threads)
    side = data.architecture.board_size
    ranges = calibrate(data, calibration_batches(exact, (side,), games=4, every=2))
    return OpenVinoEvaluator(data, Precision.INT8, threads=threads, ranges=ranges)
