"""Clocks as clients state them, and what is made of them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tengen.frontends.command_options import GtpOptions
from tengen.game.color import Color
from tengen.search.clock import TimeControl
from tengen.search.request import DEFAULT_VISITS
from tests.frontends.gtp.client import SMALL, session

UNLIMITED = replace(SMALL, visits=None)


@pytest.mark.parametrize(
    ("command", "control"),
    [
        ("time_settings 600 0 0", TimeControl.absolute(600)),
        ("time_settings 0 30 1", TimeControl.canadian(0, 30, 1)),
        ("time_settings 600 30 25", TimeControl.canadian(600, 30, 25)),
        ("time_settings 1 1 0", TimeControl.none()),
        ("kgs-time_settings none", TimeControl.none()),
        ("kgs-time_settings absolute 300", TimeControl.absolute(300)),
        ("kgs-time_settings canadian 300 60 10", TimeControl.canadian(300, 60, 10)),
        ("kgs-time_settings byoyomi 300 30 5", TimeControl.byo_yomi(300, 30, 5)),
        ("kgs-time_settings byoyomi 300 30 0", TimeControl.absolute(300)),
        ("kata-time_settings fischer 60.5 2.25", TimeControl.fischer(60.5, 2.25)),
        (
            "kata-time_settings fischer-capped 60 5 120 30",
            TimeControl.fischer(60, 5, limit=120, per_move=30),
        ),
        (
            "kata-time_settings fischer-capped 60 5 -1 -1",
            TimeControl.fischer(60, 5, limit=1e10, per_move=1e10),
        ),
    ],
)
def test_time_settings(command: str, control: TimeControl) -> None:
    with session(None) as client:
        assert client.body(command) == ""
        for color in Color:
            assert client.session.clocks[color].control == control


def test_katago_lists_the_same_time_settings() -> None:
    with session(None) as client:
        assert client.body("kata-list_time_settings") == (
            "none absolute byoyomi canadian fischer fischer-capped"
        )


@pytest.mark.parametrize(
    "command",
    [
        "time_settings 600",
        "time_settings -1 0 0",
        "time_settings 10 x 0",
        "time_settings 600 30 -1",
        "kgs-time_settings",
        "kgs-time_settings hourglass 5",
        "kgs-time_settings byoyomi 300",
        "kata-time_settings fischer inf 5",
        "time_left x 10 0",
        "time_left b ten 0",
    ],
)
def test_times_that_cannot_be(command: str) -> None:
    with session(None) as client:
        client.body("time_settings 60 0 0")
        client.error(command)
        assert client.session.clocks[Color.BLACK].control == TimeControl.absolute(60)


def test_the_client_corrects_the_clocks() -> None:
    with session(None) as client:
        client.body("time_left b 100 0")  # without a clock there is nothing to correct
        client.body("kgs-time_settings byoyomi 300 30 5")
        client.body("time_left b 120 0")
        client.body("time_left white 25 3")  # KGS counts periods in the place of stones
        black, white = client.session.clocks[Color.BLACK], client.session.clocks[Color.WHITE]
        assert (black.left, black.in_overtime) == (120, False)
        assert (white.left, white.periods, white.in_overtime) == (25, 3, True)
        client.body("time_left b -3 0")
        assert client.session.clocks[Color.BLACK].left == 0
        assert "Black Clock" in client.body("kata-debug-print-tc")


def test_a_new_game_starts_the_clocks_anew() -> None:
    with session(None) as client:
        client.body("time_settings 60 0 0")
        client.body("time_left b 5 0")
        client.body("clear_board")
        assert client.session.clocks[Color.BLACK].left == 60


def test_without_any_limit_a_search_is_finite() -> None:
    with session(None, UNLIMITED) as client:
        limits, spare = client.session.limits_for(Color.BLACK)
        assert limits.max_visits == DEFAULT_VISITS
        assert spare == 0


def test_the_clock_limits_a_search_besides_what_was_set() -> None:
    with session(None, GtpOptions(seed=0, visits=50, seconds=3.0)) as client:
        client.body("time_settings 3600 0 0")
        limits, spare = client.session.limits_for(Color.BLACK)
        assert limits.visits == 50
        assert limits.seconds == 3.0
        assert spare == 0
        client.body("time_left b 60 0")
        limits, spare = client.session.limits_for(Color.BLACK)
        assert limits.seconds is not None
        assert 0 < limits.seconds < 0.5
        assert 0 < spare < 2
        # what was spent on loading is spent
        late, _ = client.session.limits_for(Color.BLACK, spent=100.0)
        assert late.seconds is not None
        assert late.seconds < limits.seconds


def test_a_clock_runs_down_by_own_moves_alone() -> None:
    with session(options=UNLIMITED) as client:
        client.body("time_settings 20 0 0")
        begin = time.monotonic()
        client.body("genmove b")
        took = time.monotonic() - begin
        assert 20 - took <= client.session.clocks[Color.BLACK].left < 20
        assert client.session.clocks[Color.WHITE].left == 20
        assert took < 10
        client.body("kata-search w")
        assert client.session.clocks[Color.WHITE].left == 20


def test_a_whole_game_stays_within_its_time() -> None:
    with session(options=UNLIMITED) as client:
        client.body("time_settings 3 0 0")
        for _ in range(8):
            for color in Color:
                client.body(f"genmove {color}")
        for color in Color:
            assert not client.session.clocks[color].fallen
