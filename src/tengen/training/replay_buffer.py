"""The replay buffer: the latest training rows on the device that learns, and batches from them."""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.torch.decoding import unpack_inputs
from tengen.replay.rows import FIELDS, Layout, OrderedRows, Rows, TrainingRows, new_rows
from tengen.user_messages import say

# As `TrainingRows`, but planes and globals are the inputs of the network, [batch, planes, H, W] and
# [batch, globals], and moves and points are float32.
TrainingBatch: TypeAlias = Rows[Tensor]

_BITS = torch.int32  # of the planes; torch cannot shift uint32
SPARE_ROOM = 2.0  # rings have room for this many times the rows expected: shares change over a run
GOLDEN_RATIO = 0x9E3779B97F4A7C15  # its fraction, in units of 2 ** -64


class Ring:
    """The latest rows of one board size on a device, at that size's own shape.

    Drawing neither waits for the device nor depends on numbers of the host, so a CUDA graph can
    hold it.
    """

    def __init__(
        self,
        capacity: int,
        size: Size,
        features: FeatureSet,
        device: torch.device,
        symmetries: bool = True,  # each row is turned and mirrored at random when drawn
    ) -> None:
        self.capacity, self.size = capacity, size
        self._features = features
        self.total = 0  # rows ever added
        self.window = 0
        self.rows: Rows[Tensor] = Rows(
            *(
                torch.zeros((capacity, *empty.shape[1:]), dtype=empty.dtype, device=device)
                for empty in map(_as_tensor, new_rows(0, features, size))
            )
        )
        # [capacity] how many rows of all sizes came before each
        self._places = np.zeros(capacity, np.int64)
        self._start = torch.zeros((), dtype=torch.int64, device=device)
        self._count = torch.zeros((), dtype=torch.int64, device=device)
        self._turns = _turned_indices(size, symmetries).to(device)  # [symmetry, index]

    def write(self, rows: Sequence[Tensor], places: NDArray[np.int64]) -> None:
        """Append rows, at most `capacity`, over the oldest; the window stays."""
        n, at = len(places), self.total % self.capacity
        first = min(n, self.capacity - at)
        self._places[at : at + first], self._places[: n - first] = places[:first], places[first:]
        for stored, new in zip(self.rows, rows, strict=True):
            stored[at : at + first].copy_(new[:first])
            stored[: n - first].copy_(new[first:])
        self.total += n

    def set_window(self, first_place: int) -> None:
        """Draw from the rows at this place and later from now on, or from as many as there are."""
        held = min(self.total, self.capacity)
        oldest = self.total - held
        older = bisect_left(
            range(held), first_place, key=lambda k: self._places[(oldest + k) % self.capacity]
        )
        self.window = held - older
        self._start.fill_((oldest + older) % self.capacity)
        self._count.fill_(self.window)

    def draw(self, batch: int, key: Tensor) -> TrainingBatch:
        """Random rows of the window, turned at random; the same for the same key [] int64."""
        random = _random_bits(batch, key)
        row = (self._start + (random >> 3) % self._count.clamp_min(1)) % self.capacity  # [batch]
        return self.gathered(row, random & 7)

    def gathered(self, row: Tensor, symmetry: Tensor) -> TrainingBatch:
        """The rows at these indices of the ring, turned by these symmetries ([batch] int64)."""
        size = self.size
        source = self._turns[symmetry]  # [batch, area + 1]
        points = row[:, None] * size.area + source[:, :-1]
        moves = row[:, None] * (size.area + 1) + source

        def gather(layout: Layout | tuple[int, ...], stored: Tensor) -> Tensor:
            match layout:
                case Layout.POINTS:
                    values = stored.view(-1)[points].view(-1, size.height, size.width)
                    return values if values.dtype == _BITS else values.float()
                case Layout.MOVES:
                    return stored.view(-1)[moves].float()
            return stored[row]

        layouts = (field.shape for field in FIELDS.values())
        batch: Rows[Tensor] = Rows(*map(gather, layouts, self.rows))
        small = torch.bfloat16 if row.device.type == "cuda" else torch.float32
        planes, globals_ = unpack_inputs(self._features, batch.planes, batch.globals, small)
        return batch._replace(planes=planes, globals=globals_)


