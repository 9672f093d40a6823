"""Small networks see positions as KataGo 1.17.2 shows them: what it answers, as literals.

The answers are of `katago gtp -model NETWORK -override-config maxVisits=1,numSearchThreads=1`.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.files.loading import load_network
from tengen.network.loaded_network import LoadedNetwork
from tengen.search.params import SearchParams
from tests.frontends.gtp.client import Client, session
from tests.katago_data import network_path


@cache
def _engine(network: str) -> Engine:
    evaluator = OpenVinoEvaluator(load_network(network_path(network)), Precision.FLOAT32)
    return Engine(LoadedNetwork(evaluator), params=SearchParams(megabytes=32))


def _raw(network: str, commands: str) -> tuple[float, float]:
    """White's chance and lead after commands, as `kata-raw-nn 0` says."""
    client = Client(EngineLoader(lambda: _engine(network)), GtpOptions(seed=0))
    for command in ("kata-set-rules tromp-taylor", "komi 7.5", *commands.split(" ; ")):
        client.body(command)
    said = client.body("kata-raw-nn 0 0.2")
    client.close()
    win, lead = (re.search(rf"^{name} (\S+)", said, re.MULTILINE) for name in NAMES)
    assert win is not None
    assert lead is not None
    return float(win[1]), float(lead[1])


NAMES = "whiteWin", "whiteLead"
ADVANTAGE = "boardsize 5 ; kata-set-param playoutDoublingAdvantage"


@pytest.mark.parametrize(
    ("network", "commands", "win", "lead"),
    [
        # Networks before version 8 see komi up to one more than the points of the board.
        ("conv-relu-v7", "boardsize 2 3", 0.492837, 8.580),
        ("conv-relu-v7", "boardsize 5 ; komi 40", 0.592623, 1.452),
        ("conv-relu-v7", "boardsize 5 ; komi -33.5", 0.459538, 5.314),
        # A move out of turn begins anew: the button is back, and passes do not count.
        (
            "conv-mish-v16-q",
            "boardsize 5 ; kata-set-rules aga-button ; play B pass ; play B C3",
            0.734564,
            -13.473,
        ),
        ("conv-mish-v16-q", "boardsize 5 ; play B pass ; play B pass", 0.717954, -14.024),
        # The network is told of an advantage in playouts.
        ("conv-mish-v16-q", "boardsize 5", 0.241686, 10.257),
        (
            "conv-mish-v16-q",
            f"{ADVANTAGE} 1",
            0.245077,
            10.556,
        ),
        (
            "conv-mish-v16-q",
            f"{ADVANTAGE} 1 ; kata-set-param playoutDoublingAdvantagePla WHITE",
            0.238030,
            9.128,
        ),
    ],
)
def test_what_katago_says_of_a_position(
    network: str, commands: str, win: float, lead: float
) -> None:
    found = _raw(network, commands)
    assert found[0] == pytest.approx(win, abs=1e-5)
    assert found[1] == pytest.approx(lead, abs=2e-3)


@pytest.mark.parametrize(
    ("commands", "bonus"),
    [
        ("play B A1 ; play B B1 ; play B C1 ; play W D1", 3),
        ("set_free_handicap A2 B2 ; play B B1 ; play B C1", 4),
        ("play B A1 ; play B B1 ; play W D1 ; play W E1", 0),
        ("play B A1 ; play B B1 ; play W D1 ; play W E1 ; undo", 2),
        ("play B A1 ; play B B1 ; play W D1 ; play B E1 ; play B F1", 0),
        ("play W pass ; play W pass ; play B A1 ; play W pass ; play B D3", 2),
        ("set_position B A1 ; play B B1", 2),
        ("set_position B A1 ; play W pass ; play B B1", 2),
        ("set_position B A1 B B1 W D3 ; play B C3 ; play B D4", 0),
        ("fixed_handicap 3 ; play W pass ; play B A1", 4),
        ("play B A1 ; play B B1 ; undo", 0),
    ],
)
def test_white_s_bonus_is_katago_s_whatever_the_order_of_moves(commands: str, bonus: int) -> None:
    """Witness: the line `Handicap bonus score` of KataGo's `showboard`."""
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        client.body('kata-set-rules {"whiteHandicapBonus":"N"}')
        for command in commands.split(" ; "):
            client.body(command)
        position = client.session.position
        assert position.rules.white_handicap_bonus.points(position.handicap) == bonus
        shown = f"Handicap bonus score: {bonus}" in client.body("showboard")
        assert shown == (bonus > 0)
        client.body("komi 6.5")  # which lays the game out anew
        assert client.session.position.handicap == position.handicap


def test_a_single_stone_never_kills_itself_not_even_after_the_end() -> None:
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        for move in ("B A2", "B B1", "W pass", "B pass"):
            client.body(f"play {move}")
        assert "illegal move" in client.error("play W A1")  # KataGo: illegal move


def test_komi_is_told_as_katago_tells_it() -> None:
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        for komi in ("7", "-150", "6.5", "0"):
            client.body(f"komi {komi}")
            assert client.body("get_komi") == komi


@pytest.mark.parametrize(
    "rules",
    [
        '{"ko":"SPIGHT"}',
        '{"scoring":"TERRITORY","hasButton":true}',
        "koSIMPLEscoreAREAtaxNONEsui0komi5.5",
    ],
)
def test_rules_that_katago_refuses_are_refused(rules: str) -> None:
    with session(None, GtpOptions(seed=0, board_size=9)) as client:
        before = client.body("kata-get-rules")
        assert client.error(f"kata-set-rules {rules}")
        assert client.body("kata-get-rules") == before
