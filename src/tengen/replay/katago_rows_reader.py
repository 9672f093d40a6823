"""Rows that KataGo wrote for its trainer (npz files of V7 inputs), read as our own training rows.

A target whose weight in the row is 0 is not learned. A row's own weight is its mean number of
copies.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from tengen.features.feature_set import KATAGO, FeatureSet
from tengen.game.geometry import MAX_SIDE, Size
from tengen.network.files.errors import one_line
from tengen.replay.katago_rows_writer import POLICY_SUM, Column
from tengen.replay.kernels.encode import SURE
from tengen.replay.rows import HORIZONS, OrderedRows, TrainingRows, new_rows

ENDING = ".npz"
# Of all arrays, unpacked: against zip bombs. KataGo's files shrink by some 10 to 30 times.
FREE_GROWTH, GROWTH = 64 << 20, 200
MOST_WEIGHT, MOST_COPIES = 1000.0, 10.0  # of a row, and of all rows in the mean
MOST_TARGET = 10_000.0  # points, and all else that is learned
_LEAST_COLUMNS = 64  # of globalTargetsNC, in every version
_AT_A_TIME = 4096  # rows whose planes are unpacked together


class RowsFileError(ValueError):
    """A file of rows that cannot be used; the message says which and why."""


class FoundRows(NamedTuple):
    """The rows of a file, in its order."""

    rows: dict[Size, OrderedRows]
    games: dict[Size, NDArray[np.uint64]]  # [rows] a number that rows of one game share


class _Arrays(NamedTuple):
    """The arrays of a file for boards of up to P x P, by KataGo's names in its order."""

    planes: NDArray[Any]  # [rows, planes, bytes] of uint8: points as bits, the highest first
    globals: NDArray[Any]  # [rows, globals] of float32
    policy: NDArray[Any]  # [rows, 2, P * P + 1] of int16
    targets: NDArray[Any]  # [rows, 64 and more] of float32
    spatial: NDArray[Any]  # [rows, 3 and more, P, P] of int8


_NAMES = (
    "binaryInputNCHWPacked",
    "globalInputNC",
    "policyTargetsNCMove",
    "globalTargetsNC",
    "valueTargetsNCHW",
)
_DTYPES: tuple[DTypeLike, ...] = (np.uint8, np.float32, np.int16, np.float32, np.int8)


def read_katago_rows(path: Path, features: FeatureSet, seed: int) -> FoundRows:
    """The rows of a file for networks with these inputs; raises RowsFileError.

    The seed decides how often a row with a weight such as 1.7 appears.
    """
    if features.planes != KATAGO.planes:
        what = f"has inputs of {KATAGO.name!r}, but the network sees {features.name!r}"
        raise RowsFileError(f"{path}: {what}; learn from games with it instead")
    arrays = _read(path)
    side = math.isqrt(arrays.policy.shape[2] - 1)
    widths, heights = _sizes(path, arrays, side)
    copies = _copies(arrays.targets[:, Column.ROW_WEIGHT], path.name, seed)
    order = np.repeat(np.arange(len(copies)), copies)
    found: dict[Size, OrderedRows] = {}
    games = {}
    for width, height in sorted({*zip(widths.tolist(), heights.tolist(), strict=True)}):
        size = Size(width, height)
        at = np.flatnonzero((widths[order] == width) & (heights[order] == height))
        if len(at):
            chosen = _Arrays(*(array[order[at]] for array in arrays))
            found[size] = OrderedRows(_rows(chosen, size, side, features), at)
            games[size] = _game_numbers(chosen.targets)
    return FoundRows(found, games)


def _read(path: Path) -> _Arrays:
    try:
        most = FREE_GROWTH + GROWTH * path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            if missing := [name for name in _NAMES if f"{name}.npy" not in infos]:
                what = f"has no array {missing[0]}"
                raise RowsFileError(f"{path}: {what}; name a file of KataGo's training rows")
            named = [infos[f"{name}.npy"] for name in _NAMES]
            if sum(info.file_size for info in named) > most:
                what = f"its arrays grow past {most:,} bytes, as rows do not"
                raise RowsFileError(f"{path}: {what}; do not trust this file")
            arrays = _Arrays(*(_array(archive, info) for info in named))
    except RowsFileError:
        raise
    except OSError as error:
        raise RowsFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # zipfile and numpy raise anything for what is damaged
        what = one_line(str(error))[:200] or type(error).__name__
        raise RowsFileError(f"{path}: is no file of arrays, or damaged: {what}") from None
    _check(path, arrays)
    return arrays


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """An array of a file; its head may promise anything, so the bytes are counted first."""
    with archive.open(info) as file:
        if npy.read_magic(file) == (1, 0):
            shape, by_columns, dtype = npy.read_array_header_1_0(file)
        else:
            shape, by_columns, dtype = npy.read_array_header_2_0(file)
        if dtype.hasobject:
            raise ValueError(f"{info.filename} is a pickle, which can run code and is never opened")
        if dtype.kind not in "uif":
            raise ValueError(f"{info.filename} holds {dtype}, which is no kind of number")
        content = file.read()
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{info.filename} has {len(content):,} bytes, which is not {shape}")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")


