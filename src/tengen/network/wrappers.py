"""Evaluators around evaluators: symmetries of the board, and a memory of what was asked before."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending

Symmetries: TypeAlias = Literal["random", "average"]


class SymmetricEvaluator:
    """Shows a network each batch turned: by one random symmetry, or by all, taking the average.

    Boards that are not square have four symmetries, square ones eight.
    """

    def __init__(self, inner: Evaluator, symmetries: Symmetries, seed: int = 0) -> None:
        self._inner, self._symmetries = inner, symmetries
        self._random = np.random.default_rng(seed)
        self.name, self.features, self.best_batch = inner.name, inner.features, inner.best_batch
        self.device = f"{inner.device}, {symmetries} symmetry"

    def submit(self, batch: Batch) -> Pending:
        """Start the evaluations of the turned batch."""
        size = Size(batch.planes.shape[3], batch.planes.shape[2])
        usable = [s for s in Symmetry if size.width == size.height or not s.transposes]
        if self._symmetries == "random":
            usable = [usable[self._random.integers(len(usable))]]
        pending = [
            (symmetry, self._inner.submit(_turned(batch, symmetry, size))) for symmetry in usable
        ]
        return _Average(pending, size)


def _turned(batch: Batch, symmetry: Symmetry, size: Size) -> Batch:
    turned = symmetry.size(size)
    points = symmetry_points(symmetry, size)
    planes = batch.planes.reshape(*batch.planes.shape[:2], size.area)[:, :, points]
    return Batch(
        planes.reshape(*batch.planes.shape[:2], turned.height, turned.width), batch.globals
    )


@dataclass(frozen=True)
class _Average:
    pending: list[tuple[Symmetry, Pending]]
    size: Size

    def result(self) -> Evaluation:
        turned_back = [
            self._turned_back(symmetry, pending.result()) for symmetry, pending in self.pending
        ]
        if len(turned_back) == 1:
            return turned_back[0]
        fields = zip(*turned_back, strict=True)
        return Evaluation(*(np.asarray(np.mean(field, 0), np.float32) for field in fields))

    def _turned_back(self, symmetry: Symmetry, evaluation: Evaluation) -> Evaluation:
        places = np.argsort(symmetry_points(symmetry, self.size))
        n = len(evaluation.policy)
        policy = np.concatenate(
            [evaluation.policy[:, :-1][:, places], evaluation.policy[:, -1:]], 1
        )
        ownership = evaluation.ownership.reshape(n, -1)[:, places]
        shape = (n, self.size.height, self.size.width)
        return evaluation._replace(policy=policy, ownership=ownership.reshape(shape))


class CachingEvaluator:
    """Remembers evaluations, the latest used ones, up to a size in MB.

    May be used from any thread if what it asks may be.
    """

    def __init__(self, inner: Evaluator, megabytes: float) -> None:
        self._inner = inner
        self._room = int(megabytes * 1e6)
        self._rows: OrderedDict[bytes, Evaluation] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()
        self.hits = self.misses = 0
        self.name, self.features, self.best_batch = inner.name, inner.features, inner.best_batch
        self.device = inner.device

    @property
    def used_bytes(self) -> int:
        """How much memory the remembered evaluations take."""
        return self._used

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._rows.clear()
            self._used = 0

    def submit(self, batch: Batch) -> Pending:
        """Start the evaluation of what is not remembered."""
        keys = [_key(batch, i) for i in range(len(batch.planes))]
        with self._lock:
            known = {key: self._recall(key) for key in dict.fromkeys(keys)}
            new = {key: i for i, key in enumerate(keys) if known[key] is None}
            self.misses += len(new)
            self.hits += len(keys) - len(new)
        rows = list(new.values())
        pending = None
        if rows:
            pending = self._inner.submit(Batch(batch.planes[rows], batch.globals[rows]))
        return _Completed(self, keys, known, list(new), pending)

    def _recall(self, key: bytes) -> Evaluation | None:
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def remember(self, rows: dict[bytes, Evaluation]) -> None:
        """Keep rows, and let go of those not used for longest."""
        with self._lock:
            for key, row in rows.items():
                if key not in self._rows:
                    self._used += _size(row)
                self._rows[key] = row
            while self._used > self._room:
                _, dropped = self._rows.popitem(last=False)
                self._used -= _size(dropped)


@dataclass(frozen=True)
class _Completed:
    """What was remembered together with what is still being evaluated."""

    cache: CachingEvaluator
    keys: list[bytes]
    known: dict[bytes, Evaluation | None]
    new: list[bytes]
    pending: Pending | None

    def result(self) -> Evaluation:
        rows = {key: row for key, row in self.known.items() if row is not None}
        if self.pending is not None:
            found = self.pending.result()
            new = {
                key: Evaluation(*(np.copy(field[i]) for field in found))
                for i, key in enumerate(self.new)
            }
            self.cache.remember(new)
            rows |= new
        return Evaluation(
            *(np.stack(fields) for fields in zip(*(rows[key] for key in self.keys), strict=True))
        )


def _key(batch: Batch, i: int) -> bytes:
    """What the network sees of a position stands for the position."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr(batch.planes.shape[1:]).encode())
    digest.update(np.packbits(batch.planes[i] != 0).tobytes())
    digest.update(batch.globals[i].tobytes())
    return digest.digest()


def _size(row: Evaluation) -> int:
    return sum(field.nbytes for field in row) + 1200  # and the objects around the numbers
