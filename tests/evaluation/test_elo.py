"""Elo from results: known values, and intervals that behave."""

from __future__ import annotations

import math

import pytest

from tengen.evaluation.elo import Rating, WinDrawLoss, elo_of, estimate, share_of


@pytest.mark.parametrize(
    ("share", "elo"),
    [
        (0.5, 0),
        (0.75, 190.8485),  # 400 log10 3
        (0.25, -190.8485),
        (10 / 11, 400),
        (100 / 101, 800),
        (0.64, 99.95),  # FIDE's table: 0.64 is 100
    ],
)
def test_shares_and_differences_belong_together(share: float, elo: float) -> None:
    assert elo_of(share) == pytest.approx(elo, abs=0.01)
    assert share_of(elo) == pytest.approx(share, abs=1e-4)


def test_who_wins_or_loses_all_is_infinitely_far_away() -> None:
    assert elo_of(1) == math.inf
    assert elo_of(0) == -math.inf


def test_a_tally_counts_draws_as_halves() -> None:
    tally = WinDrawLoss(wins=3, draws=2, losses=5)
    assert tally.games == 10
    assert tally.share == 0.4
    assert str(tally) == "3-2-5"
    assert WinDrawLoss().share == 0.5


@pytest.mark.parametrize(
    "tally",
    [WinDrawLoss(75, 0, 25), WinDrawLoss(3, 1, 0), WinDrawLoss(5, 9, 1), WinDrawLoss(4, 0, 0)],
)
def test_the_other_sides_estimate_is_the_same_turned_round(tally: WinDrawLoss) -> None:
    mine, theirs = estimate(tally), estimate(WinDrawLoss(tally.losses, tally.draws, tally.wins))
    assert theirs.elo == pytest.approx(-mine.elo)
    assert theirs.low == pytest.approx(-mine.high)
    assert theirs.high == pytest.approx(-mine.low)
    assert mine.low < mine.elo <= mine.high


def test_the_interval_is_wilsons() -> None:
    # Wilson's interval for 75 of 100 is 0.6570 to 0.8246.
    found = estimate(WinDrawLoss(75, 0, 25))
    assert found.elo == pytest.approx(190.85, abs=0.01)
    assert share_of(found.low) == pytest.approx(0.6570, abs=1e-4)
    assert share_of(found.high) == pytest.approx(0.8246, abs=1e-4)


def test_the_interval_shrinks_with_the_root_of_the_games() -> None:
    widths = []
    for games in (400, 1600, 6400):
        found = estimate(WinDrawLoss(games * 3 // 4, 0, games // 4))
        widths.append(found.high - found.low)
        # 1.96 standard errors of the share, times the slope 400 / (ln 10 p (1 - p)), both ways.
        slope = 400 / (math.log(10) * 0.75 * 0.25)
        error = math.sqrt(0.75 * 0.25 / games)
        assert widths[-1] == pytest.approx(2 * 1.96 * error * slope, rel=0.02)
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.02)


def test_draws_narrow_the_interval() -> None:
    # Half of the games drawn: half of the variance.
    decided, drawn = estimate(WinDrawLoss(500, 0, 500)), estimate(WinDrawLoss(250, 500, 250))
    assert drawn.elo == decided.elo == 0
    ratio = (drawn.high - drawn.low) / (decided.high - decided.low)
    assert ratio == pytest.approx(math.sqrt(0.5), rel=0.01)


def test_no_games_say_nothing() -> None:
    assert estimate(WinDrawLoss()) == Rating(0.0, -math.inf, math.inf, 0)


@pytest.mark.parametrize("games", [1, 10, 100])
def test_wins_alone_leave_the_difference_open_upwards(games: int) -> None:
    found = estimate(WinDrawLoss(wins=games))
    assert found.elo == math.inf
    assert found.high > 3000
    # Wilson's lower bound is n / (n + 1.96²).
    assert found.low == pytest.approx(400 * math.log10(games / 1.96**2), abs=0.01)


def test_an_estimate_is_told_with_its_interval() -> None:
    assert str(estimate(WinDrawLoss(75, 0, 25))) == "+191 [+113, +269]"
    assert str(Rating(-12.4, -30.6, 5.0, 9)) == "-12 [-31, +5]"
