"""Files go to the server as bytes: what the library reads opens in the page, and equally."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tengen.game.color import Color
from tengen.game.diagram import stones_text
from tengen.game.sgf.records import load_sgf
from tests.frontends.web.server import Client

FILES = sorted((Path(__file__).parents[2] / "data" / "sgf").glob("**/*.sgf"))


def upload(client: Client, content: bytes, **more: int) -> None:
    client.say("open", file=base64.b64encode(content).decode(), **more)


def test_every_file_that_the_library_reads_opens_equally(client: Client) -> None:
    assert len(FILES) >= 45
    for file in FILES:
        content = file.read_bytes()
        for number, game in enumerate(load_sgf(file)):
            upload(client, content, game=number)
            shown = client.hear("game")
            client.hear("position")
            assert shown["players"] == {
                "black": game.player(Color.BLACK),
                "white": game.player(Color.WHITE),
            }, file.name
            line = list(game.root.main_line())
            main = [shown["nodes"][0]]
            for node in shown["nodes"][1:]:
                if node["parent"] == main[-1]["id"]:
                    main.append(node)
            assert [node.get("comment", "") for node in main] == [each.text("C") for each in line]
            client.say("go", node=main[-1]["id"])
            assert client.hear("position")["stones"] == stones_text(game.final_position().stones)


@pytest.mark.parametrize("content", [b"hello", b"", b"\xff\xfe\x00", b"(;SZ[99];B[ee])"])
def test_what_the_library_does_not_read_is_refused(client: Client, content: bytes) -> None:
    client.say("open", request=1, file=base64.b64encode(content).decode())
    assert client.hear("error")["code"] == "bad_sgf"
    assert client.refused("open", file="?") == "bad_message"
    client.settle()


def test_of_a_file_with_several_games_one_is_chosen(client: Client) -> None:
    games = [f"(;SZ[9]PB[Ann {i}]PW[Bob]EV[Cup]DT[2020]RE[B+R];B[ee];W[cc])" for i in range(3)]
    content = "\n".join(games).encode()
    upload(client, content)
    listed = client.hear("file_games")["games"]
    assert [each["black"] for each in listed] == ["Ann 0", "Ann 1", "Ann 2"]
    assert listed[0] == {
        "black": "Ann 0",
        "white": "Bob",
        "event": "Cup",
        "date": "2020",
        "result": "B+R",
        "moves": 2,
    }
    upload(client, content, game=1)
    game = client.hear("game")
    assert game["players"]["black"] == "Ann 1"
    assert game["about"] == {"event": "Cup", "date": "2020", "result": "B+R"}
    client.say("open", request=7, file=base64.b64encode(content).decode(), game=3)
    assert client.hear("error")["code"] == "bad_sgf"
