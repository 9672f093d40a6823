"""Whether a problem is right: by the rules of the game, and by searching its region anew."""

from __future__ import annotations

from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.problems.problem import Problem
from tengen.problems.solution import (
    End,
    Examination,
    OpponentReply,
    Refuted,
    SolverOutcome,
    SolverTurn,
)
from tengen.problems.solver import RegionSolver, moves_in


class _WrongError(ValueError):
    """What is wrong with a problem."""


def why_wrong(problem: Problem, solver: RegionSolver) -> str | None:
    """What is wrong with a problem; None if nothing is.

    Its position is legal, its region enclosed, one move alone is right, each move of every turn is
    judged as the search judges it, and every refutation and reply does what it is said to do.
    """
    try:
        examination = Examination(problem.question, problem.to_play, solver)
        position = problem.position
        if len(problem.answers.right) != 1:
            raise _WrongError("not exactly one move is right")
        wanted = SolverOutcome.KO if problem.ko else SolverOutcome.SUCCESS
        if examination.outcome(position) is not wanted:
            raise _WrongError("what can be achieved is not what is said")
        if examination.outcome(position, problem.to_play.opponent) >= wanted:
            raise _WrongError("no move is needed")
        _check_turn(examination, position, problem.answers, wanted)
    except (_WrongError, IllegalMoveError, ValueError) as error:
        return str(error)
    return None


def _check_turn(
    examination: Examination, position: Position, turn: SolverTurn, wanted: SolverOutcome
) -> None:
    color, opponent = examination.color, examination.color.opponent
    found = examination.outcomes(position)
    right = {move for move, (outcome, _) in found.items() if outcome >= wanted}
    if right != set(turn.right):
        raise _WrongError(f"other moves are right: {_names(position, right ^ set(turn.right))}")
    if set(found) - right != set(turn.wrong):
        raise _WrongError("not all wrong moves are answered")
    for move, refuted in turn.wrong.items():
        after = position.play(move, color)
        if found[move][0] is not refuted.outcome:
            raise _WrongError(f"{position.text(move)} leaves something else")
        _check_refuted(examination, after, refuted)
    _check_refuted(examination, position, turn.elsewhere)
    for move, reply in turn.right.items():
        after = position.play(move, color)
        if isinstance(reply, End):
            if examination.end(after, wanted) is not reply:
                raise _WrongError(f"{position.text(move)} does not end as is said")
        else:
            _check_reply(examination, after, reply, wanted)
        if isinstance(reply, OpponentReply):
            _check_turn(examination, after.play(reply.move, opponent), reply.then, wanted)


def _check_refuted(examination: Examination, after: Position, refuted: Refuted) -> None:
    if examination.outcome(after, examination.color.opponent) is not refuted.outcome:
        raise _WrongError("a refutation leaves something else")
    if refuted.move is not None:
        position = after.play(refuted.move, examination.color.opponent)
        if examination.outcome(position, examination.color) > refuted.outcome:
            raise _WrongError(f"{after.text(refuted.move)} refutes nothing")


def _check_reply(
    examination: Examination, after: Position, reply: OpponentReply, wanted: SolverOutcome
) -> None:
    """A reply must be answered, and can be."""
    opponent = examination.color.opponent
    position = after.play(reply.move, opponent)
    if examination.outcome(position, opponent) >= wanted:
        raise _WrongError(f"{after.text(reply.move)} need not be answered")
    legal = dict(moves_in(examination.question.region, position, examination.color))
    if not legal.keys() & reply.then.right.keys():
        raise _WrongError(f"{after.text(reply.move)} cannot be answered")


def _names(position: Position, moves: set[Point]) -> str:
    return ", ".join(sorted(map(position.text, moves)))
