"""A session with a real network: KataGo's own words as the witness."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
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
def _engine(file: str = NETWORK.name) -> Engine:
    """A network in float32, as KataGo computed it."""
    evaluator = OpenVinoEvaluator(load_network(FOLDER / file), Precision.FLOAT32)
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
    client.body("clear_board")
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


def _white_wins(client: Client, command: str = "kata-raw-nn 0") -> float:
    return _raw(client.body(command))["whiteWin"][0][0]


def _play(client: Client, moves: str) -> None:
    client.body(f"play_sequence {moves}")


@pytest.mark.parametrize(
    ("rules", "moves", "expected"),
    [
        ("tromp-taylor", "b D4 w pass b pass w F6", 0.503556),
        ("tromp-taylor", "b D4 w pass b pass w F6 b F4", 0.565704),
        ("japanese", "b D4 w F6 b pass w pass b F4", 0.535342),
        ("japanese", "b D4 w F6 b pass w pass b F4 w pass", 0.040534),
        ("chinese", "b D4 w F6 b pass w pass b pass", 0.985416),
        ("chinese", "b D4 w F6 b pass w pass b pass w pass b C3", 0.860953),
    ],
)
def test_a_game_that_goes_on_after_two_passes_is_seen_as_katago_sees_it(
    client: Client, rules: str, moves: str, expected: float
) -> None:
    """Witness: KataGo 1.17.2 on these moves."""
    client.body(f"kata-set-rules {rules}")
    client.body("komi 7.5")
    _play(client, moves)
    assert _white_wins(client) == pytest.approx(expected, abs=2e-5)


def test_handicap_given_as_moves_with_passes_between_counts_for_white(client: Client) -> None:
    """Witness: KataGo 1.17.2 on these moves, which shows a bonus of 3 for them."""
    client.body("kata-set-rules chinese")
    client.body("komi 7")
    _play(client, "b D4 w pass b F6 w pass b C3 w G7")
    assert "Handicap bonus score: 3" in client.body("showboard").splitlines()
    assert _white_wins(client) == pytest.approx(0.007735, abs=2e-5)
    client.body("undo")
    assert _white_wins(client) == pytest.approx(0.040215, abs=2e-5)


def test_a_board_that_is_not_square_is_flipped_but_not_transposed(client: Client) -> None:
    """Witness: KataGo 1.17.2 on this position."""
    client.body("boardsize 7 9")
    _play(client, "b C4 w E6")
    expected = [0.547824, 0.515139, 0.537095, 0.506589] * 2
    for symmetry, wins in enumerate(expected):
        answer = client.body(f"kata-raw-nn {symmetry}")
        assert answer.startswith(f"symmetry {symmetry}\n")
        assert _raw(answer)["whiteWin"][0][0] == pytest.approx(wins, abs=2e-5)


@pytest.mark.parametrize(
    "arguments", ["", "8", "b", "0 0.5 7", "all 1.0 x", "0 2", "0 -1", "0 abc", "01"]
)
def test_wrong_arguments_of_raw_evaluations_are_refused(client: Client, arguments: str) -> None:
    """Witness: KataGo 1.17.2 refuses all of these."""
    assert client.error(f"kata-raw-nn {arguments}")


def test_optimism_changes_nothing_in_a_network_of_one_policy(client: Client) -> None:
    assert client.body("kata-raw-nn 0 0.5") == client.body("kata-raw-nn 0")


@pytest.mark.parametrize("case", [0, 3, 8])
def test_raw_policies_are_as_optimistic_as_katagos(case: int) -> None:
    """Witness: KataGo's answers for a network with an optimistic policy, by default at 0.2."""
    known = answers("b7c96h3tfrs")[case]
    client = Client(EngineLoader(lambda: _engine("b7c96h3tfrs.bin.gz")), GtpOptions(seed=0))
    _lay_out(client, known)
    for command, expected in (
        ("kata-raw-nn 0", known["raw_nn"]),
        ("kata-raw-nn 0 0", known["policy_optimism_0"]),
        ("kata-raw-nn 0 1", known["policy_optimism_1"]),
    ):
        rows = _raw(client.body(command))["policy"]
        for ours, theirs in zip(rows, expected["policy"], strict=True):
            wanted = [float("nan") if each is None else each for each in theirs]
            assert ours == pytest.approx(wanted, abs=2e-5, nan_ok=True), command
    client.body("kata-set-param rootPolicyOptimism 1")
    assert client.body("kata-raw-nn 0") == client.body("kata-raw-nn 0 1")
    client.close()


def test_stones_that_count_are_not_called_dead(client: Client) -> None:
    """Witness: KataGo 1.17.2 on this position, whose stones at A2 and G2 cannot live."""
    stones = " ".join(f"b C{row} w E{row}" for row in range(1, 8))
    client.body("boardsize 7")
    client.body("komi 0.5")
    client.body("kata-set-rules tromp-taylor")
    client.body(f"set_position {stones} b B4 w A2 w F4 b G2 w G6 b D1 w D7")
    assert client.body("final_status_list dead") == "A2 G2"  # they could still be captured
    client.body("play_sequence b pass w pass")
    assert client.body("final_status_list dead") == ""
    alive = "C7 D7 E7 C6 E6 G6 C5 E5 B4 C4 E4 F4 C3 E3 A2 C2 E2 G2 C1 D1 E1"
    assert client.body("final_status_list alive") == alive
    assert client.body("final_score") == "W+1.5"
    for rules in ("chinese", "japanese"):
        client.body(f"kata-set-rules {rules}")
        assert client.body("final_status_list dead") == "A2 G2"
    assert client.body("final_score") == "B+0.5"  # of territory, which knows no dame
