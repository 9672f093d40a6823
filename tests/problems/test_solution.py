"""Answers to all moves: right ones, refuted ones, and what the opponent plays."""

from __future__ import annotations

import pytest

from tengen.game.color import Color
from tengen.problems.solution import End, Examination, OpponentReply, Refuted, SolverOutcome
from tengen.problems.solver import RegionSolver
from tests.problems.shapes import drawn, eye_space

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module")
def solver() -> RegionSolver:
    return RegionSolver(table=1 << 16)


def test_three_in_a_row_has_one_right_move_for_either_side(solver: RegionSolver) -> None:
    position, question = eye_space("###")
    middle, side = position.point("E8"), position.point("D8")
    living = Examination(question, Color.BLACK, solver).turn(position)
    assert living.right == {middle: End.EYES}
    assert living.wrong[side] == Refuted(middle, SolverOutcome.FAILURE)
    assert living.elsewhere == Refuted(middle, SolverOutcome.FAILURE)
    killing = Examination(question, Color.WHITE, solver).turn(position)
    assert killing.right == {middle: End.DEAD}
    assert killing.wrong[side] == Refuted(middle, SolverOutcome.FAILURE)


def test_the_opponent_resists_where_it_must_be_answered(solver: RegionSolver) -> None:
    """Black lives in the rabbity six at its vital point; White can still try to take an eye."""
    position, question = eye_space("##\n###\n #")
    vital = position.point("E7")
    turn = Examination(question, Color.BLACK, solver).turn(position)
    reply = turn.right[vital]
    if isinstance(reply, OpponentReply):
        after = position.play(vital, Color.BLACK).play(reply.move, Color.WHITE)
        assert set(reply.then.right) <= set(question.region.points)
        assert all(after.is_legal(move, Color.BLACK) for move in reply.then.right)
    else:
        assert reply in (End.EYES, End.SAFE)


def test_a_ko_is_less_than_success(solver: RegionSolver) -> None:
    """The rectangular six in the corner with one liberty outside: White can make it a ko."""
    position, question = drawn(
        """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O O O O O . . .
        X X X X O O . . .
        . . . X . O . . .
        . . . X O O . . .
        """,
        "A3",
    )
    black = Examination(question, Color.BLACK, solver)
    white = Examination(question, Color.WHITE, solver)
    assert black.outcome(position, Color.BLACK) is SolverOutcome.SUCCESS
    assert black.outcome(position, Color.WHITE) is SolverOutcome.KO
    assert white.outcome(position, Color.WHITE) is SolverOutcome.KO
    # Black may leave it, and have a ko.
    assert black.turn(position).elsewhere.outcome is SolverOutcome.KO


def test_captured_stones_end_the_question(solver: RegionSolver) -> None:
    position, question = drawn(
        """
        . . . . . .
        . O O O . .
        . O X . . .
        . O O O . .
        . . . . . .
        . . . . . .
        """,
        "C4",
    )
    # Not enclosed: the region is open to the right, so it cannot be asked.
    examination = Examination(question, Color.WHITE, solver)
    after = position.play("D4", Color.WHITE)
    assert question.is_captured(after)
    assert examination.outcome(after) is SolverOutcome.SUCCESS
    assert examination.end(after, SolverOutcome.SUCCESS) is End.CAPTURED
