"""The interface between search and networks: encoded positions in, evaluations out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.features.human_profile import DEFAULT_PROFILE, profile_rows
from tengen.features.scratch import new_feature_scratch
from tengen.game.color import BLACK
from tengen.game.position import Position
from tengen.network.architecture import Architecture

INPUTS = ("planes", "globals", "metadata")  # the last only of networks that imitate people
CORES_PER_FEEDING_THREAD = 8  # of a network on the CPU, for which one kernel thread finds leaves


class Batch(NamedTuple):
    """Encoded positions; boards smaller than the tensor lie in its upper left corner."""

    planes: NDArray[np.float32]  # [batch, planes, height, width]
    globals: NDArray[np.float32]  # [batch, globals]
    # [batch] from 0 to 1: the share of the optimistic policy, where the network has one; None: 0
    optimism: NDArray[np.float32] | None = None
    # [batch, 192] who plays, for networks that imitate people; None: players of DEFAULT_PROFILE
    metadata: NDArray[np.float32] | None = None

    def rows(self, which: Any) -> Batch:
        """Some of the positions, chosen by an index, a slice or an array of indices."""
        return Batch._make(None if values is None else values[which] for values in self)


def batch_for(batch: Batch, name: str, architecture: Architecture) -> Batch:
    """A batch with what a network of this name takes; raises ValueError for boards it cannot play.

    Optimism is dropped for networks that imitate people, as in KataGo, metadata for all others.
    """
    check_boards(name, architecture.board_size, batch.planes.shape)
    if not architecture.imitates_people:
        return batch if batch.metadata is None else batch._replace(metadata=None)
    metadata = batch.metadata
    if metadata is None:
        areas = FEATURE_SETS[architecture.features].on_board(batch.planes).sum((1, 2))
        metadata = np.stack([profile_rows(DEFAULT_PROFILE, int(area))[BLACK] for area in areas])
    return batch._replace(optimism=None, metadata=metadata)


def network_inputs(batch: Batch) -> list[NDArray[np.float32]]:
    """The arrays that a network is given, in the order of `INPUTS`."""
    return [
        values for values in (batch.planes, batch.globals, batch.metadata) if values is not None
    ]


def join_batches(batches: Sequence[Batch]) -> Batch:
    """All positions of some batches; they must agree on whether they have metadata."""
    if all(batch.optimism is None for batch in batches):
        optimism = None
    else:
        optimism = np.concatenate([optimism_of(batch) for batch in batches])
    metadata = [batch.metadata for batch in batches if batch.metadata is not None]
    return Batch(
        np.concatenate([batch.planes for batch in batches]),
        np.concatenate([batch.globals for batch in batches]),
        optimism,
        np.concatenate(metadata) if metadata else None,
    )


def optimism_of(batch: Batch) -> NDArray[np.float32]:
    """[batch] the optimism of each position."""
    return np.zeros(len(batch.planes), np.float32) if batch.optimism is None else batch.optimism


class Evaluation(NamedTuple):
    """A network's evaluation of a batch of positions, always for the side to play."""

    policy: NDArray[np.float32]  # [batch, height * width + 1] logits, illegal moves included
    value: NDArray[np.float32]  # [batch, 3] probabilities of win, loss and no result
    score: NDArray[np.float32]  # [batch] points at the end of the game
    spread: NDArray[np.float32]  # [batch] standard deviation of these points
    lead: NDArray[np.float32]  # [batch] points that would make the game fair
    variance_time: NDArray[np.float32]  # [batch] turns for which the outcome stays open
    value_error: NDArray[np.float32]  # [batch] short-term error of win minus loss
    score_error: NDArray[np.float32]  # [batch] short-term error of the score
    ownership: NDArray[np.float32]  # [batch, height, width] from -1, the opponent's, to 1

    def __repr__(self) -> str:
        return f"<Evaluation of {len(self.value)} positions>"


