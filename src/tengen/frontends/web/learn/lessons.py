"""Lessons as data, and what becomes of tries at their boards.

The server keeps no state: a request has all tries so far, and they are judged anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tengen.frontends.web.learn.boards_as_json import Json, board_view
from tengen.frontends.web.learn.verdicts import (
    MOVES,
    PASS,
    Board,
    Try,
    Verdict,
    board_from,
    illegal_verdict,
    number_verdict,
    pass_verdict,
    tap_verdict,
)
from tengen.frontends.web.limits import RefusedError
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError

FILE = Path(__file__).with_name("lessons.toml")
MOST_TRIES = 60  # of one board


@dataclass(frozen=True)
class Lesson:
    """A few boards about one thing."""

    id: str
    boards: tuple[Board, ...]


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons in order."""
    content = tomllib.loads(FILE.read_text("utf-8"))
    return tuple(
        Lesson(each["id"], tuple(map(board_from, each["board"]))) for each in content["lesson"]
    )


def lessons_view() -> Json:
    """All lessons as JSON: what the page shows before anything is tried."""
    return {
        "lessons": [
            {"id": lesson.id, "boards": [_board_content(each) for each in lesson.boards]}
            for lesson in lessons()
        ]
    }


def _board_content(board: Board) -> Json:
    marked = [board.stone] if board.stone is not None and board.goals[0] not in ("number",) else []
    return {
        **board_view(board.start, marked),
        "goal": board.goals[0],
        "choices": list(board.choices),
        "offered": list(board.offered),
        "hint": board.solution[0],
    }


def board_of(lesson: str, number: int) -> Board:
    """A board of a lesson, from 1; raises RefusedError."""
    found = next((each for each in lessons() if each.id == lesson), None)
    if found is None or not 1 <= number <= len(found.boards):
        raise RefusedError("no_lesson", "there is no such lesson")
    return found.boards[number - 1]


class LessonProgress:
    """The state of a board while tries are made."""

    def __init__(self, board: Board) -> None:
        self.board, self.position = board, board.start
        self.step = 0  # of the goals
        self.tapped: frozenset[Point] = frozenset()
        self.verdict: Verdict | None = None

    @property
    def is_done(self) -> bool:
        return self.step == len(self.board.goals)

    def attempt(self, text: str) -> None:
        """Judge a try; raises RefusedError for what is none."""
        goal = self.board.goals[self.step]
        if goal == "number":
            self._note(number_verdict(self.board, _number(text)))
        elif goal == "tap":
            point = self._point(text)
            self._note(tap_verdict(self.board, self.tapped, point))
            if self.verdict is not None and self.verdict.right:
                self.tapped |= {point}
        else:
            self._play(goal, text)

    def _play(self, goal: str, text: str) -> None:
        board, before = self.board, self.position
        if text == PASS:
            self._note(
                Verdict(False, "no_pass") if goal != PASS else pass_verdict(board, True, None)
            )
            return
        move = self._point(text)
        try:
            after = before.play(move)
        except IllegalMoveError as error:
            self._note(illegal_verdict(error))
            return
        if goal == PASS:
            verdict = pass_verdict(board, False, move)
        else:
            verdict = MOVES[goal](Try(board, before, move, after))
        self.position = after if verdict.reply is None else after.play(verdict.reply)
        self._note(verdict)

    def _note(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.step += verdict.done

    def _point(self, text: str) -> Point:
        try:
            return self.position.point(text)
        except ValueError as error:
            raise RefusedError("bad_point", str(error)) from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 4):
        raise RefusedError("bad_point", "a number is asked for")
    return int(text)


def tried_view(lesson: str, number: int, tries: Sequence[str]) -> Json:
    """What becomes of tries at a board, of which the last one may be wrong; raises RefusedError."""
    progress = LessonProgress(board_of(lesson, number))
    if not 1 <= len(tries) <= MOST_TRIES:
        raise RefusedError("bad_point", "nothing was tried")
    for each in tries:
        if progress.is_done or (progress.verdict is not None and not progress.verdict.right):
            raise RefusedError("not_now", "the board is solved, or the last try was wrong")
        progress.attempt(each)
    verdict = progress.verdict
    assert verdict is not None
    position = progress.position
    return {
        **board_view(position, progress.tapped),
        "right": verdict.right,
        "done": progress.is_done,
        "said": verdict.said,
        "values": dict(verdict.values),
        "reply": None if verdict.reply is None else position.text(verdict.reply),
        "still": verdict.said.startswith("illegal.") or position is progress.board.start,
    }
