"""How unsure a network is of its judgements, remembered beside the tree: no descent needs it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.network.evaluator import Evaluation
from tengen.search.forest import Records

SLOTS = 1 << 14
DEEPEST = 8  # moves below the root: what may become the root before long


class Doubt(NamedTuple):
    """How far the network expects to be wrong; 0 where it does not tell."""

    value: float  # of win minus loss, in the next turns
    score: float  # points, in the next turns
    variance_time: float  # turns for which the outcome stays open


class Doubts:
    """The doubts of one tree's evaluations by the keys of their nodes; the latest displace others.

    What is far below the root is left out, so that little is displaced.
    """

    def __init__(self) -> None:
        self._keys: NDArray[np.uint64] = np.zeros(SLOTS, np.uint64)
        self._doubts: NDArray[np.float32] = np.zeros((SLOTS, len(Doubt._fields)), np.float32)

    def note(self, rows: Records, evaluation: Evaluation) -> None:
        """Remember the doubts of leaves [rows] that were evaluated."""
        near = np.flatnonzero(rows["depth"] <= DEEPEST)
        keys = rows["key"][near]
        slots = keys % np.uint64(SLOTS)
        self._keys[slots] = keys
        told = (evaluation.value_error, evaluation.score_error, evaluation.variance_time)
        self._doubts[slots] = np.stack([each[near] for each in told], 1)

    def of(self, key: int) -> Doubt | None:
        """The doubt of a node, None if it is not remembered."""
        slot = key % SLOTS
        if not key or int(self._keys[slot]) != key:
            return None
        return Doubt(*map(float, self._doubts[slot]))

    def clear(self) -> None:
        """Forget all: keys do not tell games of other rules and komi apart."""
        self._keys[:] = 0
