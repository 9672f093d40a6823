"""Even games: how strong a player is by the results so far, and terms that give even chances.

Strength is Elo above GNU Go, as that of the levels in `engine/level_ranks.py`: a distribution over
a grid, multiplied by the chance of each result, of which older ones count less. Levels were
measured on 9x9; elsewhere the same differences between them are a first guess, which results
correct, and no ranks are told.
"""

from __future__ import annotations

import json
import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from tengen.engine.level_ranks import MEASURED, BoardRatings, Rank, rank_at
from tengen.engine.levels import LEVELS
from tengen.evaluation.elo import ELO
from tengen.frontends.web.play.game_state import GameState
from tengen.game.color import Color
from tengen.game.rules import NAMED

Colour: TypeAlias = Literal["black", "white"]

GUESS = MEASURED["tengen-9x9", 9]  # of levels where nothing was measured
MEAN, SCALE = -1200.0, 300.0  # of people before their first game
CAUTION = 400.0  # Elo below the estimate, at which the first game is played, so that it is won
MEMORY = 0.98  # how much less a result counts than the one after it
# Elo that a point of komi is worth: 277, which is 4 * ELO / sqrt(2 pi), divided by the standard
# deviation of margins between equals. That was 23, 30, 18 and 21 points at newcomer, beginner,
# casual and club, 10 at expert (40 games each).
POINT_ELO, STRONG_POINT_ELO = 12.0, 28.0
STRONG = {"expert", "master", "champion", "full"}
STONE_POINTS = 14.0  # of one more handicap stone: twice the usual komi
MOST_KOMI = 13.0  # points from the usual komi, before stones are given
MOST_RESULTS = 300  # that are remembered
CURVE = 100  # results that the curve shows
MOST_POINTS = 1_000.0  # that terms may give; more is a damaged file
_GRID = np.arange(-2600.0, 2001.0, 20.0)


class PlayedGame(NamedTuple):
    """The result of a finished game against a level."""

    game: str
    date: str
    size: int
    level: str
    points: float  # that the terms gave the person, against an even game
    score: float  # 1: won, 0.5, 0: lost


_PLAYED_GAME = TypeAdapter(PlayedGame)


class Strength(NamedTuple):
    """An estimate in Elo, with its standard deviation."""

    elo: float
    deviation: float


class EvenTerms(NamedTuple):
    """Terms of a game with even chances."""

    level: str
    colour: Colour
    handicap: int
    komi: float


def read_results(content: bytes) -> list[PlayedGame]:
    """The results that were written; what cannot be understood is left out."""
    try:
        told = json.loads(content or b"[]")
    except (ValueError, RecursionError):
        return []
    found = [_played(each) for each in told] if isinstance(told, list) else []
    return [each for each in found if each is not None][-MOST_RESULTS:]


def _played(told: object) -> PlayedGame | None:
    """A result that was read; None if it is none."""
    try:
        game = _PLAYED_GAME.validate_python(told)
    except ValidationError:
        return None
    possible = game.score in (0, 0.5, 1) and abs(game.points) < MOST_POINTS
    return game if possible and _known(game.level) else None


def write_results(results: list[PlayedGame]) -> bytes:
    """The results as the content of a file."""
    return json.dumps([each._asdict() for each in results[-MOST_RESULTS:]]).encode()


def result_of(game: GameState, date: str) -> PlayedGame | None:
    """The result of a finished game; None if it tells nothing about the person's strength."""
    if game.result is None or game.bot is None or game.level is None or not _known(game.level):
        return None
    if game.result[:2] not in ("B+", "W+") and game.result not in ("0", "Draw"):
        return None
    person = game.bot.opponent
    score = 0.5 if game.result[1:2] != "+" else float(game.result[0] == person.letter)
    start = game.tree.position(game.tree.root)
    stones = max(0, start.handicap - 1)
    usual = NAMED.get(str(start.rules), (None, 7.5))[1]
    black = usual - start.komi + STONE_POINTS * stones
    points = black if person is Color.BLACK else -black
    return PlayedGame(game.id, date, start.width, game.level, points, score)


