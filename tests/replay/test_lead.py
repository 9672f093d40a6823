from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.replay.lead import Judged, KomiSearch

AREA = 81


def even_komi(
    komi: float, margins: NDArray[np.float64], *, in_steps_of_two: bool, bias: float = 0.0
) -> tuple[float, list[float]]:
    """The komi found where Black's margins before komi are these, and all that were judged.

    The lead that searches see is wrong by `bias`.
    """
    steps = KomiSearch(komi, AREA, in_steps_of_two=in_steps_of_two).steps()
    asked, judged = [], None
    while True:
        try:
            asked.append(next(steps) if judged is None else steps.send(judged))
        except StopIteration as end:
            return end.value, asked
        value = np.mean(np.sign(margins - asked[-1]))
        judged = Judged(float(value), float(np.mean(margins)) - asked[-1] + bias)


@pytest.mark.parametrize("komi", [-30.0, 0.0, 6.5, 7.0, 60.0])
@pytest.mark.parametrize("margin", [-81, -20, -1, 0, 7, 40, 81])
def test_the_komi_of_a_certain_result_is_its_margin(komi: float, margin: int) -> None:
    for in_steps_of_two in (False, True):
        found, asked = even_komi(komi, np.array([margin]), in_steps_of_two=in_steps_of_two)
        assert found == margin
        assert len(asked) < 8


@pytest.mark.parametrize("bias", [-6.0, 0.0, 6.0])
@pytest.mark.parametrize("spread", [1.0, 4.0, 15.0])
@pytest.mark.parametrize("mean", [-11.3, -0.6, 0.0, 3.7, 24.0])
def test_the_komi_of_uncertain_results_is_their_middle(
    mean: float, spread: float, bias: float
) -> None:
    """Counts of a full board of 81 points are odd: winners change at every other komi only."""
    draws = np.random.default_rng(1).normal(mean, spread, 20_000)
    odd = 2 * np.floor(draws / 2) + 1
    found, asked = even_komi(5.0, odd, in_steps_of_two=True, bias=bias)
    assert found == pytest.approx(mean, abs=0.35 + spread / 100)
    found, _ = even_komi(5.0, np.rint(draws), in_steps_of_two=False, bias=bias)
    assert found == pytest.approx(mean, abs=0.35 + spread / 100)
    assert len(asked) < 20
    assert all(komi * 2 == round(komi * 2) for komi in asked)
    assert len(set(asked)) == len(asked)


def test_the_search_for_a_komi_ends_where_one_side_always_wins() -> None:
    for sign in (-1, 1):
        steps = KomiSearch(0.0, AREA, in_steps_of_two=True).steps()
        asked, found = [next(steps)], None
        while found is None and len(asked) < 40:
            try:
                asked.append(steps.send(Judged(sign, sign * 500.0)))
            except StopIteration as end:
                found = end.value
        assert found == sign * (AREA + 20)
        assert all(abs(komi) <= AREA + 20 for komi in asked)
