"""The UCT opponent is sound: it plays legally, captures, and gets stronger with playouts."""

from __future__ import annotations

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tests.opponents.uct import UctPlayer


def test_it_plays_whole_legal_games() -> None:
    for seed in range(4):
        player = UctPlayer(50, seed)
        position = Position(4, "tromp-taylor", 0.5, move_limit=80)
        while not position.is_over:
            position = position.play(player.choose(position))  # raises for what is illegal


def test_it_takes_what_decides_the_game() -> None:
    position = Position.from_diagram(
        """
        X X X . .
        O O O X .
        O . O X .
        O O O X .
        X X X X .
        """,
        komi=0.5,
    )
    assert UctPlayer(1000, 1).choose(position) == Point(1, 2)


def test_more_playouts_win_more() -> None:
    wins = 0
    for game in range(20):
        strong, weak = UctPlayer(1000, game), UctPlayer(30, game)
        mine = Color.BLACK if game % 2 else Color.WHITE
        position = Position(5, "tromp-taylor", 10.5, move_limit=100)
        while not position.is_over:
            player = strong if position.to_play is mine else weak
            position = position.play(player.choose(position))
        outcome = position.outcome()
        assert outcome is not None
        wins += outcome.winner is mine
    assert wins >= 15
