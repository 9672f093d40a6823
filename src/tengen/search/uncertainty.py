"""How unsure a network is of its judgements, remembered beside the tree: no descent needs it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.network.evaluator import Evaluation
from tengen.search.kernels.forest import Records

SLOTS = 1 << 14
_SLOTS = np.uint64(SLOTS)
DEEPEST = 8  # moves below the root: what may become the root before long


class Uncertainty(NamedTuple):
    """How far the network expects to be wrong; 0 where it does not tell."""

    value: float  # of win minus loss, in the next turns
    score: float  # points, in the next turns
    variance_time: float  # turns for which the outcome stays open


class UncertaintyTable:
    """The uncertainty of one tree's evaluations by node key; later entries displace earlier ones.

    What is far below the root is left out, so that little is displaced.
    """

    def __init__(self) -> None:
        self._keys: NDArray[np.uint64] = np.zeros(SLOTS, np.uint64)
        self._values, self._scores, self._times = np.zeros((3, SLOTS), np.float32)

    def note(self, rows: Records, evaluation: Evaluation) -> None:
        """Remember the uncertainties of leaves [rows] that were evaluated."""
        keys, near = rows["key"], np.flatnonzero(rows["depth"] <= DEEPEST)
        slots = keys[near] % _SLOTS
        self._keys[slots] = keys[near]
        self._values[slots] = evaluation.value_error[near]
        self._scores[slots] = evaluation.score_error[near]
        self._times[slots] = evaluation.variance_time[near]

    def of(self, key: int) -> Uncertainty | None:
        """The uncertainty of a node, None if it is not remembered."""
        slot = key % SLOTS
        if not key or int(self._keys[slot]) != key:
            return None
        return Uncertainty(
            float(self._values[slot]), float(self._scores[slot]), float(self._times[slot])
        )

    def clear(self) -> None:
        """Forget all: keys do not tell games of other rules and komi apart."""
        self._keys[:] = 0
