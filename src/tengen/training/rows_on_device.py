"""Rows to learn from on the device that learns: a ring of the latest, and batches drawn from it."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.torch.unpacking import unpacked
from tengen.replay.rows import HORIZONS, TrainingRows
from tengen.user_messages import say


class TrainingBatch(NamedTuple):
    """Rows as a network and its losses take them."""

    planes: Tensor  # [batch, planes, height, width]
    globals: Tensor  # [batch, globals]
    on_board: Tensor  # [batch, height, width] 1 on the board, 0 off it
    policy: Tensor  # [batch, height * width + 1]
    reply: Tensor  # [batch, height * width + 1]
    value: Tensor  # [batch, 3] win, loss, no result
    score: Tensor  # [batch] points
    short_values: Tensor  # [batch, HORIZONS, 3]
    short_scores: Tensor  # [batch, HORIZONS] points
    search_value: Tensor  # [batch, 3]
    lead: Tensor  # [batch] points
    ownership: Tensor  # [batch, height, width]


class RowsOnDevice:
    """A ring of rows on a device, of which a window, the latest, is drawn from.

    Drawing neither waits for the device nor depends on numbers of the host, so that a CUDA graph
    can hold it. On CUDA all happens on `stream`, in order; whoever draws while another thread adds
    holds `changing`, so that no row is drawn of which half is written.
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
        self.capacity, self.side, self.features = capacity, side, features
        self.one_size = one_size
        self.changing = threading.Lock()
        self.total = 0  # rows ever added
        self.window = 0
        area = side * side
        shapes: dict[str, tuple[tuple[int, ...], torch.dtype]] = {
            "planes": ((area,), torch.int32),
            "globals": ((features.packed_globals,), torch.float32),
            "policy": ((area + 1,), torch.float16),
            "reply": ((area + 1,), torch.float16),
            "value": ((3,), torch.float32),
            "score": ((), torch.float32),
            "short_values": ((HORIZONS, 3), torch.float32),
            "short_scores": ((HORIZONS,), torch.float32),
            "search_value": ((3,), torch.float32),
            "lead": ((), torch.float32),
            "ownership": ((area,), torch.int8),
            "side": ((), torch.uint8),
        }
        self.rows = {
            name: torch.zeros((capacity, *shape), dtype=dtype, device=self.device)
            for name, (shape, dtype) in shapes.items()
        }
        self._start = torch.zeros((), dtype=torch.int64, device=self.device)
        self._count = torch.zeros((), dtype=torch.int64, device=self.device)
        self._turns = _turned_places(side, symmetries).to(self.device)  # [side, symmetry, place]
        self.stream: torch.cuda.Stream | None = None
        self._copies: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)  # what was made above was made elsewhere
            # First in line: its many small kernels would each wait for a large one of self-play.
            self.stream = torch.cuda.Stream(self.device, priority=-1)  # type: ignore[no-untyped-call]
            self._copies = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]

    def add(self, rows: TrainingRows) -> int:
        """Append rows, over the oldest if need be, and return how many; the window is kept.

        Rows with numbers that are not finite are left out. Raises ValueError for boards of sizes
        that were not announced.
        """
        arrays = self._checked(rows)
        n = len(arrays["side"])
        at, self.total = self.total, self.total + n
        if n > self.capacity:
            arrays = {name: array[n - self.capacity :] for name, array in arrays.items()}
            at += n - self.capacity
        at %= self.capacity
        with self._on_stream(self._copies):
            tensors = {
                name: torch.from_numpy(np.ascontiguousarray(array)).to(
                    self.device, non_blocking=True
                )
                for name, array in arrays.items()
            }
        if self.stream is not None and self._copies is not None:
            self.stream.wait_stream(self._copies)
        with self.changing, self._on_stream(self.stream):
            for name, tensor in tensors.items():
                first = min(len(tensor), self.capacity - at)
                self.rows[name][at : at + first].copy_(tensor[:first])
                self.rows[name][: len(tensor) - first].copy_(tensor[first:])
                if self.stream is not None:
                    tensor.record_stream(self.stream)
        return n

    def set_window(self, n: int) -> None:
        """Draw from the latest n rows from now on, or from as many as there are."""
        self.window = min(n, self.total, self.capacity)
        with self.changing, self._on_stream(self.stream):
            self._start.fill_((self.total - self.window) % self.capacity)
            self._count.fill_(self.window)

    def draw(self, batch: int, key: Tensor) -> TrainingBatch:
        """Rows of the window at random: the same ones, turned alike, for the same key [] int64."""
        random = _random_bits(batch, key)
        row = (self._start + (random >> 3) % self._count.clamp_min(1)) % self.capacity  # [batch]
        return self.gathered(row, random & 7)

    def gathered(self, row: Tensor, symmetry: Tensor) -> TrainingBatch:
        """The rows at these places of the ring, turned by these symmetries (both [batch] int64)."""
        area = self.side * self.side
        source = self._turns[self.rows["side"][row].long(), symmetry]  # [batch, area + 1]
        points = row[:, None] * area + source[:, :-1]
        moves = row[:, None] * (area + 1) + source
        board = (len(row), self.side, self.side)
        small = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        bits = self.rows["planes"].view(-1)[points].view(board)
        planes, globals_ = unpacked(self.features, bits, self.rows["globals"][row], small)
        return TrainingBatch(
            planes=planes,
            globals=globals_,
            on_board=self.features.on_board(planes),
            policy=self.rows["policy"].view(-1)[moves].float(),
            reply=self.rows["reply"].view(-1)[moves].float(),
            ownership=self.rows["ownership"].view(-1)[points].float().view(board),
            **{
                name: self.rows[name][row]
                for name in (
                    "value",
                    "score",
                    "short_values",
                    "short_scores",
                    "search_value",
                    "lead",
                )
            },
        )

    def _checked(self, rows: TrainingRows) -> dict[str, NDArray[Any]]:
        """Arrays as they lie on the device, without rows that would spoil the weights."""
        width, height = rows.side[:, 0], rows.side[:, 1]
        smallest = self.side if self.one_size else 1
        if ((width != height) | (width < smallest) | (width > self.side)).any():
            wrong = rows.side[(width != height) | (width < smallest) | (width > self.side)][0]
            sizes = f"{self.side}x{self.side}" + ("" if self.one_size else " and smaller squares")
            raise ValueError(f"a row of a {wrong[0]}x{wrong[1]} board, but sizes are {sizes}")
        good = np.ones(len(width), bool)
        for array in rows:
            if array.dtype.kind == "f":
                good &= np.isfinite(array).all(tuple(range(1, array.ndim)))
        if not good.all():
            say(f"left out {(~good).sum():,} rows whose numbers are not finite")
        arrays = {name: array[good] for name, array in rows._asdict().items()}
        n = int(good.sum())
        area = self.side * self.side
        arrays["planes"] = arrays["planes"].view(np.int32).reshape(n, area)
        arrays["ownership"] = arrays["ownership"].reshape(n, area)
        arrays["side"] = arrays["side"][:, 0]
        return arrays

    def _on_stream(self, stream: torch.cuda.Stream | None) -> AbstractContextManager[Any]:
        return nullcontext() if stream is None else torch.cuda.stream(stream)


