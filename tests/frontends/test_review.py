"""`tengen review` as its user meets it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress, ProgressColumn

from tengen.engine.engine import Engine
from tengen.frontends import review as command
from tengen.frontends.command_options import ReviewOptions
from tengen.frontends.review import run_reviews
from tengen.game.sgf.records import SgfError, SgfGame, load_sgf
from tengen.network.evaluator import Batch, Evaluation, Evaluator
from tengen.network.fake import FakeEvaluator, uniform
from tengen.reviewing.review import GameReview, Searched, review_game
from tests.reviewing.games import BOTH_LEFT, two_points_network


@pytest.fixture
def game(tmp_path: Path) -> Path:
    file = tmp_path / "my game.sgf"
    file.write_text(BOTH_LEFT)
    return file


def use(monkeypatch: pytest.MonkeyPatch, network: Evaluator) -> None:
    monkeypatch.setattr(command, "Engine", lambda model, **options: Engine(network))


OPTIONS = ReviewOptions(visits=40, model="any")


def test_a_review_is_written_beside_the_game_and_summed_up(
    game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, two_points_network())
    run_reviews([str(game)], OPTIONS)
    written = game.parent / "my game.review.sgf"
    assert "D4 was better" in load_sgf(written)[0].root.children[0].text("C")
    assert game.read_text() == BOTH_LEFT
    assert (game.parent / "my game.review.html").read_text("utf-8").startswith("<!doctype html>")
    said = capsys.readouterr().out
    assert "Black: accuracy 33%" in said
    assert "White: accuracy 100%" in said
    assert str(written) in said


def test_it_can_be_written_elsewhere(
    game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, two_points_network())
    out = tmp_path / "new" / "folder"
    run_reviews([str(game)], ReviewOptions(visits=20, model="any", out=str(out)))
    names = sorted(file.name for file in out.iterdir())
    assert names == ["my game.review.html", "my game.review.sgf"]
    assert [file.name for file in game.parent.glob("*.sgf")] == ["my game.sgf"]


def test_the_page_is_in_the_language_that_is_chosen(
    game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, two_points_network())
    run_reviews([str(game)], ReviewOptions(visits=20, model="any", language="zh-Hant"))
    page = (game.parent / "my game.review.html").read_text("utf-8")
    assert '<html lang="zh-Hant">' in page
    with pytest.raises(ValueError, match="there is no language 'klingon'; there are ar, en"):
        run_reviews([str(game)], ReviewOptions(visits=20, model="any", language="klingon"))


def test_an_illegal_move_ends_the_review_and_is_named(
    game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, two_points_network())
    game.write_text("(;SZ[7]KM[0]RU[chinese];B[aa];W[dd];B[aa];W[bb])")
    assert len(run_reviews([str(game)], OPTIONS)[0].turns) == 2
    assert "move 3, black A7: the point is occupied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("(;SZ[9])", "no moves"),
        ("(;SZ[25];B[aa])", "19x19"),
        ("hello", "no game"),
    ],
)
def test_what_cannot_be_reviewed_is_refused_before_a_network_is_loaded(
    game: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    monkeypatch.setattr(command, "Engine", None)
    game.write_text(text)
    with pytest.raises(SgfError, match=complaint):
        run_reviews([str(game)], OPTIONS)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SgfError, match=r"nowhere\.sgf.*No such file"):
        run_reviews(["nowhere.sgf"], OPTIONS)


def test_an_interrupt_keeps_what_is_known(
    game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C when half of the moves are known."""
    use(monkeypatch, two_points_network())

    def interrupted(
        engine: Engine,
        game: SgfGame,
        visits: int,
        on_turn: Callable[[Searched], None],
        stopped: Callable[[], bool],
    ) -> GameReview:
        def tell(searched: Searched) -> None:
            on_turn(searched)
            if searched.done == 3:
                os.kill(os.getpid(), signal.SIGINT)

        return review_game(engine, game, visits, tell, stopped)

    monkeypatch.setattr(command, "review_game", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_reviews([str(game)], OPTIONS)
    heard = capsys.readouterr()
    assert "stopping" in heard.err
    assert "Stopped early" in heard.err
    assert (game.parent / "my game.review.html").exists()


def test_an_interrupt_before_anything_is_known_says_so(
    game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupting(batch: Batch) -> Evaluation:
        if not begun:
            os.kill(os.getpid(), signal.SIGINT)
        begun.append(True)
        return uniform(batch)

    begun: list[bool] = []
    use(monkeypatch, FakeEvaluator(interrupting))
    game.write_text("(;SZ[7];B[aa])")
    with pytest.raises(KeyboardInterrupt):
        run_reviews([str(game)], ReviewOptions(visits=1000, model="any"))
    assert "nothing is written" in capsys.readouterr().err
    assert [file.name for file in game.parent.iterdir()] == ["my game.sgf"]


def test_names_cannot_command_the_terminal(
    game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, two_points_network())
    game.write_text(BOTH_LEFT.replace("SZ[7]", "SZ[7]PB[\x1b[2J[red\\]Ann]"), "utf-8")
    run_reviews([str(game)], OPTIONS)
    heard = capsys.readouterr()
    assert "\x1b[2J" not in heard.out
    assert "Ann" in heard.out


def test_many_files_and_folders_are_reviewed_under_one_bar(
    game: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened: list[int] = []
    bars: list[int] = []

    def engine(*_: object, **__: object) -> Engine:
        opened.append(1)
        return Engine(two_points_network())

    def progress(*columns: ProgressColumn, **options: Any) -> Progress:
        bars.append(1)
        return Progress(*columns, **options)

    monkeypatch.setattr(command, "Engine", engine)
    monkeypatch.setattr(command, "Progress", progress)
    folder = tmp_path / "games" / "inner"
    folder.mkdir(parents=True)
    (folder / "a.sgf").write_text(BOTH_LEFT)
    (folder.parent / "b.sgf").write_text(BOTH_LEFT)
    (folder / "broken.sgf").write_text("hello")
    (folder / "a.review.sgf").write_text(BOTH_LEFT)  # of an earlier review, not a game to review
    reviews = command.run_reviews([str(game), str(folder.parent)], OPTIONS)
    assert len(reviews) == 3
    assert (len(opened), len(bars)) == (1, 1)
    heard = capsys.readouterr()
    assert "left out" in heard.err
    assert "broken.sgf" in heard.err
    assert "b.sgf" in heard.out
    for file in (folder / "a.review.html", folder.parent / "b.review.html"):
        assert file.exists()
    assert not (folder / "a.review.review.sgf").exists()


def test_where_many_reviews_were_written_is_said(
    game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "Engine", lambda *_, **__: Engine(two_points_network()))
    other, out = tmp_path / "other.sgf", tmp_path / "out"
    other.write_text(BOTH_LEFT)
    options = ReviewOptions(visits=4, model="any", out=str(out))
    command.run_reviews([str(game), str(other)], options)
    assert f"Written to {out}: " in capsys.readouterr().out
    assert (out / "other.review.html").exists()


def test_games_of_one_name_do_not_overwrite_each_other(game: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / game.name
    other.parent.mkdir()
    other.write_text(BOTH_LEFT)
    options = ReviewOptions(visits=20, model="any", out=str(tmp_path / "out"))
    with pytest.raises(ValueError, match="have one name"):
        command.run_reviews([str(game), str(other)], options)


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no game to review"):
        command.run_reviews([str(tmp_path)], OPTIONS)
