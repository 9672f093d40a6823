"""The solution of a problem: which moves of the solver are right, and the replies to each.

A move is right if no other one achieves more. A wrong one has a refutation: the opponent's move
after which nothing is left of what could be achieved. A right one is settled if the opponent has no
move that must be answered; else the opponent plays the one that is hardest to answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TypeAlias

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.solver import Fate, Question, RegionSolver, moves_in

MOST_TURNS = 6  # of the solver in a solution


class SolverOutcome(IntEnum):
    """What the solver achieves; the more, the better."""

    FAILURE = 0
    KO = 1
    SUCCESS = 2


class End(StrEnum):
    """How it stands when no move must be answered any more."""

    CAPTURED = "captured"
    DEAD = "dead"  # still on the board, and cannot be saved
    EYES = "eyes"
    CONNECTED = "connected"
    SEKI = "seki"
    SAFE = "safe"  # no attack is left that could not be answered
    KO = "ko"


@dataclass(frozen=True)
class Refuted:
    """What is wrong with a move."""

    move: Point | None  # of the opponent; None: none is needed
    outcome: SolverOutcome  # that is left


@dataclass(frozen=True)
class OpponentReply:
    """The opponent's answer to a right move, and what is right then."""

    move: Point
    then: SolverTurn


@dataclass(frozen=True)
class SolverTurn:
    """A turn of the side that solves the problem."""

    right: Mapping[Point, OpponentReply | End] = field(default_factory=dict)
    wrong: Mapping[Point, Refuted] = field(default_factory=dict)
    elsewhere: Refuted = Refuted(None, SolverOutcome.FAILURE)  # after a pass, or a move outside


# The plausibility of moves in some positions, by point; the higher, the more plausible.
Plausibility: TypeAlias = Callable[[Sequence[Position]], Sequence[Mapping[Point, float]]]


def equally_plausible(positions: Sequence[Position]) -> Sequence[Mapping[Point, float]]:
    """All moves are equally plausible."""
    return [{} for _ in positions]


@dataclass(frozen=True)
class Examination:
    """A question with a side that solves it."""

    question: Question
    color: Color  # of who solves it
    solver: RegionSolver

    @property
    def defends(self) -> bool:
        """Are the stones in question those of who solves it?"""
        return self.question.defender is self.color

    def outcome(self, position: Position, to_play: Color | None = None) -> SolverOutcome:
        """What can be achieved in a position; raises UnsolvedError."""
        if self.question.is_captured(position):
            fate = Fate.CAPTURED
        else:
            fate = self.solver.fate(self.question, position, to_play)
        return SolverOutcome(int(fate) if self.defends else Fate.SAFE - fate)

    def outcomes(self, position: Position) -> dict[Point, tuple[SolverOutcome, Position]]:
        """What each legal move in the region achieves, and the position after it."""
        return {
            move: (self.outcome(after), after)
            for move, after in moves_in(self.question.region, position, self.color)
        }

    def turn(
        self,
        position: Position,
        plausibility: Plausibility = equally_plausible,
        turns: int = MOST_TURNS,
    ) -> SolverTurn:
        """The answers to all moves in a position; raises UnsolvedError."""
        return self._turn(position, self.outcome(position, self.color), plausibility, turns)

    def _turn(
        self, position: Position, wanted: SolverOutcome, plausibility: Plausibility, turns: int
    ) -> SolverTurn:
        found = self.outcomes(position)
        wrong = {move: pair for move, pair in found.items() if pair[0] < wanted}
        plausibilities = plausibility([position, *(after for _, after in wrong.values())])
        refuted = {
            move: self._refuted(after, left, natural)
            for (move, (left, after)), natural in zip(
                wrong.items(), plausibilities[1:], strict=True
            )
        }
        left = self.outcome(position, self.color.opponent)
        return SolverTurn(
            right={
                move: self._after_right(after, wanted, plausibility, turns)
                for move, (outcome, after) in found.items()
                if outcome >= wanted
            },
            wrong=refuted,
            elsewhere=self._refuted(position, left, plausibilities[0]),
        )

    def refuted(self, after: Position, natural: Mapping[Point, float] | None = None) -> Refuted:
        """What the opponent does after a move that was not right; raises UnsolvedError."""
        left = self.outcome(after, self.color.opponent)
        return self._refuted(after, left, natural or {})

    def _refuted(
        self, after: Position, left: SolverOutcome, natural: Mapping[Point, float]
    ) -> Refuted:
        if self.question.is_captured(after):
            return Refuted(None, left)
        opponent = self.color.opponent
        good = [
            move
            for move, position in moves_in(self.question.region, after, opponent)
            if self.outcome(position, self.color) <= left
        ]
        return Refuted(max(good, key=lambda move: natural.get(move, 0.0), default=None), left)

    def _after_right(
        self, after: Position, wanted: SolverOutcome, plausibility: Plausibility, turns: int
    ) -> OpponentReply | End:
        reply = self.hardest_reply(after, wanted, plausibility) if turns > 1 else None
        if reply is None:
            return self.end(after, wanted)
        position = after.play(reply, self.color.opponent)
        return OpponentReply(reply, self._turn(position, wanted, plausibility, turns - 1))

    def hardest_reply(
        self, after: Position, wanted: SolverOutcome, plausibility: Plausibility
    ) -> Point | None:
        """The opponent's move that leaves the fewest right answers; None if none needs one."""
        if self.question.is_captured(after):
            return None
        opponent = self.color.opponent
        answers = {}
        for move, position in moves_in(self.question.region, after, opponent):
            if self.outcome(position, opponent) >= wanted:
                continue  # it need not be answered
            right = [1 for outcome, _ in self.outcomes(position).values() if outcome >= wanted]
            if right:  # there is none where a threat for a ko is needed
                answers[move] = len(right)
        if not answers:
            return None
        natural = plausibility([after])[0]
        return min(answers, key=lambda move: (answers[move], -natural.get(move, 0.0)))

    def end(self, position: Position, achieved: SolverOutcome) -> End:
        """How it stands after a right move that needs no further one."""
        question = self.question
        if question.is_captured(position):
            return End.CAPTURED
        if achieved is SolverOutcome.KO:
            return End.KO
        if not self.defends:
            return End.DEAD
        if question.is_connected(position):
            return End.CONNECTED
        if question.has_eyes(position):
            return End.EYES
        return End.SAFE if self._can_make_eyes(position) else End.SEKI

    def _can_make_eyes(self, position: Position, moves: int = 2) -> bool:
        """Could the defender make two eyes with so many moves in a row?"""
        for _, after in moves_in(self.question.region, position, self.question.defender):
            if self.question.has_eyes(after):
                return True
            if moves > 1 and self._can_make_eyes(after, moves - 1):
                return True
        return False
