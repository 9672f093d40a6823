"""Speed of searches."""

from __future__ import annotations

from tengen.engine.search_rate import Rate


def test_evaluations_are_counted_by_visit() -> None:
    assert Rate(1, visits=200, evaluations=150).evaluations_per_visit == 0.75
