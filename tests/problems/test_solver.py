"""The exhaustive search, against what textbooks say of well-known shapes."""

from __future__ import annotations

import pytest

from tengen.game.color import Color
from tengen.game.position import Position
from tengen.problems.region import Region
from tengen.problems.solution import End, Examination, SolverOutcome
from tengen.problems.solver import Fate, Question, RegionSolver, UnsolvedError, moves_in
from tests.problems.shapes import drawn, eye_space, question_about

pytestmark = pytest.mark.kernel

CAPTURED, KO, SAFE = Fate.CAPTURED, Fate.KO, Fate.SAFE
DEAD, ALIVE, OPEN = (CAPTURED, CAPTURED), (SAFE, SAFE), (SAFE, CAPTURED)


@pytest.fixture(scope="module")
def solver() -> RegionSolver:
    return RegionSolver(table=1 << 16)


# The fates of eye spaces in the middle of the board without liberties outside, if the owner moves
# first and if the opponent does (J. Davies, Life and Death, chapter 1).
SHAPES = {
    "one point": ("#", DEAD),
    "two in a row": ("##", DEAD),
    "straight three": ("###", OPEN),
    "bent three": ("##\n#", OPEN),
    "square four": ("##\n##", DEAD),
    "straight four": ("####", ALIVE),
    "bent four": ("###\n#", ALIVE),
    "zigzag four": ("##\n ##", ALIVE),
    "pyramid four": ("###\n #", OPEN),
    "straight five": ("#####", ALIVE),
    "bulky five": ("##\n###", OPEN),
    "crossed five": (" #\n###\n #", OPEN),
    "T of five": ("###\n #\n #", ALIVE),
    "rabbity six": ("##\n###\n #", OPEN),
    "rectangular six": ("###\n###", ALIVE),
}


@pytest.mark.parametrize("name", SHAPES)
def test_eye_spaces_have_the_fate_that_textbooks_say(name: str, solver: RegionSolver) -> None:
    picture, (first, second) = SHAPES[name]
    position, question = eye_space(picture)
    assert solver.fate(question, position, Color.BLACK) is first
    assert solver.fate(question, position, Color.WHITE) is second


# The only points that take two eyes away there. Who plays them first lives.
VITAL = {
    "straight three": "E8",
    "bent three": "D8",
    "pyramid four": "E8",
    "bulky five": "E7",
    "crossed five": "E7",
    "rabbity six": "E7",
}


@pytest.mark.parametrize("name", VITAL)
def test_the_vital_point_decides(name: str, solver: RegionSolver) -> None:
    position, question = eye_space(SHAPES[name][0])
    killing = [
        position.text(move)
        for move, after in moves_in(question.region, position, Color.WHITE)
        if solver.fate(question, after) is CAPTURED
    ]
    assert killing == [VITAL[name]]
    assert solver.fate(question, position.play(VITAL[name], Color.BLACK)) is SAFE


CORNER = """
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
{0}
{1}
{2}
{3}
"""


# The rectangular six in the corner: dead, a ko or alive, by its liberties outside
# (Sensei's Library, "Rectangular six in the corner").
@pytest.mark.parametrize(
    ("rows", "second"),
    [
        (
            ("O O O O O . . . .", "X X X X O . . . .", ". . . X O . . . .", ". . . X O . . . ."),
            CAPTURED,
        ),
        (("O O O O O O . . .", "X X X X O O . . .", ". . . X . O . . .", ". . . X O O . . ."), KO),
        (
            ("O O O O O O . . .", "X X X X . O . . .", ". . . X . O . . .", ". . . X O O . . ."),
            SAFE,
        ),
    ],
    ids=["none", "one", "two"],
)
def test_rectangular_six_in_the_corner(
    rows: tuple[str, ...], second: Fate, solver: RegionSolver
) -> None:
    position, question = drawn(CORNER.format(*rows), "A3")
    assert solver.fate(question, position, Color.BLACK) is SAFE
    assert solver.fate(question, position, Color.WHITE) is second


def on_second_line(count: int, first: int) -> tuple[Position, Question]:
    """Black stones in a row on the second line of 13x13, White tightly around them."""
    last = first + count
    black = [(x, 11) for x in range(first, last)]
    near = [(x, 10) for x in range(max(0, first - 1), last + 1)]
    ends = [(x, y) for x in (first - 1, last) for y in (11, 12) if x >= 0]
    position = Position(13, "chinese").set_up(black, near + ends, to_play=Color.BLACK)
    return position, question_about(position, position.text(black[0]))


# "Six die, eight live; in the corner four die, six live": proverbs of the second line.
@pytest.mark.parametrize(
    ("count", "first", "fates"),
    [
        (6, 2, DEAD),
        (7, 2, OPEN),
        (8, 2, ALIVE),
        (4, 0, DEAD),
        (5, 0, OPEN),
        (6, 0, ALIVE),
    ],
)
def test_rows_on_the_second_line_have_the_fate_of_the_proverbs(
    count: int, first: int, fates: tuple[Fate, Fate], solver: RegionSolver
) -> None:
    position, question = on_second_line(count, first)
    assert solver.fate(question, position, Color.BLACK) is fates[0]
    assert solver.fate(question, position, Color.WHITE) is fates[1]


SEKI = """
. . . . . . . . . .
. O O O O O O O O .
O O X X X X X X O O
O X X O O O O X X O
O X . O O O O . X O
O X X X X X X X X O
O O O O O O O O O O
. . . . . . . . . .
"""


def test_whoever_moves_first_in_a_seki_the_stones_are_safe(solver: RegionSolver) -> None:
    """Two liberties are shared; White's eight stones, once captured, leave more than two eyes."""
    position, question = drawn(SEKI, "B4")
    assert not question.has_eyes(position)
    assert solver.fate(question, position, Color.BLACK) is SAFE
    assert solver.fate(question, position, Color.WHITE) is SAFE
    examination = Examination(question, Color.BLACK, solver)
    assert examination.end(position, SolverOutcome.SUCCESS) is End.SEKI


def test_a_connection_to_what_is_safe_saves(solver: RegionSolver) -> None:
    position = Position.from_diagram(
        """
        . . . . . .
        O O X O O .
        . O . O . .
        . O X O . .
        . O O O . .
        . . . . . .
        """,
        Color.BLACK,
        rules="chinese",
    )
    question = question_about(position, "C3", lambda at: at != position.point("C3"))
    assert question.region.points == {position.point("C3"), position.point("C4")}
    assert solver.fate(question, position, Color.BLACK) is SAFE
    assert solver.fate(question, position, Color.WHITE) is CAPTURED
    assert question.is_connected(position.play("C4"))


def test_a_search_that_is_too_large_says_so() -> None:
    position, question = on_second_line(9, 2)
    with pytest.raises(UnsolvedError, match="too large"):
        RegionSolver(most_positions=3).fate(question, position, Color.WHITE)


def test_a_region_must_be_enclosed(solver: RegionSolver) -> None:
    position, question = eye_space("###")
    less = Region(position.size, question.region.points - {position.point("D8")})
    with pytest.raises(ValueError, match="D8 beside the region is empty"):
        solver.fate(Question(less, question.stones, Color.BLACK), position)
