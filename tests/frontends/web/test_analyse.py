"""Opened games: the tree, variations, comments and marks, live analysis, the graph, reviews."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tengen.game.sgf.records import read_sgf
from tests.frontends.web.made_up import slow_halves
from tests.frontends.web.server import Client, serving

GAME = r"(;SZ[9]KM[6.5]RU[japanese]PB[Shusaku]PW[Shuwa]RE[B+2];B[ee]C[one]TR[cc]LB[dd:a];W[cg]"
GAME += r"(;B[gg];W[gc])(;B[ec]))"


def download(port: int, client: Client, name: str) -> bytes:
    address = f"http://127.0.0.1:{port}/api/sessions/{client.session}/{name}"
    with urllib.request.urlopen(address) as answer:
        content: bytes = answer.read()
    return content


@pytest.fixture
def opened(client: Client) -> Client:
    client.say("open", sgf=GAME)
    client.game = client.hear("game")
    client.position = client.hear("position")
    return client


def test_an_opened_game_is_a_tree_of_nodes(opened: Client) -> None:
    game = opened.game
    assert (game["mode"], game["you"], game["size"], game["komi"]) == ("analyse", None, 9, 6.5)
    assert game["players"] == {"black": "Shusaku", "white": "Shuwa"}
    by_id = {node["id"]: node for node in game["nodes"]}
    moves = [node["move"] for node in game["nodes"]]
    assert moves == [None, "E5", "C3", "G3", "G7", "E7"]
    assert by_id[5]["parent"] == by_id[3]["parent"] == 2
    assert by_id[1]["comment"] == "one"
    assert by_id[1]["marks"] == [
        {"point": "C7", "kind": "triangle"},
        {"point": "D6", "kind": "label", "label": "a"},
    ]
    assert opened.position["phase"] == "free"
    assert opened.position["result"] == "B+2"


def test_walking_and_playing_out_a_line(opened: Client) -> None:
    assert opened.ask("go", node=2)["stones"].count("O") == 1
    opened.say("play", move="E7")  # is there already
    assert opened.hear("position")["node"] == 5
    opened.say("add", node=5, move="D4")
    node = opened.hear("node")
    assert (node["parent"], node["colour"]) == (5, "white")
    position = opened.hear("position")
    assert (position["node"], position["move_number"]) == (node["id"], 4)
    opened.say("remove", node=5)
    assert opened.hear("removed")["node"] == 5
    assert opened.hear("position")["node"] == 2
    assert opened.refused("go", node=5) == "unknown_node"
    assert opened.refused("remove", node=0) == "unknown_node"


def test_comments_and_marks_are_kept_in_the_record(opened: Client, port: int) -> None:
    nasty = "a] \\ <script>alert(1)</script> )(;B[aa] : 圍棋 مرحبا"
    opened.say("comment", node=2, text=nasty)
    assert opened.hear("node")["comment"] == nasty
    opened.say("mark", node=2, point="E5", kind="label", label="]:x")
    opened.hear("node")
    opened.say("mark", node=2, point="E5", kind="square")
    opened.hear("node")
    opened.say("mark", node=2, point="A1", kind="label", label="]:x")
    marks = opened.hear("node")["marks"]
    assert marks == [
        {"point": "E5", "kind": "square"},
        {"point": "A1", "kind": "label", "label": "]:x"},
    ]
    assert opened.refused("mark", node=2, point="T19", kind="square") == "bad_point"
    root = read_sgf(download(port, opened, "game.sgf"))[0].root
    assert root.children[0].children[0].text("C") == nasty
    assert len(root.children[0].children[0].children) == 2
    opened.say("open", sgf=download(port, opened, "game.sgf").decode())
    again = opened.hear("game")
    assert again["nodes"][2]["marks"] == marks
    assert again["nodes"][2]["comment"] == nasty


@pytest.mark.parametrize(
    ("sgf", "code"),
    [
        ("hello", "bad_sgf"),
        ("(;SZ[99];B[aa])", "bad_sgf"),
        ("(;SZ[9](;B[aa])(;B[aa];W[zz]))", "bad_sgf"),
        ("(;SZ[9:13];B[aa])", "bad_sgf"),
        ("(;" + "C[" + 1_000_001 * "x" + "])", "too_large"),
        ("(" + 3_000 * ";B[]" + ")", "too_large"),
        ("(;" + 30_000 * "(;B[aa])" + ")", "too_large"),
    ],
)
def test_what_is_no_game_is_refused_and_the_game_before_stays(
    client: Client, sgf: str, code: str
) -> None:
    client.new_game(colour="both")
    client.play("D4")
    assert client.refused("open", sgf=sgf) == code
    assert client.ask("play", move="E5")["move_number"] == 2


def test_rectangles_of_marks_do_not_make_endless_messages(client: Client) -> None:
    client.say("open", sgf="(;SZ[19]" + 5_000 * ";TR[aa:ss]" + ")")
    assert client.hear("error")["code"] == "too_large"
    client.say("open", sgf="(;SZ[19]" + 1_500 * ";TR[aa:ss]" + ")")
    game = client.hear("game")
    assert sum(len(node.get("marks", ())) for node in game["nodes"]) <= 50_361


def test_live_analysis_follows_where_one_is(opened: Client) -> None:
    opened.say("analyse", on=True)
    analysis = opened.hear("analysis")
    assert analysis["node"] == 0
    # Black is ahead, says the made-up network, whoever is to play.
    assert analysis["winrate"] > 0.7
    assert analysis["lead"] > 4
    assert len(analysis["ownership"]) == 81
    assert analysis["ownership"][0] > 0.8
    assert analysis["ownership"][8] < -0.8
    assert len(analysis["policy"]) == 82
    assert 1 <= len(analysis["moves"]) <= 12
    opened.say("go", node=1)
    while (analysis := opened.hear("analysis"))["node"] != 1:
        pass
    assert analysis["winrate"] > 0.7
    assert analysis["moves"][0]["winrate"] < 0.3  # of White, who is to play
    assert analysis["speed"] > 0
    more = opened.hear("analysis")
    assert more["visits"] >= analysis["visits"]
    opened.say("analyse", on=False)
    opened.settle()
    time.sleep(0.4)
    opened.say("ping")
    assert opened.next()["type"] == "pong"


def test_the_graph_fills_in_for_the_whole_line(opened: Client) -> None:
    opened.say("analyse", on=True)
    known: set[int] = set()
    end = time.monotonic() + 10
    while known != {0, 1, 2, 3, 4} and time.monotonic() < end:
        known |= {point["node"] for point in opened.hear("graph")["points"]}
    assert known == {0, 1, 2, 3, 4}  # the main line, not the variation


def test_during_a_game_against_the_program_there_is_no_analysis(client: Client) -> None:
    client.new_game()
    assert client.refused("analyse", on=True) == "not_now"
    assert client.refused("go", node=0) == "not_now"
    client.say("set_mode", mode="analyse")
    assert client.hear("position")["phase"] == "free"
    client.say("analyse", on=True)
    client.hear("analysis")
    client.say("play", move="A1")  # tried, not played
    client.hear("position")
    assert client.ask("set_mode", mode="play")["stones"].count(".") == 81
    assert client.play("D4")["move_number"] == 2


def test_a_variation_tried_during_a_game_stays_behind_its_moves(client: Client, port: int) -> None:
    client.new_game(colour="both")
    client.play("D4")
    client.ask("set_mode", mode="analyse")
    client.ask("play", move="A1")
    assert client.refused("remove", node=1) == "not_now"
    client.ask("set_mode", mode="play")
    client.play("E5")
    game = read_sgf(download(port, client, "game.sgf"))[0]
    assert [str(p.last_move and p.text(p.last_move)) for p in game.positions()][1:] == ["D4", "E5"]
    assert len(game.root.children[0].children) == 2


def test_a_review_tells_each_turn_and_can_be_downloaded(opened: Client, port: int) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        download(port, opened, "review.sgf")
    opened.say("review", visits=10)
    progress = opened.hear("review_progress")
    assert 0 < progress["done"] <= progress["total"]
    review = opened.hear("review")
    assert [turn["move"] for turn in review["turns"]] == ["E5", "C3", "G3", "G7"]
    assert [turn["node"] for turn in review["turns"]] == [1, 2, 3, 4]
    assert all(turn["loss"] >= 0 for turn in review["turns"])
    assert set(review["accuracy"]) == {"black", "white"}
    assert read_sgf(download(port, opened, "review.sgf"))
    assert b"Shusaku" in download(port, opened, "review.html")
    assert b'<html lang="ja">' in download(port, opened, "review.html?language=ja")
    with pytest.raises(urllib.error.HTTPError, match="422"):
        download(port, opened, "review.html?language=xx")


def test_a_review_can_be_stopped(tmp_path: Path) -> None:
    with serving(tmp_path, slow_halves(0.05)) as port, Client(port) as client:
        pairs = "".join(f";B[{x}{y}];W[{x}{z}]" for y, z in ("ac", "eg") for x in "abcdefghi")
        client.say("open", sgf=f"(;SZ[9]{pairs})")
        client.say("review", visits=20)
        client.hear("review_progress")
        client.say("stop_review")
        assert len(client.hear("review")["turns"]) < 36


def test_there_must_be_something_to_review(client: Client) -> None:
    client.new_game(colour="both")
    assert client.refused("review", visits=10) == "not_now"
    assert client.refused("review", visits=10**6) == "bad_message"
