"""The replay buffer: rings by board size, their window, and batches turned at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size, Symmetry
from tengen.network.evaluator import encode
from tengen.replay.rows import OrderedRows, TrainingRows
from tengen.training.replay_buffer import ReplayBuffer, Ring, TrainingBatch
from tests.training.samples import positions_of_random_games, rows_of

SIX, FIVE = Size(6, 6), Size(5, 5)


def new_buffer(
    capacity: int, sizes: Sequence[Size] = (SIX,), symmetries: bool = True
) -> ReplayBuffer:
    return ReplayBuffer(capacity, dict.fromkeys(sizes, 1.0), KATAGO, symmetries=symmetries)


def some_rows(count: int, sizes: Sequence[Size] = (SIX,)) -> dict[Size, OrderedRows]:
    """Rows whose scores are their numbers."""
    found = rows_of(positions_of_random_games(5, count, sizes), 5)
    return {
        size: OrderedRows(rows._replace(score=order.astype(np.float32)), order)
        for size, (rows, order) in found.items()
    }


def part(found: dict[Size, OrderedRows], start: int, end: int) -> dict[Size, OrderedRows]:
    """The rows with these numbers."""
    cut = {}
    for size, (rows, order) in found.items():
        wanted = (order >= start) & (order < end)
        some = TrainingRows(**{name: array[wanted] for name, array in rows._asdict().items()})
        cut[size] = OrderedRows(some, order[wanted] - start)
    return cut


def scores_drawn(ring: Ring, batches: int = 60) -> set[int]:
    keys = (torch.tensor(key) for key in range(batches))
    return {int(score) for key in keys for score in ring.draw(64, key).score}


def all_scores_drawn(replay: ReplayBuffer) -> set[int]:
    with_rows = (ring for ring in replay.rings.values() if ring.window)
    return set().union(*(scores_drawn(ring) for ring in with_rows))


@pytest.mark.parametrize("size", [Size(3, 3), SIX, Size(4, 6)])
def test_turned_rows_are_the_rows_of_turned_positions(size: Size) -> None:
    positions = positions_of_random_games(3, 40, (size,))
    found = rows_of(positions, 3)
    replay = new_buffer(len(positions), (size,))
    replay.add(found)
    for symmetry in Symmetry:
        batch = replay.rings[size].gathered(
            torch.arange(len(positions)), torch.full((len(positions),), int(symmetry))
        )
        # A turned rectangle may not have another shape.
        real = symmetry if size.width == size.height else Symmetry(symmetry & 3)
        expected = encode(KATAGO, [position.transformed(real) for position in positions])
        np.testing.assert_array_equal(batch.planes.numpy(), expected.planes, symmetry.name)
        np.testing.assert_array_equal(batch.globals.numpy(), expected.globals)
        check_turned_targets(batch, found[size].rows, real, size)


def check_turned_targets(
    batch: TrainingBatch, rows: TrainingRows, symmetry: Symmetry, size: Size
) -> None:
    """What a target says of a point of a board it says of the point this one is turned to."""
    for x in range(size.width):
        for y in range(size.height):
            to = symmetry.point((x, y), size)
            move, turned_move = y * size.width + x, to.y * symmetry.size(size).width + to.x
            for target, stored in ((batch.policy, rows.policy), (batch.reply, rows.reply)):
                np.testing.assert_array_equal(target[:, turned_move], stored[:, move])
            np.testing.assert_array_equal(batch.ownership[:, to.y, to.x], rows.ownership[:, y, x])
    np.testing.assert_array_equal(batch.policy[:, -1], rows.policy[:, -1])


def test_all_symmetries_are_drawn_and_none_where_none_are_wanted() -> None:
    rows = part(some_rows(12), 11, 12)
    for symmetries, kinds in ((True, 8), (False, 1)):
        replay = new_buffer(4, symmetries=symmetries)
        replay.add(rows)
        replay.set_window(1)
        batch = replay.rings[SIX].draw(256, torch.tensor(1))
        assert len(np.unique(batch.policy.numpy(), axis=0)) == kinds


def test_only_the_window_is_drawn_from_and_all_of_it() -> None:
    rows, replay = some_rows(50), new_buffer(40)
    replay.add(part(rows, 0, 30))
    replay.set_window(10)
    assert all_scores_drawn(replay) == set(range(20, 30))
    replay.add(part(rows, 30, 50))  # over the first ten
    assert all_scores_drawn(replay) == set(range(20, 30)), "the window moved by itself"
    replay.set_window(1000)
    assert replay.window == 40
    assert all_scores_drawn(replay) == set(range(10, 50))
    replay.set_window(15)
    assert all_scores_drawn(replay) == set(range(35, 50))


def test_more_rows_than_there_is_room_for_leave_the_last() -> None:
    replay = new_buffer(16)
    assert replay.add(some_rows(50)) == 50
    replay.set_window(50)
    assert (replay.total, replay.window) == (50, 16)
    assert all_scores_drawn(replay) == set(range(34, 50))


def test_a_key_says_what_is_drawn_wherever_the_rows_lie() -> None:
    rows = some_rows(30)
    one, other = new_buffer(30), new_buffer(37)
    one.add(rows)
    other.add(part(rows, 0, 25))  # so that the rest wraps around
    other.add(rows)
    for replay in (one, other):
        replay.set_window(30)
    for mine, theirs in zip(
        one.rings[SIX].draw(64, torch.tensor(7)),
        other.rings[SIX].draw(64, torch.tensor(7)),
        strict=True,
    ):
        assert torch.equal(mine, theirs)
    first, again = (one.rings[SIX].draw(64, torch.tensor(key)) for key in (7, 8))
    assert not torch.equal(again.score, first.score)


def test_rows_are_drawn_evenly() -> None:
    replay = new_buffer(50)
    replay.add(some_rows(50))
    replay.set_window(50)
    drawn = torch.cat([replay.rings[SIX].draw(500, torch.tensor(key)).score for key in range(100)])
    counts = np.bincount(drawn.numpy().astype(int), minlength=50)
    # 1000 each, give or take 5 times √1000.
    assert counts.min() > 840
    assert counts.max() < 1160


def test_rows_that_are_not_finite_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    found, replay = some_rows(20), new_buffer(20)
    found[SIX].rows.lead[3] = np.nan
    found[SIX].rows.policy[5, 2] = np.inf
    assert replay.add(found) == 18
    replay.set_window(20)
    assert all_scores_drawn(replay) == set(range(20)) - {3, 5}
    assert "left out 2 rows" in capsys.readouterr().err


def test_boards_that_were_not_announced_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rows of 5x5 boards, but sizes are 6x6"):
        new_buffer(20).add(some_rows(20, (FIVE,)))
    with pytest.raises(ValueError, match=r"rows of 4x5 boards"):
        new_buffer(20, (FIVE, SIX)).add(some_rows(20, (Size(4, 5),)))


SIZES = (FIVE, SIX, Size(4, 6))


def test_the_window_is_of_the_latest_rows_whatever_their_sizes() -> None:
    found, replay = some_rows(300, SIZES), new_buffer(1000, SIZES)
    assert replay.add(part(found, 0, 180)) == 180
    replay.set_window(90)
    assert all_scores_drawn(replay) == set(range(90, 180))
    replay.add(part(found, 180, 300))
    assert all_scores_drawn(replay) == set(range(90, 180)), "the window moved by itself"
    replay.set_window(170)
    assert (replay.total, replay.window) == (300, 170)
    assert all_scores_drawn(replay) == set(range(130, 300))
    for size, ring in replay.rings.items():
        assert ring.window == (found[size].order >= 130).sum()
        assert ring.draw(4, torch.tensor(1)).planes.shape == (4, 22, size.height, size.width)


def test_it_does_not_matter_in_what_portions_rows_come() -> None:
    found = some_rows(200, SIZES)
    at_once, bit_by_bit = new_buffer(400, SIZES), new_buffer(400, SIZES)
    at_once.add(found)
    for start in range(0, 200, 7):
        bit_by_bit.add(part(found, start, start + 7))
    for replay in (at_once, bit_by_bit):
        replay.set_window(77)
    for size in SIZES:
        one, other = (r.rings[size].draw(64, torch.tensor(9)) for r in (at_once, bit_by_bit))
        assert torch.equal(one.score, other.score)
    for step in range(50):
        assert at_once.size_at(step) == bit_by_bit.size_at(step)


def test_sizes_alternate_in_proportion_to_their_rows() -> None:
    replay = new_buffer(3000, SIZES)
    found = some_rows(900, (FIVE, FIVE, FIVE, SIX, SIX, Size(4, 6)))
    replay.add(found)
    replay.set_window(600)
    steps = 6000
    drawn = [replay.size_at(step) for step in range(1000, 1000 + steps)]
    for size, count in Counter(drawn).items():
        share = (found[size].order >= 300).sum() / 600
        assert count == pytest.approx(share * steps, abs=4)  # at random it would be 35
        pauses = [b - a for a, b in pairwise(k for k, s in enumerate(drawn) if s == size)]
        assert max(pauses) < 3 / share


def test_a_size_without_rows_is_never_drawn() -> None:
    replay = new_buffer(100, SIZES)
    with pytest.raises(ValueError, match="add rows"):
        replay.size_at(0)
    replay.add(some_rows(20, (SIX,)))
    replay.set_window(20)
    assert {replay.size_at(step) for step in range(100)} == {SIX}


def test_room_is_shared_by_the_rows_expected() -> None:
    replay = ReplayBuffer(1000, {FIVE: 10, SIX: 25, Size(7, 7): 65}, KATAGO)
    assert [ring.capacity for ring in replay.rings.values()] == [200, 500, 1000]
    alone = ReplayBuffer(1000, {SIX: 3}, KATAGO)
    assert alone.rings[SIX].capacity == 1000
