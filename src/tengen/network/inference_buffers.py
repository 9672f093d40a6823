"""Where a fleet meets its network: buffers to fill, buffers to read, and a network between."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending, feeding_threads


class InferenceBuffers(Protocol):
    """A network with the buffers of one half of a fleet; all rows are evaluated at a time."""

    @property
    def features(self) -> FeatureSet:
        """What the network must be shown."""

    @property
    def planes(self) -> NDArray[Any]:
        """[rows, planes, height, width], or bits [rows, height, width]: to be filled."""

    @property
    def globals(self) -> NDArray[np.float32]:
        """[rows, globals], with bits [rows, packed globals]: to be filled."""

    @property
    def evaluation(self) -> Evaluation:
        """The answers, after `wait`, always in the same arrays; ownership may have no rows."""

    @property
    def threads(self) -> int:
        """How many threads of kernels suit who fills the buffers."""

    def launch(self) -> None:
        """Start to evaluate what is in the buffers, which are left alone until `wait`."""

    def wait(self) -> None:
        """Wait for the answers."""


class EvaluatorBuffers:
    """A buffers around any evaluator."""

    def __init__(self, evaluator: Evaluator, rows: int, size: Size) -> None:
        self._evaluator = evaluator
        self.features = evaluator.features
        self.threads = feeding_threads(evaluator)
        # Rows not filled yet must be boards, too: here they fill their planes.
        self.planes = np.zeros(
            (rows, len(self.features.planes), size.height, size.width), np.float32
        )
        self.planes[:, 0] = 1
        self.globals = np.zeros((rows, len(self.features.globals)), np.float32)
        self.evaluation = Evaluation(
            np.zeros((rows, size.area + 1), np.float32),
            np.zeros((rows, 3), np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
            np.zeros((0, size.height, size.width), np.float32),
        )
        self._asked: NDArray[np.intp] | EllipsisType = ...
        self._pending: tuple[Pending | None, NDArray[np.intp] | EllipsisType] | None = None

    def ask_only(self, rows: NDArray[np.intp]) -> None:
        """Ask about these rows alone from the next launch on; the others keep their answers."""
        self._asked = rows

    def use(self, evaluator: Evaluator) -> None:
        """Ask another network from the next launch on."""
        self._evaluator = evaluator

    def launch(self) -> None:
        """Submit the batch."""
        batch = Batch(self.planes[self._asked], self.globals[self._asked])
        pending = self._evaluator.submit(batch) if len(batch.planes) else None
        self._pending = pending, self._asked

    def wait(self) -> None:
        """Take the answers over."""
        assert self._pending is not None
        pending, asked = self._pending
        self._pending = None
        if pending is None:
            return
        for mine, theirs in zip(self.evaluation[:-1], pending.result()[:-1], strict=True):
            mine[asked] = theirs
