"""Capture Go: who captures first wins; the gentle opponent loses to who knows the lessons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from tengen.evaluation.scripted_beginner import captures, escapes, sensible_moves
from tengen.frontends.web.learn.capture_go import (
    LEVELS,
    RULES,
    SIDES,
    answer,
    is_over,
    played_view,
    winner_of,
)
from tengen.frontends.web.limits import RefusedError
from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position

Player: TypeAlias = Callable[[Position, np.random.Generator], Point | None]
GENTLE, FAIR, SHARP = LEVELS


def graduate(position: Position, random: np.random.Generator) -> Point | None:
    """Somebody who did the lessons: captures, saves, gives atari, avoids atari; sees no further."""
    for choose in (captures, escapes):
        found = choose(position)
        if found:
            return max(found, key=lambda move: found[move])
    moves = sensible_moves(position)
    safe = [move for move in moves if position.play(move).liberties(move) > 1] or moves
    moves = [move for move in safe if _gives_atari(position, move)] or safe
    return moves[int(random.integers(len(moves)))] if moves else None


def _gives_atari(position: Position, move: Point) -> bool:
    after = position.play(move)
    near = (each for each in neighbours(move, position.size) if after.at(each) is after.to_play)
    return any(after.liberties(each) == 1 for each in near)


def black_wins(black: Player, white: Player, side: int, seed: int) -> float:
    randoms = [np.random.default_rng([seed, k]) for k in range(2)]
    position = Position(side, RULES, 0)
    while not is_over(position):
        turn = position.move_number % 2
        position = position.play((black, white)[turn](position, randoms[turn]))
        assert position.move_number < 400
    winner = winner_of(position)
    return 0.5 if winner is None else float(winner is Color.BLACK)


def share(first: Player, second: Player, games: int, side: int = 7) -> float:
    """The share of the first one's points, colours in turns."""
    wins = [
        black_wins(first, second, side, seed)
        if seed % 2 == 0
        else 1 - black_wins(second, first, side, seed)
        for seed in range(games)
    ]
    return sum(wins) / games


def at_level(number: int) -> Player:
    return lambda position, random: answer(position, LEVELS[number], random)


@pytest.mark.parametrize("side", SIDES[:2])
def test_who_did_the_lessons_wins_against_the_gentle_opponent(side: int) -> None:
    assert share(graduate, at_level(0), 16, side) >= 0.65


def test_each_level_is_stronger_than_the_one_before() -> None:
    assert share(at_level(1), at_level(0), 16) > 0.5
    assert share(at_level(2), at_level(1), 16) > 0.5
    assert share(graduate, at_level(2), 16) < 0.5


def test_a_capture_ends_the_game() -> None:
    moves = ["C3", "A1", "B2", "B1"]
    view = played_view(5, "gentle", Color.WHITE, moves, 1)
    assert not view["over"]
    captured = played_view(5, "sharp", Color.WHITE, ["E5", "A1", "B1", "D5"], 1)
    assert captured["reply"] == "A2"
    assert captured["over"]
    assert captured["winner"] == "black"
    with pytest.raises(RefusedError, match="over"):
        played_view(5, "sharp", Color.WHITE, [*captured["moves"], "C3"], 1)


def test_the_same_request_has_the_same_answer() -> None:
    views = [played_view(9, "fair", Color.BLACK, ["E5"], 7) for _ in range(2)]
    assert views[0] == views[1]
    assert len(views[0]["moves"]) == 2
    assert views[0]["before"]["stones"].count("O") == 0


def test_black_is_answered_before_a_move_if_the_person_has_white() -> None:
    view = played_view(5, "gentle", Color.WHITE, [], 3)
    assert view["moves"] == [view["reply"]]
    assert view["to_play"] == "white"


@pytest.mark.parametrize(
    ("side", "level", "moves", "code"),
    [
        (6, "gentle", [], "bad_terms"),
        (5, "none", [], "bad_terms"),
        (5, "gentle", ["A1", "A1"], "illegal_move"),
        (5, "gentle", ["T19"], "bad_point"),
        (5, "gentle", ["A1"] * 300, "bad_terms"),
    ],
)
def test_impossible_games_are_refused(side: int, level: str, moves: list[str], code: str) -> None:
    with pytest.raises(RefusedError) as refused:
        played_view(side, level, Color.BLACK, moves, 1)
    assert refused.value.code == code