def _known(level: object) -> bool:
    return any(each.id == level for each in LEVELS)


def _ratings(size: int) -> BoardRatings:
    return MEASURED.get(("tengen-9x9", size), GUESS)


def _point_elo(level: str) -> float:
    return STRONG_POINT_ELO if level in STRONG else POINT_ELO


def strengths(results: list[PlayedGame], size: int) -> list[Strength]:
    """The estimate before the first game on this board, and after each."""
    prior = -np.log1p(((_GRID - MEAN) / SCALE) ** 2)  # Cauchy's: strong players climb fast
    seen = np.zeros_like(prior)
    found = [_summary(prior)]
    for each in results:
        if each.size != size:
            continue
        opponent = _ratings(size).levels[each.level] - each.points * _point_elo(each.level)
        won = -np.log1p(np.exp((opponent - _GRID) / ELO))
        lost = -np.log1p(np.exp((_GRID - opponent) / ELO))
        seen = MEMORY * seen + each.score * won + (1 - each.score) * lost
        found.append(_summary(prior + seen))
    return found


def _summary(log_weights: NDArray[np.float64]) -> Strength:
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = float(weights @ _GRID)
    return Strength(mean, math.sqrt(float(weights @ (_GRID - mean) ** 2)))


def even_terms(
    results: list[PlayedGame], size: int, rules: str, colour: Colour | None = None
) -> EvenTerms:
    """The level nearest to the person, and what is missing in komi and handicap stones.

    The weaker side has Black unless a colour is wanted. The first games are easier than even, and
    no board has more stones than fit on it.
    """
    found = strengths(results, size)
    elo = found[-1].elo - CAUTION / len(found) ** 2
    levels = _ratings(size).levels
    level = min(levels, key=lambda each: abs(levels[each] - elo) / _point_elo(each))
    points = (levels[level] - elo) / _point_elo(level)  # that the person needs
    usual = NAMED.get(rules, (None, 7.5))[1]
    weaker: Colour = "black" if points >= 0 else "white"
    colour = colour or weaker
    needed = abs(points) if colour == weaker else -abs(points)  # by Black
    stones = 0
    if needed > MOST_KOMI:
        stones = min(1 + int(needed / STONE_POINTS), _most_handicap(size))
        stones = stones if stones > 1 else 0
    komi = usual + STONE_POINTS * max(0, stones - 1) - needed
    komi = max(usual - MOST_KOMI - 0.5, min(usual + 2 * MOST_KOMI, komi))
    return EvenTerms(level, colour, stones, math.floor(komi) + (usual % 1 or 0.5))


def _most_handicap(size: int) -> int:
    if size < 7:
        return 0
    return 9 if size % 2 and size > 7 else 4


def strength_view(results: list[PlayedGame], size: int, rules: str, network: str) -> dict[str, Any]:
    """The next terms, and the estimate as ranks where they were measured, for pages."""
    found = strengths(results, size)
    first_day = MEASURED[network, size].first_day if (network, size) in MEASURED else None
    last = found[-1]

    def rank(elo: float) -> dict[str, Any] | None:
        return None if first_day is None else _rank_view(rank_at(elo, first_day))

    return {
        "size": size,
        "terms": even_terms(results, size, rules)._asdict(),
        "games": len(found) - 1,
        "rank": rank(last.elo),
        "low": rank(last.elo - last.deviation),
        "high": rank(last.elo + last.deviation),
        "curve": [
            {"elo": round(each.elo), "deviation": round(each.deviation), "rank": rank(each.elo)}
            for each in found[1:][-CURVE:]
        ],
    }


def _rank_view(rank: Rank) -> dict[str, Any]:
    return rank._asdict()