class ReplayBuffer:
    """Rings of rows, one for each board size; batches are drawn from a window of the latest rows.

    The window is of the rows of all sizes together; each ring has its share of it. On CUDA all work
    is ordered on `stream`. Hold `changing` while drawing if another thread adds rows.
    """

    def __init__(
        self,
        capacity: int,  # rows of all sizes
        sizes: Mapping[Size, float],  # how many rows are expected of each, in any unit
        features: FeatureSet,
        device: str | torch.device = "cpu",
        symmetries: bool = True,
    ) -> None:
        if capacity < 1 or len(features.planes) > 32:
            raise ValueError(f"no room for {len(features.planes)} planes in {capacity} rows")
        if not sizes or min(sizes.values()) <= 0:
            raise ValueError(f"each board size needs a share of the rows, not {dict(sizes)}")
        self.device = torch.device(device)
        self.capacity = capacity
        self.changing = threading.Lock()
        self.total = 0  # rows ever added
        shares = {size: SPARE_ROOM * share / sum(sizes.values()) for size, share in sizes.items()}
        self.rings = {
            size: Ring(
                min(capacity, math.ceil(share * capacity)), size, features, self.device, symmetries
            )
            for size, share in shares.items()
        }
        self.stream: torch.cuda.Stream | None = None
        self._copies: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)  # the tensors above were made on another stream
            # High priority: its many small kernels would each wait for a large one of self-play.
            self.stream = torch.cuda.Stream(self.device, priority=-1)  # type: ignore[no-untyped-call]
            self._copies = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]

    @property
    def window(self) -> int:
        """How many rows of all sizes are drawn from."""
        return sum(ring.window for ring in self.rings.values())

    def add(self, found: Mapping[Size, OrderedRows]) -> int:
        """Append rows, over the oldest if need be, and return how many; the window stays.

        Rows with numbers that are not finite are left out. Raises ValueError for boards of other
        sizes than the buffer was made for.
        """
        if unknown := [str(size) for size in found if size not in self.rings]:
            sizes = ", ".join(map(str, self.rings))
            raise ValueError(f"rows of {unknown[0]} boards, but sizes are {sizes}")
        base, added = self.total, 0
        for size, (rows, order) in found.items():
            good = _finite(rows)
            added += int(good.sum())
            self._write(
                self.rings[size], Rows(*(array[good] for array in rows)), base + order[good]
            )
        self.total = base + added
        return added

    def _write(self, ring: Ring, rows: TrainingRows, places: NDArray[np.int64]) -> None:
        room = slice(max(0, len(places) - ring.capacity), None)
        with torch.cuda.stream(self._copies):
            tensors = [_as_tensor(array[room]).to(self.device, non_blocking=True) for array in rows]
        if self.stream is not None and self._copies is not None:
            self.stream.wait_stream(self._copies)
        with self.changing, torch.cuda.stream(self.stream):
            ring.write(tensors, places[room])
            if self.stream is not None:
                for tensor in tensors:
                    tensor.record_stream(self.stream)

    def set_window(self, n: int) -> None:
        """Draw from the latest n rows from now on, or from as many as there are."""
        with self.changing, torch.cuda.stream(self.stream):
            for ring in self.rings.values():
                ring.set_window(self.total - min(n, self.capacity))

    def size_at(self, step: int) -> Size:
        """The board size to draw at this step: each as often as it has rows in the window.

        Multiples of the golden ratio, less whole numbers, alternate evenly between any shares, and
        need no state that a resumed run would lack.
        """
        at = (step * GOLDEN_RATIO % 2**64) * self.window >> 64  # from 0 to the window - 1
        for size, ring in self.rings.items():
            if at < ring.window:
                return size
            at -= ring.window
        raise ValueError("the replay buffer is empty: add rows and set the window first")


def _finite(rows: TrainingRows) -> NDArray[np.bool_]:
    """[rows] whether all of a row's numbers are finite; says how many have others."""
    good = np.ones(len(rows.score), bool)
    for array in rows:
        if array.dtype.kind == "f":
            good &= np.isfinite(array).all(tuple(range(1, array.ndim)))
    if not good.all():
        say(f"left out {(~good).sum():,} rows whose numbers are not finite")
    return good


def _as_tensor(array: NDArray[Any]) -> Tensor:
    """The array as a tensor, uint32 as _BITS."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return torch.from_numpy(array.view(np.int32) if array.dtype == np.uint32 else array)


def _turned_indices(size: Size, symmetries: bool) -> Tensor:
    """[8, area + 1] int64: where each entry of a turned board comes from; the pass stays in place.

    Symmetries that would give the board another shape are replaced by ones that do not.
    """
    table = np.tile(np.arange(size.area + 1), (8, 1))
    for symmetry in Symmetry if symmetries else ():
        turned = symmetry if size.width == size.height else Symmetry(symmetry & 3)
        table[symmetry, :-1] = symmetry_points(turned, size)
    return torch.from_numpy(table)


_MIX1, _MIX2 = -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15  # splitmix64's, as signed numbers
_GOLDEN = -0x61C8864680B583EB


def _random_bits(n: int, key: Tensor) -> Tensor:
    """[n] int64 from 0 to 2 ** 62 that depend on the key alone (splitmix64).

    Unlike a generator it has no state, which a CUDA graph would need and a resumed run would lack.
    """
    z = (key * n + torch.arange(n, device=key.device)) * _GOLDEN
    z = (z ^ _shifted(z, 30)) * _MIX1
    z = (z ^ _shifted(z, 27)) * _MIX2
    return _shifted(z ^ _shifted(z, 31), 2)


def _shifted(z: Tensor, bits: int) -> Tensor:
    """To the right, with zeros from the left."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)
