"""Problems out of games: found, solved, judged by networks, and graded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from tengen.engine.engine import Engine
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.problems.level_games import WatchedGame
from tengen.problems.network_judgement import (
    deciding_komi,
    grade_of,
    looks_decisive,
    margin,
    policies,
    weakest_level,
)
from tengen.problems.problem import Problem, position_of, rows_of
from tengen.problems.questions import questions_in
from tengen.problems.solution import Examination, SolverOutcome
from tengen.problems.solver import Question, RegionSolver, UnsolvedError

NETWORKS_TO_AGREE = 2  # or all, if there are fewer
KOMI_VISITS = 32  # of the searches that find a komi
LEAST_MOVES = 3  # that can be chosen from
MOST_TRIES = 3  # in one place of a game, before it is left alone
SAME_PLACE = 0.4  # share of a region's points from which another one is the same place


@dataclass(frozen=True)
class Maker:
    """Makes problems with a network, with which others have to agree."""

    engine: Engine
    others: Sequence[Engine] = ()
    visits: int = 100  # of each search
    solver: RegionSolver = field(default_factory=RegionSolver)

    def problems_in(
        self, game: WatchedGame, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Problem]:
        """The problems of a game, the first that is found in each place.

        `stopped` is asked before each position; once it is true, no more are looked at.
        """
        places: list[_Place] = []
        for position, ownership in zip(game.positions, game.ownership, strict=True):
            if stopped():
                return
            if position.is_over or position.ko is not None:
                continue
            start = position_of(rows_of(position), position.to_play, position.komi)
            for question in questions_in(start, ownership):
                place = _place_among(places, question.region.points)
                solved = None if place.is_done else self._solved(start, question)
                if solved is None:
                    continue
                place.tries += 1
                problem = self._judged(*solved, f"{game.name}, move {position.move_number + 1}")
                if problem is not None:
                    place.tries = MOST_TRIES
                    yield problem

    def _solved(self, start: Position, question: Question) -> tuple[Examination, Position] | None:
        """The position after the only right move; None if there is none or more than one."""
        examination = Examination(question, start.to_play, self.solver)
        if not examination.defends and start.liberties(min(question.stones)) == 1:
            return None  # they are there for the taking
        try:
            left = examination.outcome(start, start.to_play.opponent)
            wanted = examination.outcome(start)
            if left >= wanted:
                return None
            found = examination.outcomes(start)
        except UnsolvedError:
            return None
        right = [after for outcome, after in found.values() if outcome >= wanted]
        if len(right) != 1 or len(found) < LEAST_MOVES:
            return None
        if wanted is SolverOutcome.KO and right[0].ko is not None:
            return None  # nothing but to take it
        return examination, right[0]

    def _judged(self, examination: Examination, right: Position, source: str) -> Problem | None:
        """The problem with answers, margins and grade; None if a network does not agree.

        Networks cannot say how a ko ends.
        """
        start = right.undo()
        question = examination.question
        success = examination.outcome(start) is SolverOutcome.SUCCESS
        named = {each.name_for(start): each for each in (self.engine, *self.others)}
        engines = tuple(named.values())[:NETWORKS_TO_AGREE] if success else ()
        if not all(looks_decisive(each, right, question) for each in engines):
            return None
        margins = {}
        for engine in engines:
            found = margin(engine, right, question, self.visits)
            if not found.decides:
                return None
            rounded = round(found.right, 2), round(found.wrong, 2)
            margins[engine.name_for(start)] = rounded
        komi = deciding_komi(self.engine, right, KOMI_VISITS)
        start = position_of(rows_of(start), start.to_play, komi)
        try:
            answers = examination.turn(start, partial(policies, self.engine))
        except UnsolvedError:
            return None
        level = weakest_level(self.engine, start, [*answers.right, *answers.wrong])
        if level is None:
            return None
        rows, color = rows_of(start), start.to_play
        grade = grade_of(level)
        return Problem(
            rows, color, komi, question, not success, answers, grade, level, margins, source
        )


@dataclass
class _Place:
    """Where in a game stones are or were in question."""

    points: frozenset[Point]
    tries: int = 0  # problems that were judged there

    @property
    def is_done(self) -> bool:
        return self.tries >= MOST_TRIES


def _place_among(places: list[_Place], points: frozenset[Point]) -> _Place:
    """The place with most of these points, which is new if there is none."""
    for place in places:
        if len(points & place.points) > SAME_PLACE * len(points):
            return place
    places.append(_Place(points))
    return places[-1]
