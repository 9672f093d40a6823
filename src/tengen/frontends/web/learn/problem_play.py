"""What becomes of tries at a problem: from its answers, else from the search of its region.

The server keeps no state: a request has all moves of the person so far.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from tengen.frontends.web.learn.boards_as_json import Json, board_view
from tengen.frontends.web.limits import RefusedError
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.problems.problem import Problem
from tengen.problems.solution import (
    End,
    Examination,
    OpponentReply,
    Refuted,
    SolverOutcome,
    SolverTurn,
)
from tengen.problems.solver import RegionSolver

MOST_MOVES = 40  # of the person
WHOLE = 9  # lines of a board that is always shown whole
LEAST_VIEW = 7  # lines
NEAR_EDGE = 2  # lines between a view and the edge that are shown, too
SOLVER_MOST, SOLVER_TABLE = 100_000, 1 << 18


class View(NamedTuple):
    """The part of a board that is shown, corners included."""

    left: int
    top: int
    right: int
    bottom: int


def view_of(problem: Problem) -> View:
    """What is shown of the board: the region and a little more, up to an edge that is near."""
    size = problem.size
    shown = problem.question.region.points | problem.question.region.border
    left, right = _span([x for x, _ in shown], size.width)
    top, bottom = _span([y for _, y in shown], size.height)
    return View(left, top, right, bottom)


def _span(values: Sequence[int], side: int) -> tuple[int, int]:
    if side <= WHOLE:
        return 0, side - 1
    low, high = max(0, min(values) - 1), min(side - 1, max(values) + 1)
    low, high = (
        (0 if low <= NEAR_EDGE else low),
        (side - 1 if side - 1 - high <= NEAR_EDGE else high),
    )
    lacking = LEAST_VIEW - (high - low + 1)
    if lacking > 0 and low == 0:
        high += lacking
    elif lacking > 0 and high == side - 1:
        low -= lacking
    elif lacking > 0:
        low, high = low - lacking // 2, high + (lacking + 1) // 2
    return max(0, low), min(side - 1, high)


def summary(problem: Problem) -> Json:
    """What lists say of a problem."""
    return {
        "id": problem.id,
        "size": max(problem.size),
        "grade": problem.grade,
        "task": _task(problem),
    }


def _task(problem: Problem) -> str:
    """What is asked for: live, kill, or either by a ko."""
    return ("live" if problem.defends else "kill") + ("_ko" if problem.ko else "")


def problem_view(problem: Problem) -> Json:
    """A problem as the page shows it before anything is tried."""
    stone = min(problem.question.stones)
    return {
        **summary(problem),
        **board_view(problem.position, problem.question.stones),
        "view": view_of(problem)._asdict(),
        "stone": problem.position.text(stone),
        "level": problem.level,
        "source": problem.source,
        "hint": problem.position.text(problem.solution),
    }


class ProblemJudge:
    """Judges tries. Thread-safe: one is judged after another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @cached_property
    def _solver(self) -> RegionSolver:
        return RegionSolver(SOLVER_MOST, SOLVER_TABLE)

    def tried_view(self, problem: Problem, moves: Sequence[str]) -> Json:
        """What becomes of moves, of which the last one was not judged yet; raises RefusedError."""
        if not 1 <= len(moves) <= MOST_MOVES:
            raise RefusedError("bad_point", "nothing was tried")
        with self._lock:
            trial = _Trial(problem, Examination(problem.question, problem.to_play, self._solver))
            for text in moves:
                if trial.ended:
                    raise RefusedError("not_now", "the problem is solved")
                trial.attempt(text)
            return trial.view()


class _Trial:
    """A problem while it is tried."""

    def __init__(self, problem: Problem, examination: Examination) -> None:
        self._problem, self._examination = problem, examination
        self.position = self._played = problem.position
        self._turn: SolverTurn | None = problem.answers  # None: off the answers that are known
        self._failed: SolverOutcome | None = None  # what is left after a wrong move
        self._said = ""
        self._reply: Point | None = None
        self.ended: End | None = None

    def attempt(self, text: str) -> None:
        """Judge a move and answer it; raises RefusedError for what is none."""
        move = self._point(text)
        self._reply = None
        try:
            self._played = self.position.play(move, self._problem.to_play)
        except IllegalMoveError as error:
            self._said = f"illegal.{error.reason}"
            self._played = self.position
            return
        self.position = self._played
        try:
            self._judge(move)
        except ValueError:  # given up, or moves elsewhere have opened the region
            self._turn, self._said = None, "no_answer"

    def _point(self, text: str) -> Point | None:
        try:
            return None if text == "pass" else self.position.point(text)
        except ValueError as error:
            raise RefusedError("bad_point", str(error)) from None

    def _judge(self, move: Point | None) -> None:
        turn = self._turn
        if turn is None:
            self._answer_freely()
        elif move is None:
            self._refuse(turn.elsewhere)
        elif move in turn.right:
            self._go_on(turn.right[move])
        else:
            self._refuse(turn.wrong.get(move, turn.elsewhere))

    def _go_on(self, after: OpponentReply | End) -> None:
        if isinstance(after, End):
            self.ended, self._said = after, f"end.{after}"
            return
        self._play_reply(after.move)
        self._turn, self._said = after.then, "right"

    def _refuse(self, refuted: Refuted) -> None:
        self._turn, self._failed = None, refuted.outcome
        self._play_reply(refuted.move)
        self._said = self._why()

    def _answer_freely(self) -> None:
        """The problem is lost already: the opponent shows why, as long as there is something to."""
        self._play_reply(self._examination.refuted(self.position).move)
        self._said = self._why()

    def _play_reply(self, move: Point | None) -> None:
        if move is not None:
            self.position = self.position.play(move, self._problem.to_play.opponent)
        self._reply = move

    def _why(self) -> str:
        """Why a move fails, as far as the board shows it."""
        question, position = self._problem.question, self.position
        if self._failed is SolverOutcome.KO and not self._problem.ko:
            return "only_ko"
        if self._problem.defends:
            return "was_captured" if question.is_captured(position) else "dies"
        if question.is_captured(position):
            return "right"
        if question.is_connected(position):
            return "connects"
        return "has_eyes" if question.has_eyes(position) else "lives"

    def view(self) -> Json:
        """What became of the last move."""
        right = self._failed is None and not self._said.startswith("illegal.")
        return {
            "after": board_view(self._played),
            **board_view(self.position),
            "right": right,
            "solved": self.ended is not None and self._failed is None,
            "said": self._said,
            "reply": None if self._reply is None else self.position.text(self._reply),
        }


def by_id(problems: Sequence[Problem]) -> Mapping[str, Problem]:
    """Problems by their names."""
    return {each.id: each for each in problems}
