"""Games at equal time: as many visits as each player makes, until it is clear who is stronger."""

from __future__ import annotations

import pytest

from tengen.evaluation.equal_time import GAMES_AT_A_TIME, match_at_equal_time
from tengen.evaluation.lockstep import Player
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tests.evaluation.test_lockstep import misjudging
from tests.search.scripts import Script, by_area

pytestmark = pytest.mark.usefixtures("one_kernel_thread")


def player(script: Script, visits: int) -> Player:
    return Player("someone", FakeEvaluator(script), visits)


def test_a_match_ends_when_it_is_clear_who_is_stronger() -> None:
    players = player(by_area, 12), player(misjudging, 12)
    tallies = list(match_at_equal_time(players, Position(4, "tromp-taylor", 0.5), seed=1))
    assert [each.games for each in tallies] == [
        GAMES_AT_A_TIME * (i + 1) for i in range(len(tallies))
    ]
    assert len(tallies) <= 3
    assert tallies[-1].share > 0.9


def test_who_is_faster_searches_more() -> None:
    players = player(by_area, 2), player(by_area, 40)
    tally = next(match_at_equal_time(players, Position(5, "tromp-taylor", 0.5), seed=1))
    assert tally.share < 0.5
