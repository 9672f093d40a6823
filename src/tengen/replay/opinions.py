"""What a teacher, a stronger network, says of positions, in place of what became of the games.

Opinions are kept in files beside the games they are about: to ask again would take longest of all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tengen.atomic_files import replace_file
from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, parse_size
from tengen.network.evaluator import Batch, Evaluator
from tengen.replay.kernels.encode import SURE
from tengen.replay.rows import TrainingRows
from tengen.selfplay.record import Games
from tengen.user_messages import say

ENDING = ".opinions"
CHANCES = 65_535  # the unit of a move's chance in opinions
_FORMAT = "tengen opinions 1"
_MOST_AT_A_TIME = 512  # positions that a teacher is asked about together


class Opinions(NamedTuple):
    """What a teacher says of rows on boards of one size, for the side to play."""

    policy: NDArray[np.uint16]  # [rows, moves] in units of 1 / CHANCES
    value: NDArray[np.float32]  # [rows, 3] win, loss, no result
    score: NDArray[np.float32]  # [rows] if there is a result, as the next two
    lead: NDArray[np.float32]  # [rows]
    uncertainty: NDArray[np.float32]  # [rows, 3] see `Rows`
    ownership: NDArray[np.int8]  # [rows, height, width] in units of 1 / SURE


def ask(teacher: Evaluator, features: FeatureSet, rows: TrainingRows) -> Opinions:
    """The teacher's opinions of rows whose inputs are of these features, which must be its own."""
    count = max(teacher.best_batch, 1)
    count = min(_MOST_AT_A_TIME, count * max(1, teacher.parallel_batches))
    found = [
        _asked(teacher, features, rows.planes[at : at + count], rows.globals[at : at + count])
        for at in range(0, len(rows.score), count)
    ]
    if not found:
        return no_opinions(rows)
    return Opinions(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _asked(
    teacher: Evaluator, features: FeatureSet, bits: NDArray[Any], packed: NDArray[Any]
) -> Opinions:
    """The opinions of some rows, in as many batches as the teacher computes at a time."""
    planes, globals_ = features.unpacked(bits, packed)
    batch, each = Batch(planes, globals_), max(teacher.best_batch, 1)
    pending = [
        teacher.submit(batch.rows(slice(at, at + each))) for at in range(0, len(planes), each)
    ]
    said = [each.result() for each in pending]
    policy, value, score, spread, lead, _, value_error, score_error, owners = (
        np.concatenate(parts).astype(np.float64) for parts in zip(*said, strict=True)
    )
    chances = np.exp(policy - policy.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    # Evaluations count no points where there is no result; rows are about games that have one.
    counted = np.maximum(1 - value[:, 2], 1e-3)
    mean = score / counted
    variance = np.maximum(spread**2 / counted - mean**2 * (1 - counted), 0)
    uncertainty = np.stack([np.sqrt(variance), value_error**2, score_error**2], 1)
    return Opinions(
        np.rint(CHANCES * chances).astype(np.uint16),
        value.astype(np.float32),
        mean.astype(np.float32),
        (lead / counted).astype(np.float32),
        uncertainty.astype(np.float32),
        np.rint(SURE * owners).astype(np.int8),
    )


def no_opinions(rows: TrainingRows) -> Opinions:
    """Opinions of none of these rows."""
    moves, (height, width) = rows.policy.shape[1], rows.planes.shape[1:]
    shapes = ((0, moves), (0, 3), (0,), (0,), (0, 3), (0, height, width))
    dtypes = (np.uint16, *[np.float32] * 4, np.int8)
    arrays: list[Any] = [
        np.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    return Opinions(*arrays)


def as_taught(rows: TrainingRows, opinions: Opinions) -> TrainingRows:
    """The rows with the teacher's opinions for targets.

    What it does not tell is not learned: the reply to a move, and what follows soon. Its value
    stands for the averages of later searches.
    """
    counted = 1 - opinions.value[:, 2]
    horizons = rows.short_values.shape[1]
    chances = opinions.policy.astype(np.float32)
    return rows._replace(
        policy=(chances / np.maximum(chances.sum(1, keepdims=True), 1)).astype(np.float16),
        reply=np.zeros_like(rows.reply),
        value=opinions.value,
        score=opinions.score,
        short_values=np.repeat(opinions.value[:, None], horizons, 1),
        short_scores=np.repeat(opinions.score[:, None], horizons, 1),
        search_value=opinions.value,
        lead=opinions.lead,
        ownership=opinions.ownership,
        known=np.stack([np.ones_like(counted), counted, counted, counted], 1),
        uncertainty=opinions.uncertainty,
    )


def save_opinions(path: Path, opinions: Mapping[Size, Opinions], of: str) -> None:
    """Write opinions atomically; `of` says of what and whose they are. Raises OSError."""
    tensors = {
        f"{size}.{name}": np.ascontiguousarray(array)
        for size, each in opinions.items()
        for name, array in each._asdict().items()
    }
    metadata = {"format": _FORMAT, "of": of}
    metadata["sha256"] = _checksum(tensors, metadata)
    replace_file(path, save(tensors, metadata))


def load_opinions(path: Path, of: str) -> dict[Size, Opinions] | None:
    """Opinions that were saved of the same by the same teacher; None where there are none.

    A damaged file is named, and as good as none: the teacher can be asked again.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        stated = metadata.pop("sha256", "")
        if _checksum(tensors, metadata) != stated or metadata.get("format") != _FORMAT:
            raise ValueError("its checksum is wrong")
        sizes = dict.fromkeys(name.partition(".")[0] for name in tensors)
        found = {
            parse_size(size): Opinions(*(tensors[f"{size}.{name}"] for name in Opinions._fields))
            for size in sizes
        }
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        say(f"{path}: cannot be used ({error}); the teacher is asked again")
        return None
    return found if metadata.get("of") == of else None


def digest_of(games: Games) -> str:
    """What tells games apart, so that opinions of others are not taken for theirs."""
    digest = hashlib.sha256(np.ascontiguousarray(games.turns).tobytes())
    digest.update(np.ascontiguousarray(games.games).tobytes())
    return digest.hexdigest()


def fits(opinions: Mapping[Size, Opinions], rows: Mapping[Size, int]) -> bool:
    """Whether opinions are of so many rows of each size."""
    return {size: len(each.score) for size, each in opinions.items()} == dict(rows)


def _checksum(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
