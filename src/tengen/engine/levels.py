"""Levels of strength, from newcomer to full, whose mistakes resemble those of people.

A weak level draws its moves from the network's policy, at a higher temperature the weaker it is.
The position after a drawn move is evaluated, and one that loses more points than the level's floor
is rejected. No level spoils the end of a game: own eyes are not filled, and passing is
decided by a proper search at every level.

Where a network imitates people, there are levels by their ranks as well, whose moves it draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point, Size, point_text
from tengen.game.position import Position
from tengen.game.rules import Scoring
from tengen.search.choice import draw_choice, random_for
from tengen.search.human_style import NO_STYLE, HumanStyle
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, Limits, RootOptions, SearchRequest, Wanted
from tengen.search.result import SearchResult

Answer = TypeVar("Answer")

WITH_OWNERSHIP = Wanted(ownership=True)
FRESH = RootOptions(fresh=True)  # trees of earlier searches must make no level stronger
CARE_VISITS = 32  # of the search by which every level decides whether to pass
OVER_PRIOR = 0.1  # of a pass, from which the game may be over
PASS_TOLERANCE = 0.01, 0.75  # winrate and points that a pass may cost then
MOST_TRIES = 6  # moves drawn and rejected before a level plays the one with most weight
RESIGN_MOVES = 0.4  # per point of the board, before which no level resigns


@dataclass(frozen=True)
class Level:
    """A strength."""

    id: str  # as commands and programs name it
    name: str  # as people read it
    visits: int  # of a search; 1: the network's first impression
    temperature: float = 0.0  # at which a move is drawn on 9x9; 0: the one that looks best
    floor: float = 0.0  # points that a drawn move may lose against the one that looks best
    resign_winrate: float = 0.0  # below which a game is given up; 0: never
    human: HumanStyle = NO_STYLE  # whose moves are drawn, by a network that imitates people

    def temperature_on(self, size: Size) -> float:
        """The temperature on a board.

        The more points there are, the more of the draws at a temperature are bad moves: by this
        power a level that is even with the scripted beginner on 9x9 is so on larger boards.
        """
        if self.temperature <= 1 or size.area <= 1:
            return self.temperature
        return float(self.temperature ** (math.log(81) / math.log(size.area)))


LEVELS = (
    Level("newcomer", "Newcomer", 1, temperature=11.0, floor=50.0),
    Level("starter", "Starter", 1, temperature=6.5, floor=30.0),
    Level("rookie", "Rookie", 1, temperature=4.4, floor=22.0),
    Level("beginner", "Beginner", 1, temperature=3.4, floor=17.0),
    Level("novice", "Novice", 1, temperature=2.8, floor=13.0),
    Level("learner", "Learner", 1, temperature=2.5, floor=11.0),
    Level("casual", "Casual player", 1, temperature=1.85, floor=7.0),
    Level("club", "Club player", 1, temperature=1.4, floor=5.0),
    Level("advanced", "Advanced player", 1, temperature=0.8, floor=2.5),
    Level("expert", "Expert", 8, temperature=0.25, floor=1.0),
    Level("master", "Master", 24, temperature=0.25, floor=1.0, resign_winrate=0.02),
    Level("champion", "Champion", 100, resign_winrate=0.02),
    Level("full", "Full strength", 400, resign_winrate=0.02),
)
FULL = LEVELS[-1]

HUMAN = "human:"  # begins the ids of levels that imitate people, such as human:5k
HUMAN_VISITS = 40  # for the question whether to pass; the moves are people's
# As KataGo's own settings for this: nothing of the search's shapes the choice, and only chances
# below one in a hundred are sharpened.
HUMAN_PARAMS = SearchParams(
    static_score=0.3,
    dynamic_score=0.0,
    uncertainty=0.0,
    noise_pruning=False,
    value_bias=0.0,
    lcb_stdevs=0.0,
    temperature=0.70,
    temperature_early=0.85,
    temperature_halflife=80.0,
    temperature_below=0.01,
)
HUMAN_SYMMETRIES = 2


class Decision(NamedTuple):
    """What a level does."""

    move: Point | None  # None: a pass
    resign: bool
    result: SearchResult  # what it saw of the position

    @property
    def text(self) -> str:
        """What it does as text: a point such as D4, pass or resign."""
        return "resign" if self.resign else point_text(self.move, self.result.position.height)


def level_named(id_: str) -> Level:
    """A level by its id, however it is written; raises ValueError that lists them."""
    wanted = id_.strip().lower()
    for level in LEVELS:
        if level.id == wanted:
            return level
    if wanted.startswith(HUMAN):
        return _human_level(wanted.removeprefix(HUMAN))
    known = ", ".join(level.id for level in LEVELS)
    raise ValueError(f"no level is called {id_[:40]!r}; there are {known} and {HUMAN}5k")


def _human_level(people: str) -> Level:
    """The level of a rank such as 5k, or of a profile such as preaz_5k; raises ValueError."""
    profile = people if "_" in people and not people[:1].isdigit() else f"rank_{people}"
    style = HumanStyle(profile, move_share=1.0, ignore_pass=True)
    return Level(HUMAN + people, f"Human {people}", HUMAN_VISITS, human=style)


Deciding: TypeAlias = Generator[SearchRequest, SearchResult, Answer]


def decide(
    position: Position,
    level: Level,
    seed: int,
    search: Callable[[SearchRequest], SearchResult],
    *,
    seconds: float | None = None,
    wanted: Wanted = WITH_OWNERSHIP,
) -> Decision:
    """What a level does in a position, with searches that are waited for; see `deciding`."""
    steps = deciding(position, level, seed, seconds=seconds, wanted=wanted)
    try:
        request = next(steps)
        while True:
            request = steps.send(search(request))
    except StopIteration as end:
        decision: Decision = end.value
        return decision


def deciding(
    position: Position,
    level: Level,
    seed: int,
    *,
    seconds: float | None = None,
    wanted: Wanted = WITH_OWNERSHIP,
) -> Deciding[Decision]:
    """What a level does in a position, as a generator: yields requests, is sent their results.

    The same seed makes the same choice in the same position of a game. Each search takes at most so
    many seconds. Raises ValueError if the game is over.
    """
    if position.is_over:
        raise ValueError("the game is over: there is no move to choose")
    root, params = ROOT_DEFAULTS if level == FULL else FRESH, None
    if level.human.profile:
        root = replace(root, human=level.human, symmetries=HUMAN_SYMMETRIES)
        params = HUMAN_PARAMS
    limits = Limits(visits=level.visits, seconds=seconds)
    result = yield SearchRequest(position, limits, root, wanted, params)
    resign = (
        result.winrate < level.resign_winrate
        and position.move_number >= RESIGN_MOVES * position.size.area
    )
    if level.human.profile:
        move = _drawn_from_people(result, seed)
    elif _may_be_over(result):
        careful = result
        if level.visits < CARE_VISITS:
            limits = Limits(visits=CARE_VISITS, seconds=seconds)
            careful = yield SearchRequest(position, limits, FRESH)
        move = None if pass_is_as_good(careful) else _best(careful)
    elif level.temperature:
        move = yield from _drawn(result, level, seed)
    else:
        move = _best(result)
    return Decision(move, resign, result)


def _may_be_over(result: SearchResult) -> bool:
    """Has the opponent passed, or is a pass likely by the policy?"""
    last = result.position.last_move
    passed = last is not None and last.point is None
    return passed or result.move is None or float(result.policy[-1]) >= OVER_PRIOR


def pass_is_as_good(result: SearchResult) -> bool:
    """Does a pass cost next to nothing against the best move?"""
    passes = [each for each in result.moves if each.move is None]
    return any(
        each.winrate >= result.moves[0].winrate - PASS_TOLERANCE[0]
        and each.score >= result.moves[0].score - PASS_TOLERANCE[1]
        for each in passes
    )


def _best(result: SearchResult) -> Point | None:
    """The best sensible move that was found; a pass if there is none."""
    sensible = _sensible(result.position)
    moves = [*(each.move for each in result.moves), *_by_policy(result)]
    return next((move for move in moves if move is None or sensible[move.y, move.x]), None)


def _drawn_from_people(result: SearchResult, seed: int) -> Point | None:
    """A move that people might play; a pass where the game is over."""
    position = result.position
    if _may_be_over(result) and pass_is_as_good(result):
        return None
    sensible = _sensible(position)
    choices = tuple(
        (move, weight)
        for move, weight in result.choices
        if weight > 0 and move is not None and sensible[move.y, move.x]
    )
    if not choices:
        return _best(result)
    return draw_choice(choices, position, HUMAN_PARAMS, random_for(position, seed))


def _drawn(result: SearchResult, level: Level, seed: int) -> Deciding[Point | None]:
    """A move drawn from the policy that is not below the level's floor; a pass if there is none."""
    position = result.position
    sensible = _sensible(position)
    drawn_from: Iterable[tuple[Point | None, float]] = (
        [(each.move, each.play_weight) for each in result.moves]
        if result.moves
        else zip(_points(position.size), result.policy[:-1].tolist(), strict=True)
    )
    weights = {
        move: w for move, w in drawn_from if w > 0 and move is not None and sensible[move.y, move.x]
    }
    if not weights:
        return _best(result)
    scores: dict[Point | None, float] = {each.move: each.score for each in result.moves}

    def score(move: Point) -> Deciding[float]:
        """For the side to play; of the position after it, if the move was not searched."""
        if move not in scores:
            after = position.play(move)
            scores[move] = 0.0
            if not after.is_over:  # by the move limit
                glance = yield SearchRequest(after, Limits(visits=1), FRESH)
                scores[move] = -glance.score
        return scores[move]

    best = max(weights, key=weights.__getitem__)
    random = random_for(position, seed)
    temperature = level.temperature_on(position.size)
    for move in _drawn_in_turn(weights, temperature, random)[:MOST_TRIES]:
        if move == best:
            return move
        lost = (yield from score(best)) - (yield from score(move))
        if lost <= level.floor:
            return move
    return best


