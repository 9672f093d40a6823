"""Evaluators around evaluators: symmetries of the board, and a memory of what was asked before."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending

Symmetries: TypeAlias = Literal["random", "average"]
Row: TypeAlias = NDArray[np.float32]  # all that is said of one position

_ROW_OBJECTS = 300  # bytes around the numbers of a row


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
        self._rows: OrderedDict[bytes, Row] = OrderedDict()
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
        keys = _keys(batch, self.features)
        with self._lock:
            known = {key: row for key in keys if (row := self._recall(key)) is not None}
        new = {key: i for i, key in enumerate(keys) if key not in known}
        with self._lock:
            self.misses += len(new)
            self.hits += len(keys) - len(new)
        pending = None
        if len(new) == len(keys):
            pending = self._inner.submit(batch)
        elif new:
            rows = list(new.values())
            pending = self._inner.submit(Batch(batch.planes[rows], batch.globals[rows]))
        return _Completed(self, keys, known, list(new), pending, batch.planes.shape[2:])

    def _recall(self, key: bytes) -> Row | None:
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def remember(self, rows: dict[bytes, Row]) -> None:
        """Keep rows, and let go of those not used for longest."""
        with self._lock:
            for key, row in rows.items():
                if key not in self._rows:
                    self._used += row.nbytes + _ROW_OBJECTS
                self._rows[key] = row
            while self._used > self._room:
                _, dropped = self._rows.popitem(last=False)
                self._used -= dropped.nbytes + _ROW_OBJECTS


@dataclass(frozen=True)
class _Completed:
    """What was remembered together with what is still being evaluated."""

    cache: CachingEvaluator
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
            self.cache.remember(new)
            if len(new) == len(self.keys):
                return found
            rows = rows | new
        return _unpacked(np.stack([rows[key] for key in self.keys]), self.board)


def _keys(batch: Batch, features: FeatureSet) -> list[bytes]:
    """A digest of all that the network sees of each position."""
    shape = repr(batch.planes.shape[1:]).encode()
    seen = np.packbits(batch.planes.reshape(len(batch.planes), -1) != 0, axis=1)
    uniform = batch.planes[:, features.uniform_planes, 0, 0]
    numbers = np.concatenate([batch.globals, uniform], 1)
    return [
        hashlib.blake2b(shape + planes.tobytes() + others.tobytes(), digest_size=16).digest()
        for planes, others in zip(seen, numbers, strict=True)
    ]


def _packed(evaluation: Evaluation) -> NDArray[np.float32]:
    """[batch, numbers] all that is said of a position in one row."""
    n = len(evaluation.policy)
    return np.concatenate([field.reshape(n, -1) for field in evaluation], 1)


def _unpacked(rows: NDArray[np.float32], board: tuple[int, ...]) -> Evaluation:
    """Evaluations as they were before `_packed`."""
    n, area = len(rows), board[0] * board[1]
    policy, value, owners = rows[:, : area + 1], rows[:, area + 1 : area + 4], rows[:, -area:]
    numbers = (rows[:, k] for k in range(area + 4, rows.shape[1] - area))
    return Evaluation._make([policy, value, *numbers, owners.reshape(n, *board)])
