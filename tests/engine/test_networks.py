"""Engines with the bundled networks: each game has its own, and a second one is opened late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.loading import load_network
from tengen.network.loaded_network import LoadedNetwork
from tengen.network.network_data import NetworkData
from tengen.search.params import SearchParams
from tengen.search.request import Limits, SearchRequest
from tests.bundled import stand_ins

SMALL = SearchParams(megabytes=8)
NINE, THIRTEEN = Position(9, "tromp-taylor", 7), Position(13, "tromp-taylor", 7)


@pytest.fixture
def _two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins(tmp_path, monkeypatch)


def names(engine: Engine) -> list[str]:
    return [network.evaluator.name for network in engine.networks]


def alone(position: Position) -> float:
    """What the network of a game says of it, without an engine."""
    with Engine(load_network(BUNDLED, position), device="cpu", params=SMALL) as engine:
        return float(engine.evaluate([position]).result().value[0, 0])


@pytest.mark.usefixtures("_two")
def test_each_game_is_played_by_the_network_that_was_trained_for_it() -> None:
    with Engine(device="cpu", params=SMALL, first_game=NINE) as engine:
        assert names(engine) == ["tengen-9x9"]
        assert engine.name_for(THIRTEEN) == "tengen-all"
        assert names(engine) == ["tengen-9x9"]  # a name opens nothing
        for position in (NINE, THIRTEEN):
            value = float(engine.evaluate([position]).result().value[0, 0])
            assert value == pytest.approx(alone(position), abs=0.01)
        assert names(engine) == ["tengen-9x9", "tengen-all"]
        assert engine.network_for(NINE).file == "tengen-9x9.safetensors"
        assert engine.network_for(THIRTEEN).file == "tengen-all.safetensors"
        inputs = [engine.network_for(each).evaluator.features.name for each in (NINE, THIRTEEN)]
        assert inputs == ["katago without ladders", "katago"]


@pytest.mark.usefixtures("_two")
def test_one_tree_goes_from_board_to_board_with_the_network_of_each() -> None:
    """A search of one visit is the network's own evaluation."""
    with Engine(device="cpu", params=SMALL, cache_megabytes=1) as engine:
        for position in (NINE, THIRTEEN, NINE, THIRTEEN):
            win = engine.search(position, visits=1).raw.winrate
            assert win == pytest.approx(opinion(engine.network_for(position), position), abs=0.01)


def opinion(network: LoadedNetwork, position: Position) -> float:
    said = evaluate(network.evaluator, encode(network.evaluator.features, [position])).value[0]
    return float(said[0] + said[2] / 2)


@pytest.mark.usefixtures("_two")
def test_games_on_several_boards_are_searched_together() -> None:
    positions = [NINE, THIRTEEN, NINE.play("E5"), THIRTEEN.play("D4")]
    with Engine(device="cpu", params=SMALL, seed=3) as engine:
        tasks = [engine.submit(SearchRequest(each, Limits(visits=40))) for each in positions]
        found = [task.result().raw.winrate for task in tasks]
        said = [opinion(engine.network_for(each), each) for each in positions]
        np.testing.assert_allclose(found, said, atol=0.01)


def test_with_one_file_it_plays_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins(tmp_path, monkeypatch, count=1)
    with Engine(device="cpu", params=SMALL) as engine:
        assert engine.search(THIRTEEN, visits=4).visits >= 4
        assert names(engine) == ["tengen-9x9"]
        assert engine.unfamiliar(NINE) is None
        assert "13x13" in str(engine.unfamiliar(THIRTEEN))


@pytest.mark.usefixtures("_two")
def test_what_its_networks_do_not_know_is_known() -> None:
    with Engine(device="cpu", params=SMALL) as engine:
        assert engine.unfamiliar(NINE) is None
        assert engine.unfamiliar(THIRTEEN) is None
        found = engine.unfamiliar(Position(11, "japanese"))
        assert found is not None
        assert (found.network, str(found.board), str(found.rules)) == (
            "tengen-all",
            "11x11",
            "japanese",
        )


@pytest.mark.usefixtures("_two")
def test_a_network_that_is_damaged_fails_the_searches_that_need_it(tmp_path: Path) -> None:
    file = tmp_path / "tengen-all.safetensors"
    with Engine(device="cpu", params=SMALL, first_game=NINE) as engine:
        content = file.read_bytes()
        file.write_bytes(content[:-8] + bytes(8))
        with pytest.raises(ValueError, match=r"tengen-all\.safetensors: damaged"):
            engine.search(THIRTEEN, visits=2)
        with pytest.raises(ValueError, match=r"tengen-all\.safetensors: damaged"):
            engine.evaluate([THIRTEEN]).result()
        assert engine.search(NINE, visits=2).visits >= 2
        file.write_bytes(content)
        assert engine.search(THIRTEEN, visits=2).visits >= 2


def test_a_network_says_itself_what_it_was_trained_on() -> None:
    data: NetworkData = load_network("tengen-9x9")
    with Engine(data, device="cpu", params=SMALL) as engine:
        assert engine.unfamiliar(NINE) is None
        assert engine.unfamiliar(Position(9, "japanese")) is not None
