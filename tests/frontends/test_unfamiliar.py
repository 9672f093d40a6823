"""Networks in games they were not trained for: every front end says so once, and rates nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tengen.browser import STATIC
from tengen.engine.engine import Engine
from tengen.engine.levels import level_named
from tengen.engine.loading import EngineLoader
from tengen.evaluation.match import parse_engine
from tengen.frontends import review as review_command
from tengen.frontends.command_options import GtpOptions, MatchOptions, ReviewOptions
from tengen.frontends.match import run_match
from tengen.frontends.network_files import show_network
from tengen.frontends.review import run_reviews
from tengen.frontends.terminal_game import play_in_terminal
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.network.fake import FakeEvaluator
from tengen.network.loaded_network import LoadedNetwork
from tengen.network.trained_on import trained_on
from tengen.search.params import SearchParams
from tests.bundled import stand_ins
from tests.frontends.analysis.conversation import AHEAD, Conversation
from tests.frontends.gtp.client import Client as GtpClient
from tests.frontends.gtp.opponents import surveyor
from tests.frontends.web.made_up import HALVES
from tests.frontends.web.server import Client, serving
from tests.reviewing.games import BOTH_LEFT, two_points_network
from tests.reviewing.test_html_page import data_of

SMALL = SearchParams(megabytes=8)
SENTENCE = "was not trained for"


def trained(evaluator: Evaluator, boards: str = "5, 9", rules: str = "chinese") -> LoadedNetwork:
    """An evaluator as if its file said what it was trained on."""
    known = trained_on({"board_sizes": boards, "rules": rules})
    return LoadedNetwork(evaluator, "fake.safetensors", trained_on=known)


# GTP


@pytest.fixture
def gtp() -> Iterator[GtpClient]:
    with Engine(trained(FakeEvaluator(surveyor)), params=SMALL) as engine:
        loader = EngineLoader(lambda: engine)
        loader.wait()
        options = GtpOptions(seed=0, board_size=5, visits=4, komi=0.5, rules="chinese")
        with closing(GtpClient(loader, options)) as client:
            yield client


def test_gtp_warns_once_on_stderr(gtp: GtpClient, capsys: pytest.CaptureFixture[str]) -> None:
    gtp.body("genmove b")
    assert SENTENCE not in capsys.readouterr().err
    gtp.body("boardsize 6")
    gtp.body("genmove b")
    said = capsys.readouterr().err
    assert said.count("fake was not trained for 6x6 boards (boards 5x5, 9x9)") == 1
    for command in ("genmove w", "kata-raw-nn 0", "clear_board", "genmove b", "boardsize 5"):
        gtp.body(command)
    gtp.body("genmove b")
    assert SENTENCE not in capsys.readouterr().err
    gtp.body("kata-set-rules japanese")
    gtp.body("kata-raw-nn 0")
    assert "japanese rules (rules chinese)" in capsys.readouterr().err


def test_gtp_plays_each_board_with_its_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_ins(tmp_path, monkeypatch)
    with Engine(device="cpu", params=SMALL, first_game=Position(9)) as engine:
        loader = EngineLoader(lambda: engine)
        loader.wait()
        options = GtpOptions(seed=0, board_size=9, visits=2)
        with closing(GtpClient(loader, options)) as client:
            client.body("genmove b")
            names = [each["name"] for each in json.loads(client.body("kata-get-models"))]
            assert names == ["tengen-9x9.safetensors"]
            client.body("boardsize 13")
            client.body("genmove b")
            names = [each["name"] for each in json.loads(client.body("kata-get-models"))]
            assert names == ["tengen-9x9.safetensors", "tengen-all.safetensors"]
            assert "network tengen-all " in client.body("benchmark 4")


# Analysis


def query(id_: str, side: int = 6, rules: str = "chinese") -> dict[str, object]:
    board = {"boardXSize": side, "boardYSize": side}
    return {"id": id_, **board, "rules": rules, "komi": 7, "moves": [], "maxVisits": 2}


def test_analysis_warns_each_client_once() -> None:
    with Conversation(load=lambda: trained(AHEAD)) as client:

        def warnings(ids: list[str]) -> list[tuple[str, str, str]]:
            answers = client.until(
                lambda answers: {each["id"] for each in answers if "rootInfo" in each} >= set(ids)
            )
            return [
                (each["id"], each["field"], each["warning"])
                for each in answers
                if "warning" in each
            ]

        client.say(query("known", 5))
        assert warnings(["known"]) == []
        for id_ in ("a", "b"):
            client.say(query(id_))
        client.say(query("c", 5, "japanese"))
        (first, second) = warnings(["a", "b", "c"])
        assert first[:2] == ("a", "boardXSize")
        assert SENTENCE in first[2]
        assert second[:2] == ("c", "rules")
        other = client.another_client()
        other.say(query("d"))
        told = other.until(lambda answers: any("rootInfo" in each for each in answers))
        assert [each["id"] for each in told if "warning" in each] == ["d"]


# Web


def test_the_page_is_told_with_each_position_and_rates_nobody(tmp_path: Path) -> None:
    def make() -> Engine:
        return Engine(trained(HALVES, "9"), params=SMALL)

    with serving(tmp_path, make=make) as port, Client(port) as client:
        if not client.welcome["info"]["ready"]:
            client.hear("info")
        assert client.new_game(level="full", colour="both")["unfamiliar"] is None
        position = client.new_game(colour="both", size=7, rules="japanese")
        assert position["network"] == "fake"
        told = {"network": "fake", "board": "7x7", "rules": "japanese"}
        assert position["unfamiliar"] == told
        client.play("D4")
        client.play("C3")
        client.say("review", visits=4)
        review = client.hear("review")
        assert review["unfamiliar"] == told
        assert review["accuracy"] == {"black": None, "white": None}
        client.ask("resign")
        better = client.ask("better", "better")
        assert better["unfamiliar"] == told


def test_levels_have_ranks_where_they_were_measured_with_this_network(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as port, Client(port) as client:
        assert all(level["ranks"] == {} for level in client.welcome["info"]["levels"])
    measured = FakeEvaluator(name="tengen-9x9")
    with serving(tmp_path / "b", measured) as port, Client(port) as client:
        levels = {level["id"]: level["ranks"] for level in client.welcome["info"]["levels"]}
        assert set(levels["casual"]) == {"9"}
        assert levels["casual"]["9"]["dan"] is False


@pytest.mark.parametrize("language", ["en", "zh-Hant", "ar"])
def test_every_text_about_it_is_there_in_all_languages(language: str) -> None:
    texts = json.loads((STATIC / "languages" / f"{language}.json").read_text("utf-8"))
    wanted = ["better.unrated", "review.unrated", "review.none.unrated", "rank.kyu", "rank.dan"]
    for key in (*wanted, *(f"banner.unfamiliar.{kind}" for kind in ("board", "rules", "both"))):
        assert texts[key]
    assert set(re.findall(r"{\w+}", texts["banner.unfamiliar.both"])) == {
        "{network}",
        "{board}",
        "{rules}",
    }


# Reviews, the terminal, matches


def test_a_review_says_so_and_rates_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "game.sgf"
    game.write_text(BOTH_LEFT)
    network = trained(two_points_network(), "19")
    monkeypatch.setattr(review_command, "Engine", lambda model, **options: Engine(network))
    [review] = run_reviews([str(game)], ReviewOptions(visits=20, model="any"))
    assert review.black.accuracy is review.white.accuracy is None
    told = capsys.readouterr()
    assert "accuracy" not in told.out
    assert "no mistakes" not in told.out
    assert "Black: not rated, 2 possible mistakes in 3 moves" in told.out
    assert SENTENCE in told.err
    written = (tmp_path / "game.review.sgf").read_text("utf-8")
    assert f"{SENTENCE} 7x7" in written
    assert "So no accuracy is shown." in written
    assert written.count("accuracy") == 1
    page = data_of((tmp_path / "game.review.html").read_text("utf-8"))
    assert page["left"]["unfamiliar"]["board"] == "7x7"  # said in words by the page's script
    assert {side["accuracy"] for side in page["sides"].values()} == {None}


def test_the_terminal_says_so_before_the_game() -> None:
    shown: list[str] = []
    with Engine(trained(FakeEvaluator(surveyor)), params=SMALL) as engine:
        for position in (Position(5, "chinese"), Position(6, "chinese")):
            play_in_terminal(
                engine,
                level_named("learner"),
                position,
                Color.BLACK,
                1,
                lambda _: "quit",
                shown.append,
            )
    (told,) = [text for text in shown if SENTENCE in text]
    assert "6x6" in told


def test_a_match_says_so_and_takes_the_network_of_its_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_ins(tmp_path, monkeypatch)
    for side, count in ((5, 1), (9, 0)):
        engines = parse_engine("bundled@1"), parse_engine("firstday")
        run_match(engines, MatchOptions(games=2, board_size=side, device="cpu"))
        assert capsys.readouterr().err.count(SENTENCE) == count


def test_network_files_tell_what_they_were_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_ins(tmp_path, monkeypatch)
    show_network("bundled")
    told = capsys.readouterr().out
    assert "boards 9x9; rules tromp-taylor" in told
    assert "boards 9x9, 13x13, 19x19; rules tromp-taylor" in told
