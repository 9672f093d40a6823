"""Tries at problems, whatever they are: each is answered."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from tengen.frontends.web.learn.problem_play import ProblemJudge, by_id
from tengen.frontends.web.limits import RefusedError
from tengen.problems.problem_files import shipped_problems

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module")
def judge() -> ProblemJudge:
    return ProblemJudge()


def test_moves_elsewhere_may_open_the_region(judge: ProblemJudge) -> None:
    """C2 and A2 take the last liberties of White's chain beside the region."""
    problem = by_id(shipped_problems())["18bd7d135c73"]
    view = judge.tried_view(problem, ["B1", "C2", "pass", "A2"])
    assert view["said"] == "no_answer"
    assert not view["right"]
    assert not view["solved"]


def test_any_moves_are_answered(judge: ProblemJudge) -> None:
    random = Random(4)
    for problem in random.sample(shipped_problems(), 8):
        height, width = problem.size.height, problem.size.width
        points = [problem.position.text((x, y)) for x in range(width) for y in range(height)]
        moves = random.choices([*points, "pass"], k=20)
        for count in range(1, len(moves), 6):
            with suppress(RefusedError):  # it is solved before
                assert judge.tried_view(problem, moves[:count])["said"]
