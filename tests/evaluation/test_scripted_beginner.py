"""The player of the first day: captures, saves what is in atari, fills no eye, else anything."""

from __future__ import annotations

import pytest

from tengen.evaluation.scripted_beginner import ScriptedBeginner, captures, escapes
from tengen.game.color import Color
from tengen.game.position import Position

pytestmark = pytest.mark.kernel

CAPTURES = """
    . X O . .
    . . X . .
    . . . . .
    . . . X O
    . . . X O
"""


def chosen(position: Position, times: int = 12) -> set[str]:
    return {position.text(ScriptedBeginner(seed).move(position)) for seed in range(times)}


def test_it_takes_the_largest_capture() -> None:
    position = Position.from_diagram(CAPTURES, Color.BLACK)
    taken = {position.text(point): stones for point, stones in captures(position).items()}
    assert taken == {"D5": 1, "E3": 2}
    assert chosen(position) == {"E3"}


def test_it_saves_what_is_in_atari_if_it_can_be_saved() -> None:
    position = Position.from_diagram(
        """
        . . . . .
        . O . . .
        O X O . .
        . . . . .
        X O . . .
        """,
        Color.BLACK,
    )
    saved = {position.text(point): stones for point, stones in escapes(position).items()}
    assert saved == {"B2": 1}  # A2 would leave the stone in the corner with one liberty
    assert chosen(position) == {"B2"}


def test_without_either_it_plays_anywhere_but_in_its_own_eyes() -> None:
    position = Position.from_diagram(
        """
        . X . X .
        X X X X X
        O O O O O
        . O . . .
        . O . . .
        """,
        Color.BLACK,
    )
    assert chosen(position, 120) == {"A1", "A2", "C1", "C2", "D1", "D2", "E1", "E2"}


def test_it_passes_when_only_its_own_eyes_are_left() -> None:
    position = Position.from_diagram(
        """
        . X . X .
        X X X X X
        X X X X X
        O O O O O
        . O . O .
        """,
        Color.BLACK,
    )
    assert chosen(position, 3) == {"pass"}


def test_its_games_differ_and_end() -> None:
    ends = set()
    for _ in range(4):
        player, position = ScriptedBeginner(1), Position(5, move_limit=400)
        while not position.is_over:
            position = position.play(player.move(position))
        assert position.move_number < 400
        ends.add(tuple(position.moves))
    assert len(ends) == 4
