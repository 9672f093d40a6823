"""The terminal game: played to its end, saved, and given up by whoever has lost."""

from __future__ import annotations

from pathlib import Path

from tengen.engine.engine import Engine
from tengen.engine.levels import FULL, level_named
from tengen.frontends.terminal_game import play_in_terminal
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf.records import load_sgf
from tengen.network.fake import FakeEvaluator
from tengen.search.params import SearchParams
from tests.frontends.gtp.opponents import black_wins, surveyor

SMALL = SearchParams(megabytes=8)


def test_a_whole_game_is_played_to_its_count_and_saved(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    answers = iter(["C3", f"save {file}", "B3", "D3", *["pass"] * 40])
    shown: list[str] = []
    start = Position(5, "chinese", 0.5)
    with Engine(FakeEvaluator(surveyor), params=SMALL) as engine:
        end = play_in_terminal(
            engine,
            level_named("learner"),
            start,
            Color.BLACK,
            1,
            lambda _: next(answers),
            shown.append,
        )
    assert end.is_over
    assert "Learner" in shown[0]
    assert shown[-1].endswith(f"Result: {end.outcome()}")
    assert load_sgf(file)[0].final_position().moves[0].point == (2, 2)


def test_an_opponent_that_has_lost_resigns() -> None:
    shown: list[str] = []

    def any_move(_: str) -> str:
        return position_text(next(points))

    points = iter([(x, y) for y in range(5) for x in range(5)])

    def position_text(point: tuple[int, int]) -> str:
        return Position(5).text(point)

    with Engine(FakeEvaluator(black_wins), params=SMALL) as engine:
        end = play_in_terminal(
            engine, FULL, Position(5, "chinese", 0.5), Color.BLACK, 1, any_move, shown.append
        )
    assert str(end.outcome()) == "B+R"
    assert "Tengen resigns." in "".join(shown)
