"""Networks that the server's owner offers: chosen for a game, with visits or seconds a move."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.frontends.web.http.serve import make_engine
from tengen.frontends.web.play import networks
from tengen.network.files.tengen_format import save_network
from tests.frontends.web.server import Client, serving
from tests.network.test_tengen_format import random_network


def begin(client: Client, **terms: object) -> None:
    """Begin a game, and wait until its network is loaded, which is told by another position."""
    if not client.new_game(**terms)["can"]["hint"]:
        client.until(lambda position: position["can"]["hint"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    for name in ("one", "two"):
        save_network(random_network("b2c32"), folder / f"{name}.safetensors")
    (folder / "bad.safetensors").write_bytes(b"nonsense")
    (folder / "notes.md").write_text("no network")
    return folder


def test_a_network_is_chosen_for_a_game_and_comes_back_with_it(
    tmp_path: Path, folder: Path
) -> None:
    options = {"networks": folder, "make_other": lambda file: make_engine(str(file))}
    with serving(tmp_path, **options) as port, Client(port) as client:  # type: ignore[arg-type]
        names = ["bad.safetensors", "one.safetensors", "two.safetensors"]
        assert client.welcome["info"]["networks"] == names
        begin(client, network="one.safetensors", level="visits:3")
        position = client.play("C3")
        assert position["move_number"] == 2
        assert position["network"] != "fake"
        assert client.game["network"] == "one.safetensors"
        assert client.game["level"] == "visits:3"
        client.say("use_network", network=None)
        assert client.hear("position")["network"] == "fake"
        begin(client, network="two.safetensors", level="seconds:0.1")
        assert client.play("C3")["move_number"] == 2
        second = client.game["id"]
        client.new_game()
        client.say("open_game", game=second)
        assert client.hear("game")["network"] == "two.safetensors"
        # A file that is no network: the server's own plays on, and the client is told.
        client.say("new_game", size=9, colour="both", network="bad.safetensors")
        while (error := client.next())["type"] != "error":
            pass
        assert error["code"] == "network_failed"
        assert client.until(lambda position: position["network"] == "fake")["can"]["hint"]
        for wrong in ("../one.safetensors", "notes.md", "missing.safetensors"):
            assert client.refused("use_network", network=wrong) == "no_network"
        for level in ("visits:0", "visits:x", "seconds:nan", "seconds:1e9", "visits:100001"):
            assert client.refused("new_game", size=9, colour="black", level=level) == "bad_terms"


def test_there_are_never_many_networks_open(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "MOST_OPEN", 1)
    options = {"networks": folder, "make_other": lambda file: make_engine(str(file))}
    with (
        serving(tmp_path, **options) as port,  # type: ignore[arg-type]
        Client(port) as one,
        Client(port) as two,
    ):
        begin(one, network="one.safetensors", level="visits:2")
        one.play("C3")
        assert two.refused("use_network", network="two.safetensors") == "networks_in_use"
        one.new_game()
        begin(two, network="two.safetensors", level="visits:2")
        assert two.play("C3")["move_number"] == 2
