"""Problems as lines of a file: written, read back, and refused where they are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.game.color import Color
from tengen.game.geometry import Symmetry
from tengen.game.position import Position
from tengen.problems.checking import why_wrong
from tengen.problems.problem import Problem, rows_of, shape_of
from tengen.problems.problem_files import (
    ProblemFileError,
    problem_from_line,
    problem_line,
    read_problems,
    write_problems,
)
from tengen.problems.region import Region
from tengen.problems.solution import Examination
from tengen.problems.solver import Question, RegionSolver
from tests.problems.shapes import eye_space, question_about

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module")
def solver() -> RegionSolver:
    return RegionSolver(table=1 << 16)


def made(picture: str, color: Color, solver: RegionSolver) -> Problem:
    position, question = eye_space(picture)
    answers = Examination(question, color, solver).turn(position)
    return Problem(
        rows_of(position), color, 0.5, question, False, answers, 2, "casual", {"net": (0.9, -0.8)}
    )


def test_a_problem_comes_back_as_it_was(solver: RegionSolver, tmp_path: Path) -> None:
    problems = [made("###", Color.BLACK, solver), made(" #\n###\n #", Color.WHITE, solver)]
    write_problems(tmp_path / "some.jsonl", problems)
    assert read_problems(tmp_path / "some.jsonl") == problems
    assert all(why_wrong(each, solver) is None for each in problems)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"stones": "X.X"}, "off the board"),
        ({"asked": "A1"}, "no chain"),
        ({"region": ""}, "region has points"),
        ({"play": "green"}, "not a colour"),
        ({"grade": 9}, "no grade"),
        ({"answers": {"right": {"E8": "glory"}, "wrong": {}, "elsewhere": "-"}}, "glory"),
        ({"answers": {"right": {"E8": ["D8"]}, "wrong": {}, "elsewhere": "-"}}, "no reply"),
        ({"answers": {"right": {}, "wrong": {"E8": "D8 D8"}, "elsewhere": "-"}}, "no refutation"),
        ({"answers": {"right": {}, "wrong": {"Z99": "D8"}, "elsewhere": "-"}}, "Z99|off"),
        ({"answers": None}, "subscriptable"),
    ],
)
def test_lines_that_are_no_problems_are_refused_by_number(
    change: dict[str, object], what: str, solver: RegionSolver, tmp_path: Path
) -> None:
    line = problem_line(made("###", Color.BLACK, solver))
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n" + json.dumps({**json.loads(line), **change}) + "\n")
    with pytest.raises(ProblemFileError, match=r"line 2: not a problem") as refused:
        read_problems(path)
    assert any(each in str(refused.value) for each in what.split("|"))


@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", "null", '{"stones": 5}'])
def test_what_is_no_json_of_a_problem_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(ProblemFileError, match="line 1"):
        read_problems(tmp_path / "bad.jsonl")


def test_a_problem_whose_answers_are_wrong_is_found(solver: RegionSolver) -> None:
    line = json.loads(problem_line(made("###", Color.BLACK, solver)))
    right, wrong = line["answers"]["right"], line["answers"]["wrong"]
    other = next(iter(wrong))
    line["answers"] = {
        "right": {other: "eyes"},
        "wrong": {**{move: reply for move, reply in wrong.items() if move != other}, "E8": "D8"},
        "elsewhere": line["answers"]["elsewhere"],
    }
    assert set(right) == {"E8"}
    told = why_wrong(problem_from_line(json.dumps(line)), solver)
    assert told is not None
    assert "other moves are right" in told


def test_shapes_are_the_same_in_all_symmetries_and_with_colours_exchanged() -> None:
    position, question = eye_space("##\n###\n #")
    shape = shape_of(position, question)
    for symmetry in Symmetry:
        turned = position.transformed(symmetry)
        stone = symmetry.point(min(question.stones), position.size)
        assert shape_of(turned, question_about(turned, turned.text(stone))) == shape
    exchanged = _with_colours_exchanged(position)
    assert (
        shape_of(exchanged, question_about(exchanged, position.text(min(question.stones)))) == shape
    )
    white_first = position.set_up(to_play=Color.WHITE)
    assert shape_of(white_first, question) != shape


def test_what_is_far_away_makes_no_other_shape() -> None:
    position, question = eye_space("###")
    more = position.set_up(black=["A1"], to_play=Color.BLACK)
    assert shape_of(more, question) == shape_of(position, question)
    near = Question(
        Region(position.size, question.region.points), question.stones, question.defender
    )
    assert shape_of(position, near) == shape_of(position, question)


def _with_colours_exchanged(position: Position) -> Position:
    stones = {
        color: [
            (x, y)
            for y in range(position.height)
            for x in range(position.width)
            if position.at((x, y)) is color
        ]
        for color in Color
    }
    empty = Position(position.size, position.rules, position.komi)
    return empty.set_up(stones[Color.WHITE], stones[Color.BLACK], to_play=position.to_play.opponent)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_bytes(b"\x8e\xff")
    with pytest.raises(ProblemFileError, match=r"problems\.jsonl: no problems"):
        read_problems(path)
