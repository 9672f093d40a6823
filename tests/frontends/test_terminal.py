"""The terminal game: its opponent finishes games and takes what is offered."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np

from tengen.frontends.terminal import choose_move, play_in_terminal
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf import load_sgf


def random_state() -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([7], np.uint64)


def test_the_opponent_beats_random_moves() -> None:
    choice, random = Random(3), random_state()
    wins = 0
    for _ in range(10):
        position = Position(5, "chinese", 0.5, move_limit=80)
        while not position.is_over:
            if position.to_play is Color.WHITE:
                position = position.play(choose_move(position, 200, random))
            else:
                position = position.play(choice.choice([*position.legal_moves(), None]))
        outcome = position.outcome()
        wins += outcome is not None and outcome.winner is Color.WHITE
    assert wins >= 9


def test_the_opponent_passes_when_passing_wins() -> None:
    position = Position(5, "chinese", 0.5).play("pass").play("C3").play("pass")
    assert choose_move(position, 100, random_state()) is None


def test_a_whole_game_is_played_to_its_count_and_saved(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    answers = iter(["C3", f"save {file}", "B3", "D3", *["pass"] * 40])
    shown: list[str] = []
    start = Position(5, "chinese", 0.5)
    end = play_in_terminal(start, Color.BLACK, 300, 1, lambda _: next(answers), shown.append)
    assert end.is_over
    assert shown[-1].endswith(f"Result: {end.outcome()}")
    assert load_sgf(file)[0].final_position().moves[0].point == (2, 2)
