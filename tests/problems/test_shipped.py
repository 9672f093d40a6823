"""The problems that come with Tengen: how many, of which kinds, and that each one is right."""

from __future__ import annotations

from collections import Counter

import pytest

from tengen.engine.levels import LEVELS
from tengen.problems.checking import why_wrong
from tengen.problems.network_judgement import Margin, grade_of
from tengen.problems.problem import GRADES, Problem
from tengen.problems.problem_files import shipped_problems
from tengen.problems.solver import RegionSolver

SAMPLE = 7  # every so many are checked in each run of the suite


def test_there_are_hundreds_on_boards_of_all_sizes_and_of_all_grades() -> None:
    problems = shipped_problems()
    assert len(problems) >= 300
    sizes = Counter(max(each.size) for each in problems)
    assert set(sizes) == {7, 9, 13, 19}
    assert min(sizes.values()) >= 30
    assert set(Counter(each.grade for each in problems)) == set(GRADES)


def test_no_two_have_the_same_shape() -> None:
    ids = [each.id for each in shipped_problems()]
    assert len(ids) == len(set(ids))


def test_the_grade_follows_from_the_level_that_finds_the_move() -> None:
    known = {level.id for level in LEVELS}
    for problem in shipped_problems():
        assert problem.level in known
        assert problem.grade == grade_of(problem.level)


def test_networks_agree_where_no_ko_decides() -> None:
    for problem in shipped_problems():
        assert len(problem.margins) == (0 if problem.ko else 2)
        assert all(Margin(*each).decides for each in problem.margins.values())


def check(problems: tuple[Problem, ...]) -> None:
    solver = RegionSolver()
    found = {each.id: why_wrong(each, solver) for each in problems}
    assert {id_: why for id_, why in found.items() if why is not None} == {}


def test_some_of_them_are_right_by_the_rules_and_by_a_new_search() -> None:
    check(shipped_problems()[::SAMPLE])


@pytest.mark.long
def test_all_of_them_are_right_by_the_rules_and_by_a_new_search() -> None:
    check(shipped_problems())
