"""A game over the WebSocket: moves, answers, taking back, the clock, the count."""

from __future__ import annotations

import threading
import time
import urllib.request
from pathlib import Path

from tengen.engine.engine import Engine
from tengen.frontends.web.http.serve import make_engine
from tengen.game.sgf.records import read_sgf
from tengen.network.loaded_network import LoadedNetwork
from tests.frontends.web.made_up import HALVES, slow_halves
from tests.frontends.web.server import LIMIT, Client, serving

# Black owns the left and White the right; a white stone lies in Black's area.
SETTLED = ["D9 F9", "D8 F8", "D7 F7", "D6 F6", "D5 F5", "D4 F4", "D3 F3", "D2 F2", "D1 F1"]


def test_a_move_is_shown_before_the_opponent_answers(client: Client) -> None:
    client.new_game()
    client.say("play", move="D4")
    node = client.hear("node")
    assert (node["move"], node["colour"], node["parent"]) == ("D4", "black", 0)
    echo = client.hear("position")
    assert echo["stones"].count("X") == 1
    assert echo["thinking"]
    assert echo["to_play"] == "white"
    assert not echo["can"]["play"]
    answer = client.hear("node")
    assert answer["colour"] == "white"
    after = client.hear("position")
    assert after["to_play"] == "black"
    assert after["can"]["play"]
    assert after["move_number"] == 2


def test_the_board_is_told_by_rows_from_the_top(client: Client) -> None:
    client.new_game(colour="both", size=5)
    position = client.play("A5")
    assert position["stones"] == "X" + 24 * "."
    assert client.play("E1")["stones"] == "X" + 23 * "." + "O"
    assert client.play("B5")["last"] == "B5"


def test_the_opponent_begins_where_one_plays_white(client: Client) -> None:
    position = client.new_game(colour="white")
    assert position["thinking"]
    position = client.until(lambda position: not position["thinking"])
    assert position["stones"].count("X") == 1
    assert not position["can"]["undo"]
    assert client.game["you"] == "white"
    assert "Beginner" in client.game["players"]["black"]


def test_handicap_stones_lie_there_and_white_begins(client: Client) -> None:
    position = client.new_game(handicap=4)
    assert client.game["handicap"] == 4
    assert client.game["komi"] == 0.5
    assert client.game["nodes"][0]["setup"]
    assert position["stones"].count("X") == 4
    position = client.until(lambda position: not position["thinking"])
    assert position["stones"].count("O") == 1


def test_what_the_rules_forbid_is_refused_with_its_reason(client: Client) -> None:
    client.new_game(colour="both", size=5)
    for move in ["B1", "E5", "A2"]:
        client.play(move)
    for move, reason in (
        ("A1", "suicide"),
        ("B1", "occupied"),
        ("Z9", "off_board"),
        ("I1", "not_a_move"),
    ):
        client.say("play", move=move)
        error = client.hear("error")
        assert (error["code"], error["data"]["reason"]) == ("illegal_move", reason)


def test_ko_is_refused_and_shown(client: Client) -> None:
    client.new_game(colour="both", size=5)
    for move in ["B5", "C5", "A4", "D4", "B3", "C3", "C4", "B4"]:
        position = client.play(move)
    assert position["captures"] == {"black": 0, "white": 1}
    assert position["ko"] == "C4"
    error = client.ask("play", "error", move="C4")
    assert error["data"]["reason"] == "ko"


def test_moves_out_of_turn_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, slow_halves(0.05)) as port, Client(port) as client:
        client.new_game(colour="white", level="full", size=19)
        assert client.refused("play", move="D4") == "not_your_turn"


def test_undo_takes_back_both_moves_and_then_nothing(client: Client) -> None:
    client.new_game()
    client.play("D4")
    client.say("undo")
    assert client.hear("removed")["node"] == 1
    position = client.hear("position")
    assert position["stones"].count(".") == 81
    assert not position["can"]["undo"]
    assert client.refused("undo") == "not_now"


