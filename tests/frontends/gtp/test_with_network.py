"""A session with a real network: KataGo's own words as the witness."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.options import GtpOptions
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tengen.network.loaded_network import LoadedNetwork
from tengen.search.params import SearchParams
from tests.frontends.gtp.client import Client
from tests.katago_data import FOLDER, answers, needs_katago_data

NETWORK = FOLDER / "g170-b6c96.bin.gz"
ENDED, ENDED_BY_TERRITORY = 8, 9  # of KataGo's positions

pytestmark = needs_katago_data


@cache
def _engine() -> Engine:
    """The network in float32, as KataGo computed it."""
    evaluator = OpenVinoEvaluator(load_network(NETWORK), Precision.FLOAT32)
    network = LoadedNetwork(evaluator, katago_version=8)
    return Engine(network, params=SearchParams(megabytes=32))


@pytest.fixture
def client() -> Iterator[Client]:
    options = GtpOptions(seed=0, model=str(NETWORK), board_size=9, visits=100)
    each = Client(EngineLoader(_engine), options)
    yield each
    each.close()


def _lay_out(client: Client, known: dict[str, Any]) -> None:
    size = known["boardsize"]
    width, height = size if isinstance(size, list) else (size, size)
    client.body(f"boardsize {width} {height}")
    client.body(f"kata-set-rules {known['rules']}")
    client.body(f"komi {known['komi']}")
    for color, vertex in known["moves"]:
        client.body(f"play {color} {vertex}")


def _raw(text: str) -> dict[str, list[list[float]]]:
    """Keys and the numbers that follow them, line by line."""
    found: dict[str, list[list[float]]] = {}
    rows: list[list[float]] = []
    for line in text.splitlines():
        first, *rest = line.split()
        if first[0].isalpha() and first != "NAN":
            rows = found[first] = []
            first, *rest = rest or [""]
        if first:
            rows.append([float(value) for value in (first, *rest)])
    return found


@pytest.mark.parametrize("case", range(15))
def test_raw_outputs_are_katagos(client: Client, case: int) -> None:
    known = answers("g170-b6c96")[case]
    _lay_out(client, known)
    raw = _raw(client.body("kata-raw-nn 0"))
    expected = known["raw_nn"]
    assert list(raw) == list(expected)
    for key, value in expected.items():
        tolerance = 0.01 if "core" in key or key == "whiteLead" else 2e-4
        if key == "whiteScoreSelfplaySq":
            tolerance = 0.002 * value
        rows = value if isinstance(value, list) else [[value]]
        assert len(raw[key]) == len(rows)
        for ours, theirs in zip(raw[key], rows, strict=True):
            wanted = [float("nan") if each is None else each for each in theirs]
            assert ours == pytest.approx(wanted, abs=tolerance, nan_ok=True), key


def test_dead_stones_are_found_and_the_score_is_right(client: Client) -> None:
    # Counted by hand: 46 to 35 points and komi 7; 25 + 21 to 6 + 5 points and komi 6.5.
    for case, dead, counted in ((ENDED, "", "B+4"), (ENDED_BY_TERRITORY, "F3", "B+28.5")):
        known = answers("g170-b6c96")[case]
        _lay_out(client, known)
        client.body("play_sequence w pass b pass")
        assert client.body("final_status_list dead") == dead
        assert client.body("final_status_list seki") == ""
        assert client.body("final_score") == counted
        assert f"RE[{counted}]" in client.body("printsgf")


def test_the_network_is_named(client: Client) -> None:
    assert '"version":8' in client.body("kata-get-models")
    assert '"internalName":"g170-b6c96' in client.body("kata-get-models")


def test_cleaning_up_captures_the_dead_stone_and_then_passes(client: Client) -> None:
    _lay_out(client, answers("g170-b6c96")[ENDED_BY_TERRITORY])
    client.body("play_sequence w pass b pass")
    moves: list[str] = []
    while not moves or moves[-1] != "pass":
        moves.append(client.body("kgs-genmove_cleanup b"))
        client.body("play w pass")
        assert len(moves) < 10
    assert client.session.position.at("F3") is None


def test_a_capture_is_seen(client: Client) -> None:
    client.body("set_position b C3 b D4 b E3 w D3 b G7 w C4 w C2")
    assert client.body("genmove b") == "D2"
