"""What a move lost, by a network that sees the difference."""

from __future__ import annotations

from pathlib import Path

from tests.frontends.web.made_up import CENTRE_IS_WORTH_TWENTY
from tests.frontends.web.server import Client, serving


def test_a_move_that_gives_the_centre_away_is_told(tmp_path: Path) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port, Client(port) as client:
        client.new_game(level="beginner", teach=5.0, size=5)
        client.say("play", move="C3")
        best = client.hear("taught")
        assert (best["loss"], best["told"]) == (0.0, False)
        client.new_game(level="beginner", teach=5.0, size=5)
        client.say("play", move="A1")
        worse = client.hear("taught")
        assert worse["told"]
        assert worse["loss"] >= 10
        assert worse["best"] == "C3"