class Pending(Protocol):
    """An evaluation under way."""

    def result(self) -> Evaluation:
        """Wait for the evaluation."""


class Evaluator(Protocol):
    """A network on a device."""

    @property
    def name(self) -> str:
        """The network's name."""

    @property
    def device(self) -> str:
        """The device and precision, as text for people; not to be compared or parsed."""

    @property
    def features(self) -> FeatureSet:
        """The inputs of the network."""

    @property
    def has_optimism(self) -> bool:
        """Does `Batch.optimism` make a difference?"""

    @property
    def imitates_people(self) -> bool:
        """Does `Batch.metadata` make a difference?"""

    @property
    def best_batch(self) -> int:
        """The batch size beyond which larger batches gain little."""

    @property
    def parallel_batches(self) -> int:
        """How many batches are computed at the same time; further ones wait."""

    @property
    def on_processor(self) -> bool:
        """Does the network compute on the processor, where it competes with the search?"""

    def submit(self, batch: Batch) -> Pending:
        """Start an evaluation; the caller must not change the batch until it has the result."""


class EvaluatorWrapper:
    """Base class of evaluators around another one; subclasses define `submit`."""

    def __init__(self, inner: Evaluator) -> None:
        self._inner = inner
        self.name, self.device, self.features = inner.name, inner.device, inner.features
        self.best_batch, self.parallel_batches = inner.best_batch, inner.parallel_batches
        self.on_processor, self.has_optimism = inner.on_processor, inner.has_optimism
        self.imitates_people = inner.imitates_people

    def drop_graphs(self) -> None:
        """Free what the inner evaluator keeps."""
        drop_graphs(self._inner)


@runtime_checkable
class KeepsGraphs(Protocol):
    """An evaluator that keeps compiled graphs, which it can compile again."""

    def drop_graphs(self) -> None:
        """Free them."""


def drop_graphs(evaluator: Evaluator) -> None:
    """Free the compiled graphs of a network, if it keeps some."""
    if isinstance(evaluator, KeepsGraphs):
        evaluator.drop_graphs()


def feeding_threads(evaluator: Evaluator) -> int:
    """How many kernel threads should feed a network: all, or few if it is on the processor.

    Numba's threads spin for a while after their work, and would slow the network's threads down.
    """
    threads: int = numba.get_num_threads()
    return max(1, threads // CORES_PER_FEEDING_THREAD) if evaluator.on_processor else threads


def evaluate(evaluator: Evaluator, batch: Batch) -> Evaluation:
    """Evaluate a batch and wait for the result."""
    return evaluator.submit(batch).result()


def encode(features: FeatureSet, positions: Sequence[Position]) -> Batch:
    """Encode positions, possibly of several board sizes, as a batch."""
    width = max(position.width for position in positions)
    height = max(position.height for position in positions)
    planes = np.zeros((len(positions), len(features.planes), height, width), np.float32)
    globals_ = np.zeros((len(positions), len(features.globals)), np.float32)
    scratch = new_feature_scratch()
    for i, position in enumerate(positions):
        features.encode_position(position, planes[i], globals_[i], scratch)
    return Batch(planes, globals_)


def encode_for(evaluator: Evaluator, positions: Sequence[Position], profile: str = "") -> Batch:
    """Encode positions for a network; one that imitates people imitates those of the profile."""
    batch = encode(evaluator.features, positions)
    if not evaluator.imitates_people:
        return batch
    rows = [
        profile_rows(profile or DEFAULT_PROFILE, position.size.area)[position.to_play]
        for position in positions
    ]
    return batch._replace(metadata=np.stack(rows))


def check_boards(name: str, board_size: int, shape: Sequence[int]) -> None:
    """Raise ValueError unless a network plays on boards of this shape [..., height, width]."""
    height, width = shape[-2:]
    if board_size and (height, width) != (board_size, board_size):
        only = f"{board_size}x{board_size}"
        raise ValueError(f"{name} plays on {only} boards only, not on {width}x{height}")
