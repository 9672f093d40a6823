"""Problem: a position in which one move decides the fate of stones, and what follows each move."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tengen.game.color import BLACK, Color
from tengen.game.geometry import Point, Size, Symmetry
from tengen.game.position import Position
from tengen.problems.solution import End, OpponentReply, SolverTurn
from tengen.problems.solver import Question

RULES = "chinese"
GRADES = range(1, 6)  # the higher, the harder


@dataclass(frozen=True)
class Problem:
    """A problem with its answers."""

    stones: tuple[str, ...]  # rows of X, O and points, the top row first
    to_play: Color
    komi: float  # at which the game hangs on it
    question: Question
    ko: bool  # is a ko the most that can be achieved?
    answers: SolverTurn
    grade: int = 0  # 0: not measured
    level: str = ""  # the weakest level of strength that finds the first move
    margins: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    source: str = ""

    @cached_property
    def position(self) -> Position:
        """The position, with the one who solves the problem to play."""
        return position_of(self.stones, self.to_play, self.komi)

    @property
    def size(self) -> Size:
        return Size(len(self.stones[0]), len(self.stones))

    @property
    def defends(self) -> bool:
        """Does who solves it save stones? Else they capture some."""
        return self.question.defender is self.to_play

    @property
    def solution(self) -> Point:
        """The first move."""
        return next(iter(self.answers.right))

    @property
    def end(self) -> End:
        """How it ends if all goes well."""
        reply: OpponentReply | End = next(iter(self.answers.right.values()))
        while isinstance(reply, OpponentReply):
            reply = next(iter(reply.then.right.values()))
        return reply

    @cached_property
    def shape(self) -> str:
        """What is the same for problems that differ by symmetry, colour or what is far away."""
        return shape_of(self.position, self.question)

    @property
    def id(self) -> str:
        """The problem's name: a hash of its shape."""
        return hashlib.sha256(self.shape.encode()).hexdigest()[:12]


def position_of(stones: tuple[str, ...], to_play: Color, komi: float) -> Position:
    """A position from rows of X, O and points; raises ValueError."""
    return Position.from_diagram("\n".join(stones), to_play, RULES, komi)


def rows_of(position: Position) -> tuple[str, ...]:
    """The stones of a position as rows of X, O and points."""
    return tuple("".join(".XO"[stone] for stone in row) for row in position.stones.tolist())


def shape_of(position: Position, question: Question) -> str:
    """The region and its border as text, the least of all symmetries; who plays has X."""
    region = question.region
    letters = ".XO" if position.to_play == BLACK else ".OX"
    stones = position.stones
    cells = {
        point: (letters[stones[point.y, point.x]], point in question.stones, point in region.points)
        for point in region.points | region.border
    }
    texts = []
    for symmetry in Symmetry:
        moved = {symmetry.point(point, region.size): cell for point, cell in cells.items()}
        left, top = (min(point[k] for point in moved) for k in (0, 1))
        texts.append(
            " ".join(
                f"{x - left},{y - top}{stone}{'!' * asked}{'*' * inside}"
                for (x, y), (stone, asked, inside) in sorted(moved.items())
            )
        )
    return min(texts)