def _drawn_in_turn(
    weights: dict[Point, float], temperature: float, random: np.random.Generator
) -> list[Point]:
    """The moves as they are drawn one after another, with chances weight^(1/temperature)."""
    # The largest of logarithms with Gumbel noise is a draw; the next ones are those that follow.
    logits = np.log(np.array(list(weights.values()))) / temperature
    order = np.argsort(-(logits + random.gumbel(size=len(logits))))
    moves = list(weights)
    return [moves[k] for k in order]


def _by_policy(result: SearchResult) -> list[Point | None]:
    """All legal moves, the likeliest by the policy first."""
    moves: list[Point | None] = [*_points(result.position.size), None]
    return [moves[k] for k in np.argsort(-result.policy, kind="stable") if result.policy[k] > 0]


@cache
def _points(size: Size) -> tuple[Point, ...]:
    return tuple(Point(x, y) for y in range(size.height) for x in range(size.width))


def _sensible(position: Position) -> NDArray[np.bool_]:
    """[height, width] where a stone may be of use: not in own eyes, nor in pass-alive areas.

    In one's own pass-alive area it may be, if stones are dead there and must be captured.
    """
    mask = position.legal_mask()[:-1].reshape(position.height, position.width)
    rules, opponent = position.rules, position.to_play.opponent
    mine, theirs = (position.pass_alive(color) for color in (position.to_play, opponent))
    dead = mine & (position.stones == opponent)
    if rules.scoring is Scoring.TERRITORY or rules.friendly_pass or not dead.any():
        mask &= ~mine
    return mask & ~theirs & ~position.own_eyes()
