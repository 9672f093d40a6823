"""A cache of evaluations, by what the network sees of a position."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.network.evaluator import (
    Batch,
    Evaluation,
    Evaluator,
    EvaluatorWrapper,
    Pending,
    optimism_of,
)

Row: TypeAlias = NDArray[np.float32]  # the whole evaluation of one position

_ROW_OVERHEAD = 300  # bytes of the objects around the numbers of a row


class EvaluationCache:
    """The most recently used evaluations of some networks, up to a size in MB. Thread-safe."""

    def __init__(self, megabytes: float) -> None:
        self._room = int(megabytes * 1e6)
        self._rows: OrderedDict[bytes, Row] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()
        self.hits = self.misses = 0
        self.numbers = count()  # of networks, by which their evaluations are told apart

    @property
    def used_bytes(self) -> int:
        """Memory of the cached evaluations."""
        return self._used

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._rows.clear()
            self._used = 0

    def find(self, keys: list[bytes]) -> tuple[dict[bytes, Row], dict[bytes, int]]:
        """The rows of the keys that are known, and the places of those that are not."""
        with self._lock:
            known = {key: row for key in keys if (row := self._lookup(key)) is not None}
            new = {key: i for i, key in enumerate(keys) if key not in known}
            self.misses += len(new)
            self.hits += len(keys) - len(new)
        return known, new

    def _lookup(self, key: bytes) -> Row | None:
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def add(self, rows: dict[bytes, Row]) -> None:
        """Add rows, and drop the least recently used ones beyond the size."""
        with self._lock:
            for key, row in rows.items():
                if key not in self._rows:
                    self._used += row.nbytes + _ROW_OVERHEAD
                self._rows[key] = row
            while self._used > self._room:
                _, dropped = self._rows.popitem(last=False)
                self._used -= dropped.nbytes + _ROW_OVERHEAD


class CachingEvaluator(EvaluatorWrapper):
    """Remembers evaluations in a cache, which other networks may share.

    Thread-safe if the inner evaluator is.
    """

    def __init__(self, inner: Evaluator, cache: EvaluationCache) -> None:
        super().__init__(inner)
        self._cache = cache
        self._prefix = f"{next(cache.numbers)} ".encode()

    def submit(self, batch: Batch) -> Pending:
        """Start the evaluation of the positions that are not cached."""
        keys = _keys(batch, self.features, self._prefix)
        known, new = self._cache.find(keys)
        pending = None
        if len(new) == len(keys):
            pending = self._inner.submit(batch)
        elif new:
            pending = self._inner.submit(batch.rows(list(new.values())))
        return _Completed(self._cache, keys, known, list(new), pending, batch.planes.shape[2:])


@dataclass(frozen=True)
class _Completed:
    """The cached rows of a batch together with those being evaluated."""

    cache: EvaluationCache
    keys: list[bytes]
    known: dict[bytes, Row]
    new: list[bytes]
    pending: Pending | None
    board: tuple[int, ...]  # height and width

    def result(self) -> Evaluation:
        rows = self.known
        if self.pending is not None:
            found = self.pending.result()
            new = dict(zip(self.new, map(np.copy, _packed(found)), strict=True))
            self.cache.add(new)
            if len(new) == len(self.keys):
                return found
            rows = rows | new
        return _unpacked(np.stack([rows[key] for key in self.keys]), self.board)


def _keys(batch: Batch, features: FeatureSet, prefix: bytes) -> list[bytes]:
    """A digest of each position's inputs; planes count as 0 or not 0, unless uniform.

    Optimism is one of them: what is cached is the mixed policy.
    """
    shape = prefix + repr(batch.planes.shape[1:]).encode()
    seen = np.packbits(batch.planes.reshape(len(batch.planes), -1) != 0, axis=1)
    uniform = batch.planes[:, features.uniform_planes, 0, 0]
    asked = [batch.globals, uniform, optimism_of(batch)[:, None]]
    if batch.metadata is not None:
        asked.append(batch.metadata)
    numbers = np.concatenate(asked, 1)
    return [
        hashlib.blake2b(shape + planes.tobytes() + others.tobytes(), digest_size=16).digest()
        for planes, others in zip(seen, numbers, strict=True)
    ]


def _packed(evaluation: Evaluation) -> NDArray[np.float32]:
    """[batch, numbers]: all fields of an evaluation in one row a position."""
    n = len(evaluation.policy)
    return np.concatenate([field.reshape(n, -1) for field in evaluation], 1)


def _unpacked(rows: NDArray[np.float32], board: tuple[int, ...]) -> Evaluation:
    """The inverse of `_packed`."""
    n, area = len(rows), board[0] * board[1]
    policy, value, owners = rows[:, : area + 1], rows[:, area + 1 : area + 4], rows[:, -area:]
    numbers = (rows[:, k] for k in range(area + 4, rows.shape[1] - area))
    return Evaluation._make([policy, value, *numbers, owners.reshape(n, *board)])
