"""Buffers between self-play and a network, whose inputs and evaluations stay in place."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending, feeding_threads


class BufferShape(NamedTuple):
    """What buffers hold: boards of one size, without padding."""

    size: Size
    rows: int


class InferenceBuffers(Protocol):
    """A network with buffers for games on boards of one size; all are evaluated at a time."""

    @property
    def features(self) -> FeatureSet:
        """The inputs of the network."""

    @property
    def planes(self) -> NDArray[Any]:
        """[rows, planes, height, width], or bits [rows, height, width]: to be filled."""

    @property
    def globals(self) -> NDArray[np.float32]:
        """[rows, globals], with bits [rows, packed globals]: to be filled."""

    @property
    def evaluation(self) -> Evaluation:
        """The evaluations after `wait`, always in the same arrays; ownership may have no rows."""

    @property
    def threads(self) -> int:
        """How many kernel threads should fill the buffers."""

    def launch(self) -> None:
        """Start to evaluate the inputs, which must not change until `wait`."""

    def wait(self) -> None:
        """Wait for the evaluations."""


class EvaluatorBuffers:
    """Inference buffers around any evaluator."""

    def __init__(self, evaluator: Evaluator, shape: BufferShape) -> None:
        size, rows = shape
        self._evaluator = evaluator
        self.features = evaluator.features
        self.threads = feeding_threads(evaluator)
        # Rows not filled yet must be boards, too: here they fill their planes.
        self.planes = np.zeros(
            (rows, len(self.features.planes), size.height, size.width), np.float32
        )
        self.planes[:, 0] = 1
        self.globals = np.zeros((rows, len(self.features.globals)), np.float32)
        policy, value = (rows, size.area + 1), (rows, 3)
        no_ownership = (0, size.height, size.width)
        shapes = (policy, value, *[(rows,)] * 6, no_ownership)
        self.evaluation = Evaluation._make(np.zeros(shape, np.float32) for shape in shapes)
        self._selected: NDArray[np.intp] | EllipsisType = ...
        self._pending: tuple[Pending | None, NDArray[np.intp] | EllipsisType] | None = None

    def ask_only(self, rows: NDArray[np.intp]) -> None:
        """Evaluate only these rows from the next launch on; the others keep their evaluations."""
        self._selected = rows

    def use(self, evaluator: Evaluator) -> None:
        """Use another network from the next launch on."""
        self._evaluator = evaluator

    def launch(self) -> None:
        """Submit the batch."""
        batch = Batch(self.planes, self.globals).rows(self._selected)
        pending = self._evaluator.submit(batch) if len(batch.planes) else None
        self._pending = pending, self._selected

    def wait(self) -> None:
        """Copy the evaluations into the buffers."""
        assert self._pending is not None
        pending, selected = self._pending
        self._pending = None
        if pending is None:
            return
        for mine, theirs in zip(self.evaluation[:-1], pending.result()[:-1], strict=True):
            mine[selected] = theirs
