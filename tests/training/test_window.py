from __future__ import annotations

from itertools import pairwise

import pytest

from tengen.training.params import WindowParams, window_size

PARAMS = WindowParams(start=1000, exponent=0.75, scale=0.4)


@pytest.mark.parametrize("rows", [0, 1, 999, 1000])
def test_everything_is_learned_from_at_the_start(rows: int) -> None:
    assert window_size(rows, PARAMS) == rows


def test_the_window_is_kata_gos_power_of_all_rows() -> None:
    # 16 times the start: 16 ** 0.75 = 8, so 1 + 0.4 * 7 / 0.75 times the start.
    assert window_size(16_000, PARAMS) == int(1000 * (1 + 0.4 * 7 / 0.75))


def test_at_the_start_it_grows_by_the_scale() -> None:
    grown = window_size(1_010_000, WindowParams(start=1_000_000)) - 1_000_000
    assert grown == pytest.approx(4000, rel=0.01)


def test_it_grows_ever_slower_and_never_shrinks() -> None:
    sizes = [window_size(rows, PARAMS) for rows in range(0, 100_000, 1000)]
    steps = [later - earlier for earlier, later in pairwise(sizes[1:])]
    assert min(steps) > 0
    assert steps[0] > steps[10] > steps[50] > steps[-1]


def test_it_never_asks_for_rows_that_are_not_there() -> None:
    greedy = WindowParams(start=10, exponent=1.0, scale=3.0)
    assert window_size(1000, greedy) == 1000
