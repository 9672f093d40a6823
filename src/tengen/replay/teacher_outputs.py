"""Targets from a teacher, a stronger network, in place of how the games went on.

Its outputs are kept in files beside the games, because evaluating again is the slowest step.
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
CHANCES = 65_535  # the unit of a move's probability
_FORMAT = "tengen opinions 1"
_MOST_AT_A_TIME = 512  # positions that a teacher evaluates before they are stored


class TeacherOutputs(NamedTuple):
    """A teacher's evaluation of rows on boards of one size, for the side to play."""

    policy: NDArray[np.uint16]  # [rows, moves] in units of 1 / CHANCES
    value: NDArray[np.float32]  # [rows, 3] win, loss, no result
    score: NDArray[np.float32]  # [rows] given that there is a result, like lead and uncertainty
    lead: NDArray[np.float32]  # [rows]
    uncertainty: NDArray[np.float32]  # [rows, 3] see `Rows`
    ownership: NDArray[np.int8]  # [rows, height, width] in units of 1 / SURE


def evaluate_rows(teacher: Evaluator, features: FeatureSet, rows: TrainingRows) -> TeacherOutputs:
    """Evaluate rows whose inputs are encoded with these features, which must be the teacher's."""
    count = max(teacher.best_batch, 1)
    count = min(_MOST_AT_A_TIME, count * max(1, teacher.parallel_batches))
    parts = [
        _evaluated(teacher, features, rows.planes[at : at + count], rows.globals[at : at + count])
        for at in range(0, len(rows.score), count)
    ]
    if not parts:
        return no_teacher_outputs(rows)
    return TeacherOutputs(*map(np.concatenate, zip(*parts, strict=True)))


def _evaluated(
    teacher: Evaluator, features: FeatureSet, bits: NDArray[Any], packed: NDArray[Any]
) -> TeacherOutputs:
    """Evaluate some rows, in as many batches as the teacher computes at a time."""
    planes, globals_ = features.unpacked(bits, packed)
    batch, each = Batch(planes, globals_), max(teacher.best_batch, 1)
    pending = [
        teacher.submit(batch.rows(slice(at, at + each))) for at in range(0, len(planes), each)
    ]
    evaluations = [each.result() for each in pending]
    policy, value, score, spread, lead, _, value_error, score_error, owners = (
        np.concatenate(parts).astype(np.float64) for parts in zip(*evaluations, strict=True)
    )
    chances = np.exp(policy - policy.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    # An evaluation counts no result as 0 points; targets are given that there is a result.
    counted = np.maximum(1 - value[:, 2], 1e-3)
    mean = score / counted
    variance = np.maximum(spread**2 / counted - mean**2 * (1 - counted), 0)
    uncertainty = np.stack([np.sqrt(variance), value_error**2, score_error**2], 1)
    return TeacherOutputs(
        np.rint(CHANCES * chances).astype(np.uint16),
        value.astype(np.float32),
        mean.astype(np.float32),
        (lead / counted).astype(np.float32),
        uncertainty.astype(np.float32),
        np.rint(SURE * owners).astype(np.int8),
    )


def no_teacher_outputs(rows: TrainingRows) -> TeacherOutputs:
    """Outputs for no rows, for boards and moves as these rows have them."""
    moves, (height, width) = rows.policy.shape[1], rows.planes.shape[1:]
    shapes = ((0, moves), (0, 3), (0,), (0,), (0, 3), (0, height, width))
    dtypes = (np.uint16, *[np.float32] * 4, np.int8)
    arrays: list[Any] = [
        np.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    return TeacherOutputs(*arrays)


def with_teacher_targets(rows: TrainingRows, outputs: TeacherOutputs) -> TrainingRows:
    """The rows with the teacher's outputs for targets.

    The opponent's reply is not learned. The teacher's value and score stand for the averages of
    later searches at every horizon.
    """
    counted = 1 - outputs.value[:, 2]
    horizons = rows.short_values.shape[1]
    chances = outputs.policy.astype(np.float32)
    return rows._replace(
        policy=(chances / np.maximum(chances.sum(1, keepdims=True), 1)).astype(np.float16),
        reply=np.zeros_like(rows.reply),
        value=outputs.value,
        score=outputs.score,
        short_values=np.repeat(outputs.value[:, None], horizons, 1),
        short_scores=np.repeat(outputs.score[:, None], horizons, 1),
        search_value=outputs.value,
        lead=outputs.lead,
        ownership=outputs.ownership,
        known=np.stack([np.ones_like(counted), counted, counted, counted], 1),
        uncertainty=outputs.uncertainty,
    )


def save_teacher_outputs(path: Path, outputs: Mapping[Size, TeacherOutputs], of: str) -> None:
    """Write outputs atomically; `of` names the games and the teacher. Raises OSError."""
    tensors = {
        f"{size}.{name}": np.ascontiguousarray(array)
        for size, each in outputs.items()
        for name, array in each._asdict().items()
    }
    metadata = {"format": _FORMAT, "of": of}
    metadata["sha256"] = _checksum(tensors, metadata)
    replace_file(path, save(tensors, metadata))


def load_teacher_outputs(path: Path, of: str) -> dict[Size, TeacherOutputs] | None:
    """The outputs in a file if they were saved with the same `of`; else None.

    A damaged file is reported and ignored: the teacher can evaluate the rows again.
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
            parse_size(size): TeacherOutputs(
                *(tensors[f"{size}.{name}"] for name in TeacherOutputs._fields)
            )
            for size in sizes
        }
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        say(f"{path}: cannot be used ({error}); the teacher is asked again")
        return None
    return found if metadata.get("of") == of else None


def digest_of(games: Games) -> str:
    """A digest of the games, so that a file saved for other games is not used."""
    digest = hashlib.sha256(np.ascontiguousarray(games.turns).tobytes())
    digest.update(np.ascontiguousarray(games.games).tobytes())
    return digest.hexdigest()


def fits(outputs: Mapping[Size, TeacherOutputs], rows: Mapping[Size, int]) -> bool:
    """Whether outputs are for this many rows of each size."""
    return {size: len(each.score) for size, each in outputs.items()} == dict(rows)


def _checksum(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
