"""Problems out of games: found, solved, judged by networks, and graded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tengen.engine.engine import Engine
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.answers import Examination, Outcome
from tengen.problems.opinions import deciding_komi, grade_of, margin, tastes, weakest_level
from tengen.problems.played_games import WatchedGame
from tengen.problems.problem import Problem, position_of, rows_of
from tengen.problems.questions import questions_in
from tengen.problems.solver import Question, RegionSolver, UnsolvedError

LEAST_MOVES = 3  # that can be chosen from
SAME_PLACE = 0.4  # share of a region's points from which another one is the same place


@dataclass(frozen=True)
class Maker:
    """Makes problems with a network, whose opinion others have to share."""

    engine: Engine
    others: Sequence[Engine] = ()
    visits: int = 100  # of each search
    solver: RegionSolver = field(default_factory=RegionSolver)

    def problems_in(self, game: WatchedGame) -> Iterator[Problem]:
        """The problems of a game, the first that is found in each place."""
        places: list[frozenset[Point]] = []
        for position, ownership in zip(game.positions, game.ownership, strict=True):
            for question in questions_in(position, ownership):
                points = question.region.points
                if any(len(points & each) > SAME_PLACE * len(points) for each in places):
                    continue
                source = f"{game.name}, move {position.move_number + 1}"
                problem = self.problem(position, question, source)
                if problem is not None:
                    places.append(points)
                    yield problem

    def problem(self, position: Position, question: Question, source: str) -> Problem | None:
        """The problem in a question; None if no single move is right, or networks disagree."""
        if position.ko is not None or position.is_over:
            return None
        start = position_of(rows_of(position), position.to_play, position.komi)
        examination = Examination(question, start.to_play, self.solver)
        try:
            solved = self._solved(examination, start, source)
        except UnsolvedError:
            return None
        return None if solved is None else self._judged(solved)

    def _solved(self, examination: Examination, start: Position, source: str) -> Problem | None:
        """The problem with its answers; None if it has no single one."""
        if not examination.defends and start.liberties(min(examination.question.stones)) == 1:
            return None  # they are there for the taking
        left = examination.outcome(start, start.to_play.opponent)
        wanted = examination.outcome(start)
        if left >= wanted:
            return None
        found = examination.outcomes(start)
        right = [after for outcome, after in found.values() if outcome >= wanted]
        if len(right) != 1 or len(found) < LEAST_MOVES:
            return None
        if wanted is Outcome.KO and right[0].ko is not None:
            return None  # nothing but to take it
        komi = deciding_komi(self.engine, start, right[0], self.visits)
        rows = rows_of(start)
        before = position_of(rows, start.to_play, komi)
        answers = examination.turn(before, partial(tastes, self.engine))
        ko = wanted is Outcome.KO
        return Problem(rows, start.to_play, komi, examination.question, ko, answers, source=source)

    def _judged(self, problem: Problem) -> Problem | None:
        """The problem with opinions and grade; None if a network does not agree.

        Networks cannot say how a ko ends.
        """
        margins = {}
        for engine in () if problem.ko else (self.engine, *self.others):
            found = margin(engine, problem, self.visits)
            if not found.decides:
                return None
            rounded = round(found.right, 2), round(found.wrong, 2)
            margins[engine.name_for(problem.position)] = rounded
        level = weakest_level(self.engine, problem)
        if level is None:
            return None
        return replace(problem, margins=margins, level=level, grade=grade_of(level))
