"""KataGo's parameters of play: how long a move takes, how it is chosen, how a game ends."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.frontends.gtp.genmove import agrees_to_end, to_clean_up
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.choice import seconds_to_wait
from tengen.search.clock import TimeControl, midgame_share
from tengen.search.request import Limits
from tests.frontends.gtp.client import SMALL, session
from tests.search.scripts import opinions, preferring
from tests.search.trees import searching


def limits(settings: dict[str, float], moves: str = "", clock: float = 0.0) -> Limits:
    """Of Black's next move."""
    with session(options=replace(SMALL, visits=101, playouts=50)) as client:
        for name, value in settings.items():
            client.body(f"kata-set-param {name} {value}")
        for number, move in enumerate(moves.split()):
            client.body(f"play {'bw'[number % 2]} {move}")
        if clock:
            client.session.set_time_control(TimeControl.absolute(clock))
        return client.session.limits_for(Color.BLACK)[0]


AFTER = {"searchFactorAfterOnePass": 0.5, "searchFactorAfterTwoPass": 0.25}


@pytest.mark.parametrize(
    ("moves", "visits", "playouts"),
    [("", 101, 50), ("a1 pass", 51, 25), ("a1 pass b1 pass", 26, 13), ("pass a1", 101, 50)],
)
def test_less_is_searched_after_passes(moves: str, visits: int, playouts: int) -> None:
    found = limits(AFTER, moves)
    assert (found.visits, found.playouts) == (visits, playouts)


def test_time_is_given_out_as_parameters_ask_for() -> None:
    def seconds(settings: dict[str, float], moves: str = "") -> float:
        found = limits(settings, moves, 1000.0).seconds
        assert found is not None
        return found

    usual = seconds({})
    assert seconds({"overallocateTimeFactor": 1.5}) == pytest.approx(1.5 * usual, rel=0.02)
    # The first move is no middle game; the fourth of 25 points is as the 58th of 361.
    middle = {"midgameTimeFactor": 3.0, "midgameTurnPeakTime": 4 * 361 / 25}
    assert seconds(middle) == pytest.approx(usual, rel=0.02)
    later = "a1 c1 a3 c3"
    times = seconds(middle, later) / seconds({}, later)
    assert times == pytest.approx(3.0, rel=0.02)
    assert seconds({**AFTER}, "a1 pass") == pytest.approx(0.5 * seconds({}, "a1 pass"), rel=0.02)


def test_the_middle_game_comes_and_goes() -> None:
    shares = [midgame_share(361, move, 130, 100) for move in (0, 65, 130, 230)]
    assert shares == pytest.approx([0, 0.5, 1, math.exp(-1)])


def test_pondering_ends_at_its_limits() -> None:
    with session(options=replace(SMALL, ponder=True)) as client:
        client.body("kata-set-param maxVisitsPondering 40")
        client.body("genmove b")
        task = client.session._task
        assert task is not None
        assert task.future.result(30).visits == 40


def test_a_move_is_played_later_the_less_it_was_expected() -> None:
    result = searching(Position(5), opinions()).run(Limits(visits=20))
    policy = np.zeros(26, np.float32)
    policy[:2] = 0.9, 0.1
    result, random = replace(result, policy=policy), np.random.default_rng(1)
    for point, mean in ((Point(0, 0), 0.5 * 3 / 1.0), (Point(1, 0), 0.5 * 3 / 0.2)):
        waits = [seconds_to_wait(result, point, 3.0, random) for _ in range(4000)]
        assert np.mean(waits) == pytest.approx(mean, rel=0.05)
        assert np.var(waits) == pytest.approx(mean**2 / 2, rel=0.15)  # two exponential parts
    with session() as client:
        client.body('kata-set-params {"delayMoveScale": 1000, "delayMoveMax": 0.3}')
        start = time.monotonic()
        client.body("genmove b")
        assert time.monotonic() - start >= 0.3


def test_moves_are_drawn_at_the_temperature() -> None:
    def moves(**settings: Any) -> Counter[str]:
        found: Counter[str] = Counter()
        for seed in range(12):
            with session(options=replace(SMALL, seed=seed)) as client:
                for name, value in settings.items():
                    client.body(f"kata-set-param {name} {value}")
                found[client.body("kata-search b")] += 1
        return found

    assert len(moves(chosenMoveTemperature=0, chosenMoveTemperatureEarly=0)) == 1
    assert len(moves(chosenMoveTemperature=3, chosenMoveTemperatureEarly=3)) > 1


def test_the_opponents_pass_is_agreed_to_where_nothing_is_lost_by_it() -> None:
    for rules, passed, agrees in (
        ("chinese", True, True),
        ("chinese", False, False),
        ("tromp-taylor", True, False),
    ):
        position = Position(5, rules, 0.5).play("C3")
        position = position.pass_() if passed else position.play("C2")
        script = preferring(Point(0, 0))
        result = searching(position, script, more_passing_hacks=True).run(Limits(visits=30))
        assert agrees_to_end(result) == agrees
        assert result.moves[0].move is not None


DEAD = """
. X . O X
X X X . X
X . X X X
X X . . .
. X . . .
"""


@pytest.mark.parametrize(
    ("rules", "move"), [("tromp-taylor", Point(3, 1)), ("chinese", None), ("japanese", None)]
)
def test_dead_stones_are_captured_before_a_pass_where_they_count(
    rules: str, move: Point | None
) -> None:
    """In Black's pass-alive area alone."""
    position = Position.from_diagram(DEAD, rules=rules)
    assert position.pass_alive(Color.BLACK)[0, 3]
    found = to_clean_up(position)
    assert (found is not None) == (move is not None)
    if found is not None:
        assert position.pass_alive(Color.BLACK)[found.y, found.x]
        assert abs(found.x - 3) + abs(found.y) == 1
    assert to_clean_up(Position(5, rules)) is None
