"""The replay buffer: its window, and batches turned at random."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size, Symmetry, symmetry_points
from tengen.network.evaluator import encode
from tengen.replay.rows import TrainingRows
from tengen.training.replay_buffer import ReplayBuffer, TrainingBatch
from tests.training.samples import positions_of_random_games, rows_of

SIDE = 6


def new_buffer(capacity: int, one_size: bool = False, symmetries: bool = True) -> ReplayBuffer:
    return ReplayBuffer(capacity, SIDE, KATAGO, one_size=one_size, symmetries=symmetries)


def some_rows(count: int, sides: tuple[int, ...] = (SIDE,)) -> TrainingRows:
    """Rows whose scores are their numbers."""
    rows = rows_of(positions_of_random_games(5, count, sides), 5, SIDE)
    return rows._replace(score=np.arange(count, dtype=np.float32))


def part(rows: TrainingRows, start: int, end: int) -> TrainingRows:
    return TrainingRows(**{name: array[start:end] for name, array in rows._asdict().items()})


def scores_drawn(replay: ReplayBuffer, batches: int = 20) -> set[int]:
    keys = (torch.tensor(key) for key in range(batches))
    return {int(score) for key in keys for score in replay.draw(64, key).score}


def test_turned_rows_are_the_rows_of_turned_positions() -> None:
    positions = positions_of_random_games(3, 60, (3, 5, SIDE))
    rows = rows_of(positions, 3, SIDE)
    replay = new_buffer(len(positions))
    replay.add(rows)
    for symmetry in Symmetry:
        batch = replay.gathered(
            torch.arange(len(positions)), torch.full((len(positions),), int(symmetry))
        )
        turned = [position.transformed(symmetry) for position in positions]
        expected = encode(KATAGO, turned)
        np.testing.assert_array_equal(batch.planes.numpy(), expected.planes, symmetry.name)
        np.testing.assert_array_equal(batch.globals.numpy(), expected.globals)
        check_turned_targets(batch, rows, symmetry)


def check_turned_targets(batch: TrainingBatch, rows: TrainingRows, symmetry: Symmetry) -> None:
    """What a target says of a point of a board it says of the point this one is turned to."""
    for i in range(len(rows.size)):
        size = Size(*(int(side) for side in rows.size[i]))
        for x in range(size.width):
            for y in range(size.height):
                to = symmetry.point((x, y), size)
                move, turned_move = y * SIDE + x, to.y * SIDE + to.x
                assert batch.policy[i, turned_move] == float(rows.policy[i, move])
                assert batch.reply[i, turned_move] == float(rows.reply[i, move])
                assert batch.ownership[i, to.y, to.x] == rows.ownership[i, y, x]
        assert batch.policy[i, -1] == float(rows.policy[i, -1])
        on_board = size.area - len(symmetry_points(symmetry, size))
        assert on_board == 0
        assert batch.policy[i].sum() == pytest.approx(1, abs=1e-2)


def test_all_symmetries_are_drawn_and_none_where_none_are_wanted() -> None:
    rows = part(some_rows(12), 11, 12)
    for symmetries, kinds in ((True, 8), (False, 1)):
        replay = new_buffer(4, symmetries=symmetries)
        replay.add(rows)
        replay.set_window(1)
        batch = replay.draw(256, torch.tensor(1))
        assert len(np.unique(batch.policy.numpy(), axis=0)) == kinds


def test_only_the_window_is_drawn_from_and_all_of_it() -> None:
    rows, replay = some_rows(50), new_buffer(40)
    replay.add(part(rows, 0, 30))
    replay.set_window(10)
    assert scores_drawn(replay) == set(range(20, 30))
    replay.add(part(rows, 30, 50))  # over the first ten
    assert scores_drawn(replay) == set(range(20, 30)), "the window moved by itself"
    replay.set_window(1000)
    assert replay.window == 40
    assert scores_drawn(replay) == set(range(10, 50))
    replay.set_window(15)
    assert scores_drawn(replay) == set(range(35, 50))


def test_more_rows_than_there_is_room_for_leave_the_last() -> None:
    replay = new_buffer(16)
    assert replay.add(some_rows(50)) == 50
    replay.set_window(50)
    assert (replay.total, replay.window) == (50, 16)
    assert scores_drawn(replay) == set(range(34, 50))


def test_a_key_says_what_is_drawn_wherever_the_rows_lie() -> None:
    rows = some_rows(30)
    one, other = new_buffer(30), new_buffer(37)
    one.add(rows)
    other.add(part(rows, 0, 25))  # so that the rest wraps around
    other.add(rows)
    for replay in (one, other):
        replay.set_window(30)
    for mine, theirs in zip(
        one.draw(64, torch.tensor(7)), other.draw(64, torch.tensor(7)), strict=True
    ):
        assert torch.equal(mine, theirs)
    again = one.draw(64, torch.tensor(8))
    assert not torch.equal(again.score, one.draw(64, torch.tensor(7)).score)


def test_rows_are_drawn_evenly() -> None:
    replay = new_buffer(50)
    replay.add(some_rows(50))
    replay.set_window(50)
    drawn = torch.cat([replay.draw(500, torch.tensor(key)).score for key in range(100)])
    counts = np.bincount(drawn.numpy().astype(int), minlength=50)
    # 1000 each, give or take 5 times √1000.
    assert counts.min() > 840
    assert counts.max() < 1160


def test_rows_that_are_not_finite_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    rows, replay = some_rows(20), new_buffer(20)
    rows.lead[3] = np.nan
    rows.policy[5, 2] = np.inf
    assert replay.add(rows) == 18
    replay.set_window(20)
    assert scores_drawn(replay) == set(range(20)) - {3, 5}
    assert "left out 2 rows" in capsys.readouterr().err


def test_boards_that_were_not_announced_are_refused() -> None:
    rows = some_rows(20, (5,))
    with pytest.raises(ValueError, match="5x5"):
        new_buffer(20, one_size=True).add(rows)
    rows.size[4] = 5, 4
    with pytest.raises(ValueError, match="5x4"):
        new_buffer(20).add(rows)