def _turned_places(side: int, symmetries: bool) -> Tensor:
    """[side + 1, 8, side * side + 1] int64: where each place of a turned board's tensor comes from.

    What lies off the board, and the pass, stay where they are.
    """
    table = np.tile(np.arange(side * side + 1), (side + 1, 8, 1))
    for small in range(1, side + 1):
        y, x = np.divmod(np.arange(small * small), small)
        places = y * side + x  # of the small board in the tensor
        for symmetry in Symmetry if symmetries else ():
            source = symmetry_points(symmetry, Size(small, small))
            table[small, symmetry, places] = places[source]
    return torch.from_numpy(table)


_MIX1, _MIX2 = -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15  # splitmix64's, as signed numbers
_GOLDEN = -0x61C8864680B583EB


def _random_bits(n: int, key: Tensor) -> Tensor:
    """[n] int64 from 0 to 2 ** 62 that depend on the key alone (splitmix64).

    Unlike a generator's they need no state in a CUDA graph, and a resumed run draws the same.
    """
    z = (key * n + torch.arange(n, device=key.device)) * _GOLDEN
    z = (z ^ _shifted(z, 30)) * _MIX1
    z = (z ^ _shifted(z, 27)) * _MIX2
    return _shifted(z ^ _shifted(z, 31), 2)


def _shifted(z: Tensor, bits: int) -> Tensor:
    """To the right, with zeros from the left."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)