def test_undo_while_the_opponent_thinks_takes_back_ones_own_move(client: Client) -> None:
    client.new_game(level="full", size=19)
    client.say("play", move="D4")
    client.say("undo")
    client.hear("removed")
    position = client.until(lambda position: position["move_number"] == 0)
    assert not position["thinking"]
    client.settle()
    assert client.ask("play", move="Q4")["stones"].count("X") == 1


def test_resigning_ends_the_game_for_the_opponent(client: Client) -> None:
    client.new_game()
    position = client.ask("resign")
    assert (position["phase"], position["result"]) == ("over", "W+R")
    assert client.refused("play", move="D4") == "not_now"


def settled(client: Client, rules: str = "chinese") -> None:
    client.new_game(colour="both", rules=rules)
    for pair in SETTLED:
        for move in pair.split():
            client.play(move)
    client.play("J5")
    client.play("B5")
    client.play("pass")
    client.say("play", move="pass")
    position = client.until(lambda position: position["phase"] == "counting")
    assert position["phase"] == "counting"


def test_the_count_area_by_area_with_dead_stones_marked(client: Client) -> None:
    settled(client)
    both = client.hear("count")
    assert both["dead"] == ["B5", "J5"]  # each in the half that the network gives to the other
    # 4 columns are Black's, 4 are White's, the middle is nobody's.
    assert both["black"] == {
        "stones": 9, "area": 27, "prisoners": 0, "tax": 0, "komi": 0, "total": 36
    }  # fmt: skip
    assert (both["white"]["total"], both["white"]["komi"]) == (43.5, 7.5)
    assert both["result"] == "W+7.5"
    assert both["owner"] == 9 * "XXXX.OOOO"
    client.say("mark_dead", point="B5")
    one = client.hear("count")
    assert one["dead"] == ["J5"]
    assert one["owner"][36:45] == ".O.X.OOOO"  # a living stone makes Black's area nobody's
    assert client.refused("mark_dead", point="E5") == "bad_point"


def test_an_accepted_count_is_the_result_of_the_game_and_of_its_record(
    client: Client, port: int
) -> None:
    settled(client, "japanese")
    count = client.hear("count")
    # 27 points each and a prisoner each, and 6.5 komi.
    assert count["result"] == "W+6.5"
    assert (count["black"]["stones"], count["black"]["prisoners"]) == (0, 1)
    client.say("accept_count")
    over = client.hear("position")
    assert (over["phase"], over["result"]) == ("over", "W+6.5")
    address = f"http://127.0.0.1:{port}/api/sessions/{client.session}/game.sgf"
    with urllib.request.urlopen(address) as answer:
        game = read_sgf(answer.read())[0]
    assert str(game.outcome) == "W+6.5"
    assert len(list(game.root.main_line())) == 23


def test_a_game_goes_on_after_the_count_was_refused(client: Client) -> None:
    settled(client)
    client.hear("count")
    client.say("resume")
    client.hear("removed")
    position = client.hear("position")
    assert (position["phase"], position["last"]) == ("playing", "B5")
    assert client.play("B6")["phase"] == "playing"


def test_time_is_lost_in_the_server(client: Client) -> None:
    client.new_game(colour="both", clock={"main": 0.2, "period": 0.1, "periods": 2})
    begun = time.monotonic()
    position = client.until(lambda position: position["phase"] == "over")
    assert 0.35 < time.monotonic() - begun < 2
    assert position["result"] == "W+T"
    assert position["clock"]["running"] is None


def test_a_move_in_time_keeps_its_period(client: Client) -> None:
    client.new_game(colour="both", clock={"main": 0, "period": 5, "periods": 3})
    time.sleep(0.1)
    clock = client.play("D4")["clock"]
    assert clock["running"] == "white"
    assert clock["black"] == {"main": 0, "period": 5, "periods": 3}


