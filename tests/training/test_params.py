"""Parameters that cannot be are refused by name; the rate over a run."""

from __future__ import annotations

from typing import Any

import pytest

from tengen.training.params import TrainingParams, rate_at, steps_allowed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer", "adam"),
        ("schedule", "linear"),
        ("batch", 0),
        ("samples_per_row", -1.0),
        ("rate", float("nan")),
        ("beta2", 1.0),
        ("ema", 1.5),
        ("clip", 0.0),
        ("search_share", 1.1),
        ("policy_weight", float("inf")),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        TrainingParams(**{name: value})


def test_the_rate_warms_up_stays_and_falls_to_two_hundredths() -> None:
    params = TrainingParams(rate=1.0, warm_up=100)
    assert rate_at(params, 0, 0.0) == pytest.approx(0.01)
    assert rate_at(params, 49, 0.0) == pytest.approx(0.5)
    assert rate_at(params, 5000, 0.5) == pytest.approx(1)
    assert rate_at(params, 5000, 0.75) == pytest.approx(0.51)
    assert rate_at(params, 5000, 1.0) == pytest.approx(0.02)
    assert rate_at(params, 5000, 1.2) == pytest.approx(0.02)


def test_the_other_schedules() -> None:
    steps = TrainingParams(rate=1.0, warm_up=0, schedule="steps")
    rates = [rate_at(steps, 0, share) for share in (0.0, 0.59, 0.61, 0.84, 0.86, 1.0)]
    assert rates == pytest.approx([1, 1, 0.1, 0.1, 0.01, 0.01])
    constant = TrainingParams(rate=1.0, warm_up=0, schedule="constant")
    assert {rate_at(constant, 0, share) for share in (0.0, 0.5, 1.0)} == {1.0}


def test_steps_keep_to_the_samples_each_row_may_give() -> None:
    assert steps_allowed(TrainingParams(batch=100, samples_per_row=4.0), 1000) == 40
