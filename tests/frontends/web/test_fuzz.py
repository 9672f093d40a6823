"""Whatever clients say, in whatever order, the server makes no mistake of its own."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.frontends.web.server import Client

SGF = "(;SZ[9]KM[7](;B[ee];W[cg])(;B[gg]C[x])(;AB[aa][bb]AW[cc];W[])(;PL[W];B[ab];B[ac]))"
MOVES = ["A1", "D4", "E5", "J9", "pass", "E4", "D5", "T19", "", "I3", "a1"]


def anything(choice: random.Random) -> dict[str, Any]:
    node = choice.randrange(12)
    move = choice.choice(MOVES)
    return choice.choice(
        [
            {"type": "play", "move": move},
            {"type": "play", "move": "pass"},
            {"type": "play", "move": choice.choice("ABCDEFGHJ") + choice.choice("123456789")},
            {
                "type": "new_game",
                "size": choice.choice([5, 9]),
                "colour": choice.choice(["black", "white", "both"]),
                "level": choice.choice([None, "beginner"]),
                "handicap": choice.choice([0, 0, 2, 9]),
                "rules": choice.choice(["chinese", "japanese", "aga-button"]),
                "clock": choice.choice([None, {"main": 0.05}, {"main": 9, "period": 1}]),
            },
            {"type": "undo"},
            {"type": "resign"},
            {"type": "hint"},
            {"type": "mark_dead", "point": move},
            {"type": "accept_count"},
            {"type": "resume"},
            {"type": "open", "sgf": SGF},
            {"type": "go", "node": node},
            {"type": "add", "node": node, "move": move},
            {"type": "remove", "node": node},
            {"type": "comment", "node": node, "text": choice.choice(["", "]\\:", "圍棋"])},
            {"type": "mark", "node": node, "point": move, "kind": choice.choice(["cross", None])},
            {"type": "mark", "node": node, "point": move, "kind": "label"},
            {"type": "set_mode", "mode": choice.choice(["play", "analyse"])},
            {"type": "analyse", "on": choice.choice([True, False])},
            {"type": "review", "visits": 2},
            {"type": "stop_review"},
            {"type": "better"},
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_messages_makes_the_server_fail(port: int, seed: int) -> None:
    choice = random.Random(seed)
    session: str | None = None
    for _ in range(4):
        with Client(port, session) as client:
            for number in range(60):
                message = anything(choice)
                client.say(message.pop("type"), **message, request=number)
            client.say("ping")
            while (heard := client.next())["type"] != "pong":
                if heard["type"] == "error":
                    assert heard["code"] not in ("server_error", "engine_failed", "bad_json")
            session = client.session
    with Client(port, session) as client:
        assert client.welcome["saved"]
        assert client.new_game()["phase"] == "playing"
