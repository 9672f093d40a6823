"""The replay buffer: the latest training rows on the device that learns, and batches from them."""

from __future__ import annotations

import threading
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.torch.decoding import unpack_inputs
from tengen.replay.rows import FIELDS, Layout, Rows, TrainingRows, new_rows
from tengen.user_messages import say

# As `TrainingRows`, but planes and globals are the inputs of the network, [batch, planes, H, W] and
# [batch, globals], and moves and points are float32.
TrainingBatch: TypeAlias = Rows[Tensor]

_BITS = torch.int32  # of the planes; torch cannot shift uint32


class ReplayBuffer:
    """A ring buffer of rows on a device; batches are drawn from a window of the latest.

    Drawing neither waits for the device nor depends on numbers of the host, so a CUDA graph can
    hold it. On CUDA all work is ordered on `stream`. Hold `changing` while drawing if another
    thread adds rows.
    """

    def __init__(
        self,
        capacity: int,
        side: int,  # of the largest board
        features: FeatureSet,
        device: str | torch.device = "cpu",
        one_size: bool = False,  # no smaller boards will come, which is faster to learn from
        symmetries: bool = True,  # each row is turned and mirrored at random when drawn
    ) -> None:
        if capacity < 1 or len(features.planes) > 32:
            raise ValueError(f"no room for {len(features.planes)} planes in {capacity} rows")
        self.device = torch.device(device)
        self.capacity, self.side, self.one_size = capacity, side, one_size
        self._features = features
        self.changing = threading.Lock()
        self.total = 0  # rows ever added
        self.window = 0
        self.rows: Rows[Tensor] = Rows(
            *(
                torch.zeros((capacity, *empty.shape[1:]), dtype=empty.dtype, device=self.device)
                for empty in map(_as_tensor, new_rows(0, features, side))
            )
        )
        self._start = torch.zeros((), dtype=torch.int64, device=self.device)
        self._count = torch.zeros((), dtype=torch.int64, device=self.device)
        self._turns = _turned_indices(side, symmetries).to(self.device)  # [side, symmetry, index]
        self.stream: torch.cuda.Stream | None = None
        self._copies: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)  # the tensors above were made on another stream
            # High priority: its many small kernels would each wait for a large one of self-play.
            self.stream = torch.cuda.Stream(self.device, priority=-1)  # type: ignore[no-untyped-call]
            self._copies = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]

    def add(self, rows: TrainingRows) -> int:
        """Append rows, over the oldest if need be, and return how many; the window stays.

        Rows with numbers that are not finite are left out. Raises ValueError for boards of other
        sizes than the buffer was made for.
        """
        rows = self._checked(rows)
        n = len(rows.score)
        at, self.total = self.total, self.total + n
        if n > self.capacity:
            rows = Rows(*(array[n - self.capacity :] for array in rows))
            at += n - self.capacity
        at %= self.capacity
        with torch.cuda.stream(self._copies):
            tensors = [_as_tensor(array).to(self.device, non_blocking=True) for array in rows]
        if self.stream is not None and self._copies is not None:
            self.stream.wait_stream(self._copies)
        with self.changing, torch.cuda.stream(self.stream):
            for stored, new in zip(self.rows, tensors, strict=True):
                first = min(len(new), self.capacity - at)
                stored[at : at + first].copy_(new[:first])
                stored[: len(new) - first].copy_(new[first:])
                if self.stream is not None:
                    new.record_stream(self.stream)
        return n

    def set_window(self, n: int) -> None:
        """Draw from the latest n rows from now on, or from as many as there are."""
        self.window = min(n, self.total, self.capacity)
        with self.changing, torch.cuda.stream(self.stream):
            self._start.fill_((self.total - self.window) % self.capacity)
            self._count.fill_(self.window)

    def draw(self, batch: int, key: Tensor) -> TrainingBatch:
        """Random rows of the window, turned at random; the same for the same key [] int64."""
        random = _random_bits(batch, key)
        row = (self._start + (random >> 3) % self._count.clamp_min(1)) % self.capacity  # [batch]
        return self.gathered(row, random & 7)

    def gathered(self, row: Tensor, symmetry: Tensor) -> TrainingBatch:
        """The rows at these indices of the buffer, turned by these symmetries ([batch] int64)."""
        area = self.side * self.side
        source = self._turns[self.rows.size[row, 0].long(), symmetry]  # [batch, area + 1]
        points = row[:, None] * area + source[:, :-1]
        moves = row[:, None] * (area + 1) + source

        def gather(layout: Layout | tuple[int, ...], stored: Tensor) -> Tensor:
            match layout:
                case Layout.POINTS:
                    values = stored.view(-1)[points].view(-1, self.side, self.side)
                    return values if values.dtype == _BITS else values.float()
                case Layout.MOVES:
                    return stored.view(-1)[moves].float()
            return stored[row]

        layouts = (field.shape for field in FIELDS.values())
        batch: Rows[Tensor] = Rows(*map(gather, layouts, self.rows))
        small = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        planes, globals_ = unpack_inputs(self._features, batch.planes, batch.globals, small)
        return batch._replace(planes=planes, globals=globals_)

    def _checked(self, rows: TrainingRows) -> TrainingRows:
        """Only rows of finite numbers; raises ValueError for boards of other sizes."""
        width, height = rows.size[:, 0], rows.size[:, 1]
        smallest = self.side if self.one_size else 1
        wrong = (width != height) | (width < smallest) | (width > self.side)
        if wrong.any():
            x, y = rows.size[wrong][0]
            sizes = f"{self.side}x{self.side}" + ("" if self.one_size else " and smaller squares")
            raise ValueError(f"a row of a {x}x{y} board, but sizes are {sizes}")
        good = np.ones(len(width), bool)
        for array in rows:
            if array.dtype.kind == "f":
                good &= np.isfinite(array).all(tuple(range(1, array.ndim)))
        if not good.all():
            say(f"left out {(~good).sum():,} rows whose numbers are not finite")
        return Rows(*(array[good] for array in rows))


def _as_tensor(array: NDArray[Any]) -> Tensor:
    """The array as a tensor, uint32 as _BITS."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return torch.from_numpy(array.view(np.int32) if array.dtype == np.uint32 else array)


def _turned_indices(side: int, symmetries: bool) -> Tensor:
    """[side + 1, 8, side * side + 1] int64: where each entry of a turned board comes from.

    Points off the board and the pass stay in place.
    """
    table = np.tile(np.arange(side * side + 1), (side + 1, 8, 1))
    for small in range(1, side + 1):
        y, x = np.divmod(np.arange(small * small), small)
        indices = y * side + x  # of the small board in the tensor
        for symmetry in Symmetry if symmetries else ():
            source = symmetry_points(symmetry, Size(small, small))
            table[small, symmetry, indices] = indices[source]
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
