"""Problems as lines of JSON, and those that come with Tengen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tengen.atomic_files import replace_file
from tengen.bounded_files import read_bounded
from tengen.game.color import parse_color
from tengen.game.geometry import Point, Size, parse_point, point_text
from tengen.problems.problem import GRADES, Problem, position_of
from tengen.problems.region import Region
from tengen.problems.solution import End, OpponentReply, Refuted, SolverOutcome, SolverTurn
from tengen.problems.solver import Question

SHIPPED = Path(__file__).with_name("shipped.jsonl")
NONE_NEEDED, THEN_KO = "-", "ko"
MOST_BYTES = 64_000_000  # of a file of problems
DEEPEST = 40  # turns of a solution


class ProblemFileError(ValueError):
    """A file of problems that cannot be read: where, and what is wrong."""


def write_problems(path: Path, problems: Iterable[Problem]) -> None:
    """Write problems, one a line, whole or not at all."""
    text = "".join(problem_line(each) + "\n" for each in problems)
    replace_file(path, text.encode())


def read_problems(path: Path) -> list[Problem]:
    """The problems of a file; raises ProblemFileError, and OSError."""
    try:
        text = read_bounded(path, MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path}: no problems ({error})") from None
    return list(_read_lines(path, text))


@cache
def shipped_problems() -> tuple[Problem, ...]:
    """The problems that come with Tengen, the easiest first."""
    return tuple(read_problems(SHIPPED)) if SHIPPED.exists() else ()


def _read_lines(path: Path, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            yield problem_from_line(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            what = f"not a problem ({type(error).__name__}: {error})"
            remedy = "name a file that `tengen problems make` wrote"
            raise ProblemFileError(f"{path}, line {number}: {what}; {remedy}") from None


def problem_line(problem: Problem) -> str:
    """A problem as a line of JSON."""
    height = problem.size.height

    def names(points: Iterable[Point]) -> str:
        return " ".join(point_text(each, height) for each in sorted(points))

    content: dict[str, Any] = {
        "id": problem.id,
        "stones": "/".join(problem.stones),
        "play": str(problem.to_play),
        "komi": problem.komi,
        "asked": names(problem.question.stones),
        "region": names(problem.question.region.points),
        "ko": problem.ko,
        "grade": problem.grade,
        "level": problem.level,
        "margins": {name: list(each) for name, each in problem.margins.items()},
        "source": problem.source,
        "answers": _turn_content(problem.answers, height),
    }
    return json.dumps(content, separators=(",", ":"))


def problem_from_line(line: str) -> Problem:
    """The problem of a line; raises ValueError, KeyError or TypeError."""
    content = json.loads(line)
    rows = tuple(str(content["stones"]).split("/"))
    to_play, komi = parse_color(content["play"]), float(content["komi"])
    position = position_of(rows, to_play, komi)
    size, height = position.size, position.height
    stones = frozenset(_points(content["asked"], size))
    region = Region(size, frozenset(_points(content["region"], size)))
    color = position.at(min(stones))
    if color is None or stones != frozenset(position.chain(min(stones))):
        raise ValueError("the stones in question are no chain")
    grade = content["grade"]
    if grade not in (0, *GRADES):
        raise ValueError(f"no grade: {grade!r}")
    margins = {
        str(name): (float(right), float(wrong))
        for name, (right, wrong) in content["margins"].items()
    }
    return Problem(
        rows,
        to_play,
        komi,
        Question(region, stones, color),
        bool(content["ko"]),
        _turn(content["answers"], size, height),
        grade,
        str(content["level"]),
        margins,
        str(content["source"]),
    )


def _points(names: str, size: Size) -> Iterator[Point]:
    for name in names.split():
        yield _point(name, size)


def _point(name: str, size: Size) -> Point:
    x, y = parse_point(name, size.height)
    if not (0 <= x < size.width and 0 <= y < size.height):
        raise ValueError(f"{name} is off the board")
    return Point(x, y)


def _turn_content(turn: SolverTurn, height: int) -> dict[str, Any]:
    def after(reply: OpponentReply | End) -> object:
        if isinstance(reply, End):
            return str(reply)
        return [point_text(reply.move, height), _turn_content(reply.then, height)]

    return {
        "right": {point_text(move, height): after(each) for move, each in turn.right.items()},
        "wrong": {
            point_text(move, height): _refuted_text(each, height)
            for move, each in turn.wrong.items()
        },
        "elsewhere": _refuted_text(turn.elsewhere, height),
    }


def _refuted_text(refuted: Refuted, height: int) -> str:
    move = NONE_NEEDED if refuted.move is None else point_text(refuted.move, height)
    return f"{move} {THEN_KO}" if refuted.outcome is SolverOutcome.KO else move


def _turn(content: dict[str, Any], size: Size, height: int, depth: int = 0) -> SolverTurn:
    if depth > DEEPEST:
        raise ValueError("the solution is too long")

    def after(reply: object) -> OpponentReply | End:
        if isinstance(reply, str):
            return End(reply)
        if not (isinstance(reply, list) and len(reply) == 2):
            raise ValueError(f"no reply: {reply!r}")
        return OpponentReply(_point(reply[0], size), _turn(reply[1], size, height, depth + 1))

    return SolverTurn(
        {_point(move, size): after(reply) for move, reply in content["right"].items()},
        {_point(move, size): _refuted(text, size) for move, text in content["wrong"].items()},
        _refuted(content["elsewhere"], size),
    )


def _refuted(text: str, size: Size) -> Refuted:
    move, *then = text.split()
    if then not in ([], [THEN_KO]):
        raise ValueError(f"no refutation: {text!r}")
    outcome = SolverOutcome.KO if then else SolverOutcome.FAILURE
    return Refuted(None if move == NONE_NEEDED else _point(move, size), outcome)
