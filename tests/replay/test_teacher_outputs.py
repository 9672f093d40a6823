"""Outputs of a teacher: as targets of rows, and in files, which are checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.replay.rows import FIELDS, Layout, TrainingRows, encode_games
from tengen.replay.teacher_outputs import (
    TeacherOutputs,
    digest_of,
    evaluate_rows,
    fits,
    load_teacher_outputs,
    no_teacher_outputs,
    save_teacher_outputs,
    with_teacher_targets,
)
from tests.replay.games import random_games

GAMES = random_games(6, seed=9, sides=(5,))
ROWS: TrainingRows = encode_games(GAMES, KATAGO, 1)[Size(5, 5)].rows
N = len(ROWS.score)


def saying(batch: Batch) -> Evaluation:
    """Different for each position, and no result possible."""
    n, area = len(batch.planes), batch.planes.shape[2] * batch.planes.shape[3]
    stones = batch.planes[:, 1:3].sum((1, 2, 3))
    policy = np.sin(np.arange(area + 1)[None] * (1 + stones[:, None])).astype(np.float32) * 3
    value = np.stack([0.5 + 0 * stones, 0.3 + 0 * stones, 0.2 + 0 * stones], 1).astype(np.float32)
    said = uniform(batch)._replace(policy=policy, value=value)
    numbers = {"score": 4.0, "lead": 3.0, "spread": 9.0, "value_error": 0.3, "score_error": 5.0}
    owned = np.full((n, *batch.planes.shape[2:]), -0.5, np.float32)
    return said._replace(
        ownership=owned, **{name: np.full(n, x, np.float32) for name, x in numbers.items()}
    )


def teacher(batch: int = 4, parallel: int = 3) -> FakeEvaluator:
    return FakeEvaluator(saying, KATAGO, best_batch=batch, parallel_batches=parallel)


def said_directly() -> Evaluation:
    planes, globals_ = KATAGO.unpacked(ROWS.planes, ROWS.globals)
    return saying(Batch(planes, globals_))


@pytest.mark.parametrize("batch", [1, 4, 1000])
def test_rows_say_what_the_teacher_says(batch: int) -> None:
    assert N > 20
    rows = with_teacher_targets(ROWS, evaluate_rows(teacher(batch), KATAGO, ROWS))
    said = said_directly()
    chances = np.exp(said.policy) / np.exp(said.policy).sum(1, keepdims=True)
    np.testing.assert_allclose(rows.policy, chances, atol=1e-3)
    np.testing.assert_allclose(rows.policy.sum(1, dtype=np.float64), 1, atol=2e-3)
    np.testing.assert_allclose(rows.value, said.value)
    np.testing.assert_allclose(rows.search_value, said.value)
    # Evaluations count nothing for games without a result, which are a fifth here.
    np.testing.assert_allclose(rows.score, 5, rtol=1e-5)
    np.testing.assert_allclose(rows.lead, 3 / 0.8, rtol=1e-5)
    spread = rows.uncertainty[:, 0]
    np.testing.assert_allclose((0.8 * (spread**2 + 25 * 0.2)) ** 0.5, 9, rtol=1e-5)
    np.testing.assert_allclose(rows.uncertainty[:, 1:], [[0.09, 25]] * N, rtol=1e-5)
    np.testing.assert_array_equal(rows.ownership, -50)
    np.testing.assert_allclose(rows.known, [[1, 0.8, 0.8, 0.8]] * N, rtol=1e-5)
    assert not rows.reply.any()
    for name in ("planes", "globals"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(ROWS, name))


def test_all_fields_keep_their_kinds() -> None:
    rows = with_teacher_targets(ROWS, evaluate_rows(teacher(), KATAGO, ROWS))
    for name, field in FIELDS.items():
        values: NDArray[np.generic] = getattr(rows, name)
        assert values.dtype == field.dtype, name
        if isinstance(field.shape, tuple):
            assert values.shape == (N, *field.shape)
        else:
            assert isinstance(field.shape, Layout)
            assert values.shape == (N, *field.shape_on(Size(5, 5), KATAGO))


def test_outputs_for_no_rows_are_none() -> None:
    empty = TrainingRows(*(array[:0] for array in ROWS))
    assert len(with_teacher_targets(empty, evaluate_rows(teacher(), KATAGO, empty)).score) == 0
    assert all(len(array) == 0 for array in no_teacher_outputs(ROWS))


def check_equal(one: TeacherOutputs, other: TeacherOutputs) -> None:
    for name in TeacherOutputs._fields:
        mine, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype


def test_files_keep_outputs_for_all_sizes(tmp_path: Path) -> None:
    games = random_games(6, seed=3, sides=(5, (4, 6)))
    found = {
        size: evaluate_rows(teacher(), KATAGO, rows.rows)
        for size, rows in encode_games(games, KATAGO, 1).items()
    }
    assert len(found) == 2
    save_teacher_outputs(tmp_path / "a.opinions", found, "these games")
    again = load_teacher_outputs(tmp_path / "a.opinions", "these games")
    assert again is not None
    assert again.keys() == found.keys()
    for size, outputs in found.items():
        check_equal(outputs, again[size])
    assert fits(again, {size: len(each.score) for size, each in found.items()})
    assert not fits(again, {Size(5, 5): 3})


def cut(content: bytes) -> bytes:
    return content[:-10]


def changed(content: bytes) -> bytes:
    return content[:-10] + bytes([content[-10] ^ 1]) + content[-9:]


@pytest.mark.parametrize("spoil", [cut, changed, lambda _: b"", lambda _: b"x" * 100])
def test_damaged_files_are_named_and_not_used(
    tmp_path: Path, spoil: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.opinions"
    save_teacher_outputs(path, {Size(5, 5): evaluate_rows(teacher(), KATAGO, ROWS)}, "these")
    path.write_bytes(spoil(path.read_bytes()))
    assert load_teacher_outputs(path, "these") is None
    said = capsys.readouterr().err
    assert "a.opinions: cannot be used" in said
    assert "asked again" in said


def test_outputs_for_other_games_or_by_others_are_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_teacher_outputs(
        tmp_path / "a", {Size(5, 5): evaluate_rows(teacher(), KATAGO, ROWS)}, "these"
    )
    assert load_teacher_outputs(tmp_path / "a", "others") is None
    assert load_teacher_outputs(tmp_path / "missing", "these") is None
    assert capsys.readouterr().err == ""


def test_games_are_told_apart_by_their_moves() -> None:
    turns = GAMES.turns.copy()
    turns["move"][3] ^= 1
    digests = {digest_of(GAMES), digest_of(GAMES._replace(turns=turns))}
    games = GAMES.games.copy()
    games["number"] += 1
    digests.add(digest_of(GAMES._replace(games=games)))
    assert len(digests) == 3
    assert digest_of(GAMES) in digests
