"""Records changed: positions set up, lines promoted, games played on; and the board in words."""

from __future__ import annotations

import urllib.request

from tengen.game.sgf.records import read_sgf
from tests.frontends.web.server import Client

GAME = "(;SZ[9]KM[7]RE[B+R]PB[Ann];B[ee]C[hm];W[cc](;B[gc];W[cg])(;B[cg];W[gc]))"


def opened(client: Client, sgf: str = GAME) -> None:
    client.say("open", sgf=sgf)
    client.game = client.hear("game")
    client.position = client.hear("position")


def test_stones_are_set_up_in_a_node_of_their_own(client: Client) -> None:
    opened(client, "(;SZ[9])")
    for point, stone in (("C3", "black"), ("D4", "white"), ("E5", "black"), ("E5", "empty")):
        position = client.ask("set_up", node=0, point=point, stone=stone)
        assert position["node"] == 0  # nothing comes after it yet
    assert (position["stones"].count("X"), position["stones"].count("O")) == (1, 1)
    assert client.ask("set_turn", node=0, colour="white")["to_play"] == "white"
    client.say("add", node=0, move="G7")
    client.hear("position")
    position = client.ask("set_up", node=0, point="A1", stone="black")
    assert position["node"] == 2  # a variation: the game after the root stays what it is
    assert position["stones"].count("X") == 2
    position = client.ask("set_up", node=2, point="C3", stone="empty")
    assert position["node"] == 2
    assert position["stones"].count("X") == 1
    assert client.refused("set_up", node=0, point="Z9", stone="black") == "bad_point"
    assert client.refused("set_up", node=99, point="A1", stone="black") == "unknown_node"
    assert client.refused("set_up", node=0, point="A1", stone="green") == "bad_message"


def test_captured_stones_are_set_and_count(client: Client, port: int) -> None:
    opened(client, "(;SZ[9]KM[0]RU[Japanese]AB[aa]AW[ii])")
    position = client.ask("set_captured", node=0, black=2, white=11)
    assert position["captures"] == {"black": 11, "white": 2}  # taken by Black, by White
    assert client.refused("set_captured", node=0, black=-1, white=0) == "bad_message"
    assert client.refused("set_captured", node=9, black=1, white=0) == "unknown_node"
    client.say("play_on", node=0, level="beginner")
    assert client.hear("game")["nodes"][0].get("setup")
    assert client.hear("position")["captures"] == {"black": 11, "white": 2}
    saved = read_sgf(downloaded(port, client))[0].final_position()
    assert saved.score().black.prisoners == 11
    assert saved.score().white.prisoners == 2


def downloaded(port: int, client: Client) -> bytes:
    address = f"http://127.0.0.1:{port}/api/sessions/{client.session}/game.sgf"
    with urllib.request.urlopen(address) as answer:
        content = answer.read()
    assert isinstance(content, bytes)
    return content


def test_a_stone_without_liberties_is_not_set_up(client: Client) -> None:
    opened(client, "(;SZ[9]AB[ab][ba])")
    before = client.position["stones"]
    client.say("set_up", request=7, node=0, point="A9", stone="white")
    answer = client.hear("error", "position")
    after = client.ask("go", node=0)["stones"]
    assert answer["type"] == "error" or after.count("O") == 1
    assert answer["type"] == "position" or after == before


def test_a_variation_becomes_the_main_line(client: Client) -> None:
    opened(client)
    client.say("promote", node=5)
    nodes = client.hear("game")["nodes"]
    assert [node["move"] for node in nodes] == [None, "E5", "C7", "C3", "G7", "G7", "C3"]
    assert client.hear("position")["node"] == 0
    client.new_game(colour="both")
    client.play("C3")
    client.say("set_mode", mode="analyse")
    client.hear("position")
    assert client.refused("promote", node=1) == "not_now"


def test_a_game_is_played_on_from_a_position(client: Client) -> None:
    opened(client)
    client.say("play_on", node=2, level="beginner")
    game = client.hear("game")
    assert (game["you"], game["level"], game["mode"]) == ("black", "beginner", "play")
    assert [node["move"] for node in game["nodes"]] == [None, "E5", "C7"]
    assert game["about"] == {}  # neither the result nor the comments are those of this game
    assert client.hear("position")["phase"] == "playing"
    assert client.play("G7")["move_number"] == 4
    opened(client)
    client.say("play_on", node=1)  # White is to move; the level is the player's own
    assert client.hear("game")["level"] == "newcomer"
    opened(client, "(;SZ[9];B[];W[])")
    assert client.refused("play_on", node=2) == "not_now"
    assert client.refused("play_on", node=0, level="god") == "bad_terms"


def test_the_program_plays_itself(client: Client) -> None:
    client.new_game(colour="neither", level="beginner")
    assert client.position["thinking"]
    assert client.until(lambda position: position["move_number"] >= 2)["phase"] == "playing"
    assert client.refused("play", move="C3") == "not_your_turn"
    assert client.refused("undo") == "not_now"
    client.say("set_mode", mode="analyse")
    client.until(lambda position: position["phase"] == "free")


def test_atari_captures_and_liberties_are_told(client: Client) -> None:
    client.new_game(colour="both", size=5)
    for move in ("A1", "A2", "C3"):
        position = client.play(move)
    assert position["atari"] == []
    client.say("undo")
    client.hear("position")
    assert client.ask("liberties", "liberties", point="A1") == {
        "type": "liberties",
        "point": "A1",
        "stones": 1,
        "liberties": 1,
    }
    client.play("C3")
    position = client.play("B1")
    assert position["captures"] == {"black": 0, "white": 1}
    opened(client, "(;SZ[9];B[ai];W[ah])")
    assert client.ask("go", node=2)["atari"] == ["A1"]


def test_arrows_and_lines_are_shown(client: Client) -> None:
    opened(client, "(;SZ[9]AR[aa:cc][xx:yy][bb]LN[cc:dd])")
    assert client.game["nodes"][0]["lines"] == [
        {"from": "A9", "to": "C7", "arrow": True},
        {"from": "B8", "to": "B8", "arrow": True},
        {"from": "C7", "to": "D6", "arrow": False},
    ]


def test_what_was_set_up_is_in_the_file(client: Client, port: int) -> None:
    opened(client, "(;SZ[9]AB[aa:bb])")
    client.ask("set_up", node=0, point="A9", stone="empty")
    client.ask("set_up", node=0, point="E5", stone="white")
    saved = read_sgf(downloaded(port, client))[0].final_position()
    assert (saved.stones == 1).sum() == 3
    assert str(saved.at("E5")) == "white"
