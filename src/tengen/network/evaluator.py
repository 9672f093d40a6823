"""The seam between search and networks: encoded positions in, evaluations out. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.features.kernels.katago import SUPERKO, TERRITORY
from tengen.features.scratch import new_feature_scratch
from tengen.game.position import Position
from tengen.network.data import Scaling

PROCESSORS_OF_A_FEEDER = 8  # a thread of kernels finds leaves for about so many of a network


class Batch(NamedTuple):
    """Encoded positions; boards smaller than the tensor lie in its upper left corner."""

    planes: NDArray[np.float32]  # [batch, planes, height, width]
    globals: NDArray[np.float32]  # [batch, globals]


class RawOutputs(NamedTuple):
    """What the heads of a network say, before `decode`."""

    policy: NDArray[np.float32]  # [batch, outputs, height * width + 1] logits, pass last
    value: NDArray[np.float32]  # [batch, 3] logits of win, loss and no result
    score: NDArray[np.float32]  # [batch, score outputs]
    ownership: NDArray[np.float32]  # [batch, height, width] before tanh


class Evaluation(NamedTuple):
    """What a network thinks of a batch of positions, always for the side to play."""

    policy: NDArray[np.float32]  # [batch, height * width + 1] logits, illegal moves included
    value: NDArray[np.float32]  # [batch, 3] chances of win, loss and no result
    score: NDArray[np.float32]  # [batch] points at the end of the game
    spread: NDArray[np.float32]  # [batch] standard deviation of these points
    lead: NDArray[np.float32]  # [batch] points that would make the game fair
    variance_time: NDArray[np.float32]  # [batch] turns for which the outcome stays open
    value_error: NDArray[np.float32]  # [batch] short-term error of win minus loss
    score_error: NDArray[np.float32]  # [batch] short-term error of the score
    ownership: NDArray[np.float32]  # [batch, height, width] from -1, the opponent's, to 1


class Pending(Protocol):
    """An evaluation under way."""

    def result(self) -> Evaluation:
        """Wait for it."""


class Evaluator(Protocol):
    """A network on a device."""

    @property
    def name(self) -> str:
        """Whose opinion it is."""

    @property
    def device(self) -> str:
        """Where and how it is computed, for people; begins with CPU if it is the processor."""

    @property
    def features(self) -> FeatureSet:
        """What it must be shown."""

    @property
    def best_batch(self) -> int:
        """From about how many positions on a larger batch gains little."""

    def submit(self, batch: Batch) -> Pending:
        """Start an evaluation; the caller leaves the batch alone until it has the result."""


def feeding_threads(evaluator: Evaluator) -> int:
    """How many threads of kernels suit who feeds a network: all, or few if it is on the processor.

    Numba's threads spin for a while after their work, and the network's would wait for them.
    """
    threads: int = numba.get_num_threads()
    on_processor = evaluator.device.startswith("CPU")
    return max(1, threads // PROCESSORS_OF_A_FEEDER) if on_processor else threads


def evaluate(evaluator: Evaluator, batch: Batch) -> Evaluation:
    """Evaluate a batch and wait for it."""
    return evaluator.submit(batch).result()


def encode(features: FeatureSet, positions: Sequence[Position]) -> Batch:
    """Positions as a network sees them, of several sizes if need be."""
    width = max(position.width for position in positions)
    height = max(position.height for position in positions)
    planes = np.zeros((len(positions), len(features.planes), height, width), np.float32)
    globals_ = np.zeros((len(positions), len(features.globals)), np.float32)
    scratch = new_feature_scratch()
    for i, position in enumerate(positions):
        features.encode_position(position, planes[i], globals_[i], scratch)
    return Batch(planes, globals_)


def check_boards(name: str, board_size: int, shape: Sequence[int]) -> None:
    """Raise ValueError unless a network plays on boards of this shape [..., height, width]."""
    height, width = shape[-2:]
    if board_size and (height, width) != (board_size, board_size):
        only = f"{board_size}x{board_size}"
        raise ValueError(f"{name} plays on {only} boards only, not on {width}x{height}")


def decode(
    raw: RawOutputs, batch: Batch, scaling: Scaling, policy_optimism: float = 0.0
) -> Evaluation:
    """Chances and points from what the heads said.

    Under superko and area scoring there is no 'no result'; where there is one, it counts as no
    points. Networks with a second, optimistic policy mix it in by a share.
    """
    policy = raw.policy[:, 0]
    if policy_optimism and raw.policy.shape[1] > 1:
        policy = policy + policy_optimism * (raw.policy[:, 1] - policy)
    value = raw.value.astype(np.float32)
    if batch.globals.shape[1] > SUPERKO:  # other sets of inputs do not tell
        decided = (batch.globals[:, SUPERKO] > 0) & (batch.globals[:, TERRITORY] == 0)
        value[decided, 2] = -np.inf
    value = np.exp(value - value.max(1, keepdims=True))
    value /= value.sum(1, keepdims=True)
    score = raw.score
    outputs = score.shape[1]
    nothing = np.zeros(len(score), np.float32)
    counted = 1 - value[:, 2]
    mean = score[:, 0] * scaling.score_mean
    spread = _softplus(score[:, 1]) * scaling.score_stdev if outputs > 1 else nothing
    square = (mean**2 + spread**2) * counted
    return Evaluation(
        policy=policy,
        value=value,
        score=mean * counted,
        spread=np.sqrt(np.maximum(square - (mean * counted) ** 2, 0)),
        lead=(score[:, 2] * scaling.lead if outputs > 2 else mean) * counted,
        variance_time=_softplus(score[:, 3]) * scaling.variance_time if outputs > 3 else nothing,
        value_error=_error(score[:, 4], scaling.value_error, scaling) if outputs > 4 else nothing,
        score_error=_error(score[:, 5], scaling.score_error, scaling) if outputs > 5 else nothing,
        ownership=np.tanh(raw.ownership),
    )


def _softplus(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.logaddexp(x, np.float32(0))


def _error(x: NDArray[np.float32], factor: float, scaling: Scaling) -> NDArray[np.float32]:
    root = _softplus(x * np.float32(0.5)) if scaling.halved_errors else np.sqrt(_softplus(x))
    return root * np.float32(factor**0.5)
