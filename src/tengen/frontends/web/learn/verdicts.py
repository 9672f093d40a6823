"""What the boards of lessons ask for: whether a try is right, and what refutes a wrong one.

Right, wrong and illegal follow from the rules: liberties, ladders, the exhaustive search of a
region, the count of the board. Only where judgement is needed, in the opening and at borders, a
board lists the moves itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tengen.frontends.web.learn.catching import (
    attack,
    extension,
    gets_away,
    in_atari,
    is_caught,
    longest_run,
    way_out,
)
from tengen.game.board_view import neighbours
from tengen.game.color import Color, parse_color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.problems.region import region_around
from tengen.problems.solution import Examination, SolverOutcome, equally_plausible
from tengen.problems.solver import Question, RegionSolver

KOMI = 0.0
RULES = "chinese"
PASS = "pass"
SOLVER_TABLE, SOLVER_MOST = 1 << 16, 20_000


@dataclass(frozen=True)
class Board:
    """One thing to do."""

    start: Position
    goals: tuple[str, ...]  # one after another
    solution: tuple[str, ...]  # tries that reach them
    stone: Point | None = None  # of the chain that the goal is about
    tap: str = ""
    points: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()
    number: str = ""
    right: tuple[str, ...] = ()
    wrong: Mapping[str, str] | None = None
    fill: str = ""

    @property
    def target(self) -> Point:
        """The stone that the goal is about; a board that has none is a mistake of the lesson."""
        if self.stone is None:
            raise ValueError("the goal needs a stone")
        return self.stone

    @property
    def offered(self) -> tuple[str, ...]:
        """The points to choose from."""
        return tuple(sorted([*self.right, *(self.wrong or {})]))


class Verdict(NamedTuple):
    """What is said of a try."""

    right: bool
    said: str  # a key of the page's texts
    reply: Point | None = None  # of the other side
    done: bool = False  # the goal is reached
    values: Mapping[str, int | str] = {}


class Try(NamedTuple):
    """A try: a move with the positions around it."""

    board: Board
    before: Position
    move: Point
    after: Position


def illegal_verdict(error: IllegalMoveError) -> Verdict:
    """What is said of a move that the rules forbid."""
    return Verdict(False, f"illegal.{error.reason}")


# Goals that a move reaches


def _capture(tried: Try) -> Verdict:
    if tried.after.at(tried.board.target) is None:
        return _done("captured", tried)
    stone = tried.board.target
    after = tried.after
    reply = way_out(after, stone) or longest_run(after, stone) or extension(after, stone)
    return Verdict(False, "not_captured", reply)


def _escape(tried: Try) -> Verdict:
    after, stone = tried.after, tried.board.target
    if gets_away(after, stone):
        return _done("escaped", tried)
    reply = attack(after, stone)
    taken = reply is not None and after.play(reply).at(stone) is None
    return Verdict(False, "was_captured" if taken else "is_chased", reply)


def _catch(tried: Try) -> Verdict:
    before, after, stone = tried.before, tried.after, tried.board.target
    if after.at(stone) is None:
        return _done("captured", tried)
    if is_caught(after, stone):
        reply = longest_run(after, stone)
        if reply is None:
            return _done("is_caught", tried)
        return Verdict(True, "go_on", reply)
    others = in_atari(after, after.to_play) - in_atari(before, after.to_play)
    reply = way_out(after, min(others)) if others and stone not in others else None
    return Verdict(False, "got_away", reply or way_out(after, stone))


def _threaten(tried: Try) -> Verdict:
    theirs = tried.after.to_play
    threatened = in_atari(tried.after, theirs) - in_atari(tried.before, theirs)
    if threatened:
        reply = way_out(tried.after, min(threatened))
        return Verdict(True, "threatened", reply, done=True)
    return Verdict(False, "no_threat", tried.after.point(tried.board.fill))


def _live_or_kill(tried: Try) -> Verdict:
    with _SOLVING:
        examination = _examination(tried.board)
        found = examination.outcome(tried.after)
        wanted = examination.outcome(tried.board.start)
        if found >= wanted:
            reply = examination.hardest_reply(tried.after, wanted, equally_plausible)
            if reply is None:
                end = examination.end(tried.after, wanted)
                return Verdict(True, f"end.{end}", done=True)
            return Verdict(True, "go_on", reply)
        refuted = examination.refuted(tried.after)
    if found is SolverOutcome.KO:
        return Verdict(False, "only_ko", refuted.move)
    return Verdict(False, "dies" if examination.defends else "lives", refuted.move)


_SOLVING = threading.Lock()  # the solver's memory is for one at a time


@cache
def _solver() -> RegionSolver:
    return RegionSolver(SOLVER_MOST, SOLVER_TABLE)


def _examination(board: Board) -> Examination:
    start, stone = board.start, board.target
    owner = start.at(stone)
    assert owner is not None
    region = region_around(start, stone, lambda at: start.at(at) is owner.opponent)
    if region is None:
        raise ValueError("the region is too large")
    question = Question(region, frozenset(start.chain(stone)), owner)
    return Examination(question, start.to_play, _solver())


def _choose(tried: Try) -> Verdict:
    name = tried.before.text(tried.move)
    if name in tried.board.right:
        return Verdict(True, "chosen", done=True)
    refutation = (tried.board.wrong or {}).get(name)
    if refutation is None:
        return Verdict(False, "not_offered")
    return Verdict(False, "chosen_wrong", tried.after.point(refutation))


def _done(said: str, tried: Try) -> Verdict:
    taken = tried.after.captured(tried.after.to_play) - tried.before.captured(tried.after.to_play)
    return Verdict(True, said, done=True, values={"count": taken})


MOVES: Mapping[str, Callable[[Try], Verdict]] = {
    "capture": _capture,
    "escape": _escape,
    "catch": _catch,
    "threaten": _threaten,
    "live": _live_or_kill,
    "kill": _live_or_kill,
    "choose": _choose,
}
ANSWERS = ("tap", "number", PASS)  # goals that are no moves


# Goals that ask for points or numbers


def points_to_tap(board: Board) -> frozenset[Point]:
    """The points that a board asks to tap, by the rules."""
    start = board.start
    if board.tap == "points":
        return frozenset(map(start.point, board.points))
    if board.tap == "liberties":
        return frozenset(
            near
            for stone in start.chain(board.target)
            for near in neighbours(stone, start.size)
            if start.at(near) is None
        )
    assert board.tap == "territory"
    owner, score = start.at(board.target), start.score()
    return frozenset(
        Point(x, y)
        for y in range(start.height)
        for x in range(start.width)
        if start.at((x, y)) is None and score.owner[y, x] == owner
    )


def tap_verdict(board: Board, tapped: frozenset[Point], point: Point) -> Verdict:
    """What is said of a point, after those that were tapped before."""
    wanted = points_to_tap(board)
    if point not in wanted:
        return Verdict(False, f"no_{board.tap}")
    left = len(wanted - tapped - {point})
    said = "tapped" if left else "all_tapped"
    return Verdict(True, said, done=left == 0, values={"count": left or len(wanted)})


def right_number(board: Board) -> int:
    """The number that a board asks for, by the rules."""
    start = board.start
    score, owner = start.score(), start.at(board.target)
    totals = {Color.BLACK: score.black.total, Color.WHITE: score.white.total}
    assert owner is not None
    if board.number == "area":
        return int(totals[owner])
    assert board.number == "lead"
    return int(totals[owner] - totals[owner.opponent])


def number_verdict(board: Board, number: int) -> Verdict:
    """What is said of a number."""
    right = number == right_number(board)
    return Verdict(right, "number_right" if right else "number_wrong", done=right)


def pass_verdict(board: Board, passed: bool, move: Point | None) -> Verdict:
    """What is said of a pass, or of a move where a pass was asked for."""
    if passed:
        return Verdict(True, "passed", done=True)
    assert move is not None
    own = board.start.score().owner[move.y, move.x] == board.start.to_play
    return Verdict(False, "fills_own" if own else "loses_stone")


def board_from(values: Mapping[str, object]) -> Board:
    """A board of a lesson's file; raises ValueError, KeyError or TypeError."""
    known = dict(values)
    color = parse_color(str(known.pop("play", "black")))
    start = Position.from_diagram(str(known.pop("diagram")), color, RULES, KOMI)
    if "before" in known:
        start = start.play(str(known.pop("before")))
    goal = known.pop("goal")
    goals = tuple(map(str, goal)) if isinstance(goal, list) else (str(goal),)
    unknown = [each for each in goals if each not in (*MOVES, *ANSWERS)]
    if unknown:
        raise ValueError(f"no goal is called {unknown[0]!r}")
    stone = known.pop("stone", None)
    lists = {name: known.pop(name, ()) for name in ("choices", "right")}
    return Board(
        start=start,
        goals=goals,
        solution=tuple(str(known.pop("solution")).split()),
        stone=None if stone is None else start.point(str(stone)),
        tap=str(known.pop("tap", "")),
        points=tuple(str(known.pop("points", "")).split()),
        choices=tuple(int(each) for each in lists["choices"]),  # type: ignore[attr-defined]
        number=str(known.pop("number", "")),
        right=tuple(str(each) for each in lists["right"]),  # type: ignore[attr-defined]
        wrong=known.pop("wrong", None),  # type: ignore[arg-type]
        fill=str(known.pop("fill", "")),
        **known,  # a TypeError names what is not known
    )