def _check(path: Path, arrays: _Arrays) -> None:
    """Raise RowsFileError unless types and shapes are those of KataGo's rows."""
    (n, *_), (*_, moves) = arrays.planes.shape or (0,), arrays.policy.shape or (0,)
    side = math.isqrt(max(0, moves - 1))
    shapes: dict[str, tuple[int, ...]] = {
        "planes": (n, len(KATAGO.planes), (side * side + 7) // 8),
        "globals": (n, len(KATAGO.globals)),
        "policy": (n, 2, side * side + 1),
    }
    targets, spatial = arrays.targets, arrays.spatial
    fits = (
        all(getattr(arrays, name).shape == shape for name, shape in shapes.items())
        and all(array.dtype == dtype for array, dtype in zip(arrays, _DTYPES, strict=True))
        and (targets.ndim == 2 and len(targets) == n and targets.shape[1] >= _LEAST_COLUMNS)
        and (spatial.ndim == 4 and len(spatial) == n and spatial.shape[2:] == (side, side))
        and 1 <= side <= MAX_SIDE
    )
    if not fits:
        shapes_found = zip(_NAMES, arrays, strict=True)
        found = ", ".join(
            f"{name} {array.dtype}{list(array.shape)}" for name, array in shapes_found
        )
        what = f"its arrays are not those of V7 inputs on boards of up to 19x19: {found}"
        raise RowsFileError(f"{path}: {what}")
    weight, learned = targets[:, Column.ROW_WEIGHT], targets[:, : Column.LEAD + 1]
    possible = (
        np.isfinite(targets).all()
        and (np.abs(learned) <= MOST_TARGET).all()
        and (arrays.policy >= 0).all()
        and ((weight >= 0) & (weight < MOST_WEIGHT)).all()
        and weight.sum() <= MOST_COPIES * (n + MOST_WEIGHT)
    )
    if not possible:
        raise RowsFileError(f"{path}: has targets or weights that are impossible")
    if not (np.abs(arrays.globals) <= MOST_TARGET).all():
        raise RowsFileError(f"{path}: has inputs that are impossible")


def _sizes(path: Path, arrays: _Arrays, side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[rows] widths and heights of the boards, from the plane that shows where the board is."""
    plane = np.unpackbits(arrays.planes[:, 0], axis=1)[:, : side * side].reshape(-1, side, side)
    widths, heights = plane[:, 0].sum(1, dtype=np.int64), plane[:, :, 0].sum(1, dtype=np.int64)
    each = np.arange(side)
    board = (each < heights[:, None])[:, :, None] & (each < widths[:, None])[:, None]
    if not ((plane == board).all() and (widths > 0).all() and (heights > 0).all()):
        raise RowsFileError(f"{path}: its first plane does not show boards; are its inputs V7?")
    return widths, heights


def _copies(weights: NDArray[np.float32], name: str, seed: int) -> NDArray[np.int64]:
    """[rows] how often each row appears; depends on the file's name, the row and the seed alone."""
    draw = np.random.default_rng([seed, zlib.crc32(name.encode())]).random(len(weights))
    whole = np.floor(weights)
    return (whole + (draw < weights - whole)).astype(np.int64)


def _game_numbers(targets: NDArray[np.float32]) -> NDArray[np.uint64]:
    """[rows] from the first parts of KataGo's hash of the game."""
    parts = targets[:, Column.GAME : Column.GAME + 3].astype(np.uint64)
    numbers: NDArray[np.uint64] = parts[:, 0] + (parts[:, 1] << np.uint64(22))
    numbers += parts[:, 2] << np.uint64(44)
    return numbers


def _rows(arrays: _Arrays, size: Size, side: int, features: FeatureSet) -> TrainingRows:
    """Rows on boards of one size, cut out of arrays for larger ones."""
    n, targets = len(arrays.planes), arrays.targets
    rows = new_rows(n, features, size)
    corner = np.s_[:, : size.height, : size.width]
    shown = [k for k, plane in enumerate(features.planes) if plane not in features.empty]
    for begin in range(0, n, _AT_A_TIME):
        some = slice(begin, begin + _AT_A_TIME)
        planes = np.unpackbits(arrays.planes[some], axis=2)[..., : side * side]
        for k in shown:
            plane = planes[:, k].reshape(-1, side, side)[corner]
            rows.planes[some] |= plane.astype(np.uint32) << np.uint32(k)
    rows.globals[:] = arrays.globals
    for target, which, weight in (
        (rows.policy, 0, Column.POLICY_WEIGHT),
        (rows.reply, 1, Column.REPLY_WEIGHT),
    ):
        points = arrays.policy[:, which, :-1].reshape(n, side, side)[corner].reshape(n, -1)
        moves = np.concatenate([points, arrays.policy[:, which, -1:]], 1).astype(np.float32)
        moves *= (targets[:, weight] > 0)[:, None]  # zeros cost nothing
        target[:] = moves / np.maximum(moves.sum(1, keepdims=True), 1 / POLICY_SUM)
    rows.value[:] = targets[:, Column.RESULT : Column.RESULT + 3]
    rows.score[:] = targets[:, Column.RESULT + 3]
    for k in range(HORIZONS):
        at, h = Column.HORIZONS + 4 * k, HORIZONS - 1 - k  # KataGo's longest comes first
        rows.short_values[:, h] = targets[:, at : at + 3]
        rows.short_scores[:, h] = targets[:, at + 3]
    rows.search_value[:] = targets[:, Column.SEARCH : Column.SEARCH + 3]
    # Few rows have a lead. The others have the search's score, from which our own rows learn it.
    has_lead = targets[:, Column.LEAD_WEIGHT] > 0
    rows.lead[:] = np.where(has_lead, targets[:, Column.LEAD], targets[:, Column.SEARCH + 3])
    rows.ownership[:] = SURE * np.clip(arrays.spatial[:, 0][corner], -1, 1)
    counted = np.clip(targets[:, Column.OWNERSHIP_WEIGHT], 0, 1)
    less = np.maximum(targets[:, Column.LESS_SHORT_TERM], targets[:, Column.LESS_VALUE])
    rows.known[:] = np.stack([1 - np.clip(less, 0, 1), counted, counted, counted], 1)
    return rows
