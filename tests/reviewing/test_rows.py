"""Reviews as rows, the mistake of which can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import tengen
from tengen.engine.engine import Engine
from tengen.game.sgf.records import SgfError
from tests.reviewing.games import BOTH_LEFT, only_game, two_points_network


def test_a_row_for_each_move_of_each_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.sgf").write_text(BOTH_LEFT)
    (tmp_path / "two.SGF").write_text(BOTH_LEFT)
    (tmp_path / "broken.sgf").write_text("hello")
    heard: list[tuple[int, int | None]] = []
    with Engine(two_points_network()) as engine:
        rows = tengen.analyse(
            [tmp_path, only_game(BOTH_LEFT)],
            engine,
            visits=40,
            progress=lambda *now: heard.append(now),
        )
    assert {row["game"] for row in rows} == {1, 2, 3}
    assert {Path(row["source"]).name for row in rows} == {"one.sgf", "two.SGF", "game.sgf"}
    assert heard[-1] == (len(rows), len(rows))
    assert "broken.sgf" in capsys.readouterr().err
    first = rows[0]
    assert (first["move_number"], first["color"], first["best"]) == (1, "black", "D4")
    assert first["points_lost"] > 0
    # Black's lead falls by what Black lost.
    assert first["black_lead"] < first["black_lead_before"]
    columns = [tuple(row) for row in rows]
    assert len(set(columns)) == 1
    assert all(type(value) in (int, float, str, bool) for row in rows for value in row.values())


def test_without_any_game_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SgfError, match="no game to review"):
        tengen.analyse(tmp_path)