def test_the_clock_stands_still_while_nobody_is_there(port: int) -> None:
    with Client(port) as client:
        client.new_game(colour="both", clock={"main": 5})
        session = client.session
    time.sleep(0.3)
    with Client(port, session) as client:
        assert client.position["clock"]["black"]["main"] > 4.8
        assert client.position["clock"]["running"] == "black"


def test_hints_are_moves_best_first(client: Client) -> None:
    client.new_game()
    hint = client.ask("hint", "hint")
    assert hint["node"] == 0
    assert hint["moves"][0]["pv"][0] == hint["moves"][0]["move"]
    assert 0 <= hint["moves"][0]["winrate"] <= 1


def test_terms_that_cannot_be_are_refused(client: Client) -> None:
    terms: dict[str, object] = {"size": 9, "colour": "black", "rules": "chinese"}
    impossible: list[dict[str, object]] = [
        {"komi": 6.3},
        {"rules": "calvinball"},
        {"level": "god"},
        {"size": 5, "handicap": 4},
    ]
    for wrong in impossible:
        assert client.refused("new_game", **(terms | wrong)) == "bad_terms"
    senseless: list[dict[str, object]] = [
        {"size": 4},
        {"size": 20},
        {"colour": "green"},
        {"clock": {"main": -1}},
    ]
    for wrong in senseless:
        assert client.refused("new_game", **(terms | wrong)) == "bad_message"


def test_after_the_game_one_is_told_what_was_better(client: Client) -> None:
    client.new_game()
    assert client.refused("better") == "not_now"
    client.play("A1")
    client.ask("resign")
    better = client.ask("better", "better")
    assert all(turn["colour"] == "black" for turn in better["turns"])


def test_one_can_play_before_the_network_is_there_and_the_opponent_answers_when_it_is(
    tmp_path: Path,
) -> None:
    loaded = threading.Event()

    def make() -> Engine:
        loaded.wait(LIMIT)
        return make_engine(LoadedNetwork(HALVES, "late.bin.gz"))

    with serving(tmp_path, make=make) as port, Client(port) as client:
        try:
            assert not client.welcome["info"]["ready"]
            client.new_game(clock={"main": 0.5})
            assert client.refused("hint") == "not_ready"
            assert client.refused("review", visits=2) == "not_ready"
            echo = client.ask("play", move="D4")
            assert echo["thinking"]
            assert echo["clock"]["running"] is None  # nobody pays for the loading
            client.settle()
        finally:
            loaded.set()
        info = client.hear("info")
        assert info["ready"]
        assert info["network"]["file"] == "late.bin.gz"
        assert client.until(lambda position: not position["thinking"])["move_number"] == 2


def test_two_people_count_without_a_network_by_marking_dead_stones(tmp_path: Path) -> None:
    loaded = threading.Event()

    def make() -> Engine:
        loaded.wait(LIMIT)
        return make_engine(LoadedNetwork(HALVES))

    with serving(tmp_path, make=make) as port, Client(port) as client:
        try:
            client.new_game(colour="both", size=5)
            for move in ("C3", "pass", "pass"):
                client.say("play", move=move)
            client.until(lambda position: position["phase"] == "counting")
            client.say("mark_dead", point="C3")
            assert client.hear("count")["dead"] == ["C3"]
            assert client.ask("accept_count")["result"] == "W+7.5"
        finally:
            loaded.set()


def test_a_teaching_game_says_what_each_move_lost(client: Client, port: int) -> None:
    client.new_game(level="beginner", teach=2.0)
    assert client.game["teach"] == 2.0
    client.say("play", move="C3")
    taught = client.hear("taught")
    assert (taught["node"], taught["told"]) == (1, taught["loss"] >= 2)
    assert taught["best"]
    client.settle()
    for teach in (0, -1, 1000, "x"):
        assert client.refused("new_game", size=9, colour="black", teach=teach) == "bad_message"
    client.new_game(colour="both", teach=2.0)
    assert client.game["teach"] is None  # there is nobody to be taught by Tengen
