"""Clocks: every time system, GTP's view of it, and budgets that use the time and never lose by it.

The worst opponent of a budget plays here: it thinks for `most` and loses the whole lag every move.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.search.clock import (
    DEFAULT_LAG,
    MAX_SECONDS,
    Budget,
    Clock,
    TimeControl,
    after_move,
    budget,
    during_move,
    expected_moves_left,
    seconds_to_flag,
    set_left,
    started,
)

AREA = 19 * 19


def budget_of(clock: Clock, moves_to_go: float = 100, lag: float = DEFAULT_LAG) -> Budget:
    found = budget(clock, lag, moves_to_go)
    assert found is not None
    return found


def played(
    control: TimeControl,
    moves: int,
    seconds: Callable[[Budget], float],
    *,
    area: int = AREA,
    lag: float = DEFAULT_LAG,
) -> tuple[Clock, list[float]]:
    """The clock and the time of each move of a player, in a game of twice as many moves."""
    clock, times = started(control), []
    for move in range(moves):
        times.append(seconds(budget_of(clock, expected_moves_left(area, 2 * move), lag)))
        clock = after_move(clock, times[-1])
        assert not clock.fallen, f"lost on time at move {move}, after {times[-1]} s"
    return clock, times


def target(given: Budget) -> float:
    return given.target


def slowest(given: Budget) -> float:
    return given.most + DEFAULT_LAG


# Time controls


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: TimeControl.absolute(-1), "main time"),
        (lambda: TimeControl.absolute(math.nan), "main time"),
        (lambda: TimeControl.absolute(1e300), "main time"),
        (lambda: TimeControl.canadian(60, -30, 5), "overtime"),
        (lambda: TimeControl.canadian(60, math.inf, 5), "overtime"),
        (lambda: TimeControl.canadian(60, 30, 0), "1 stone or more"),
        (lambda: TimeControl.byo_yomi(60, 30, 0), "1 period or more"),
        (lambda: TimeControl.fischer(60, -1), "increment"),
        (lambda: TimeControl.fischer(60, 5, limit=59), "over the clock's limit"),
        (lambda: TimeControl.fischer(60, 5, limit=math.nan), "over the clock's limit"),
        (lambda: TimeControl.fischer(60, 5, per_move=0), "limit for one move"),
        (lambda: TimeControl(60, 30, stones=5, periods=5), "not both"),
        (lambda: TimeControl(60, 30, increment=5), "not both"),
    ],
)
def test_time_that_cannot_be_is_refused(make: Callable[[], TimeControl], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()


def test_overtime_without_time_is_absolute_time() -> None:
    assert TimeControl.canadian(60, 0, 0) == TimeControl.absolute(60)
    assert TimeControl.byo_yomi(60, 0, 5) == TimeControl.absolute(60)


# What is left


def test_without_a_clock_nothing_runs_out() -> None:
    clock = started(TimeControl.none())
    assert after_move(clock, 1e9) == clock
    assert set_left(clock, 0, 0) == clock
    assert budget(clock, DEFAULT_LAG, 100) is None


def test_absolute_time_falls_when_it_is_used_up() -> None:
    clock = after_move(started(TimeControl.absolute(60)), 45)
    assert (clock.left, clock.fallen) == (15, False)
    assert not after_move(clock, 14.999).fallen
    assert after_move(clock, 15).fallen


@pytest.mark.parametrize(
    ("used", "periods"),
    [(0, 3), (9.9, 3), (10, 2), (19.9, 2), (20, 1), (29.9, 1)],
)
def test_a_move_costs_the_byo_yomi_periods_it_outlasts(used: float, periods: int) -> None:
    control = TimeControl.byo_yomi(60, 10, 3)
    in_period = Clock(control, left=10, periods=3, stones=1)
    expected = Clock(control, left=10, periods=periods, stones=1)
    assert after_move(in_period, used) == expected
    # The same when the main time ran out on the way.
    assert after_move(started(control), 60 + used) == expected


def test_the_flag_falls_after_the_last_byo_yomi_period() -> None:
    clock = started(TimeControl.byo_yomi(60, 10, 3))
    assert not after_move(clock, 89).fallen
    assert after_move(clock, 90).fallen
    assert after_move(clock, math.inf).fallen


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        (TimeControl.none(), math.inf),
        (TimeControl.absolute(60), 60),
        (TimeControl.byo_yomi(60, 10, 3), 90),
        (TimeControl.byo_yomi(0, 10, 3), 30),
        (TimeControl.canadian(60, 30, 5), 90),
        (TimeControl.fischer(60, 5), 60),
        (TimeControl.fischer(60, 5, per_move=20), 20),
    ],
)
def test_the_flag_falls_when_it_was_foretold(control: TimeControl, seconds: float) -> None:
    clock = started(control)
    assert seconds_to_flag(clock) == seconds
    if seconds < math.inf:
        assert not during_move(clock, seconds - 0.001).fallen
        assert during_move(clock, seconds + 0.001).fallen
        assert seconds_to_flag(during_move(clock, seconds + 0.001)) == 0


def test_during_a_move_a_period_runs_down_that_a_move_would_give_back() -> None:
    clock = during_move(started(TimeControl.byo_yomi(60, 10, 3)), 74)
    assert (clock.left, clock.periods, clock.in_overtime) == (6, 2, True)
    assert seconds_to_flag(clock) == 16
    assert after_move(started(TimeControl.byo_yomi(60, 10, 3)), 74).left == 10


def test_a_canadian_period_starts_anew_when_its_stones_are_played() -> None:
    clock = started(TimeControl.canadian(60, 30, 3))
    seen = []
    for used in (50, 15, 10, 4, 29.5, 0.25):
        clock = after_move(clock, used)
        seen.append((clock.left, clock.stones, clock.in_overtime))
    assert seen == [
        (10, 0, False),
        (25, 2, True),
        (15, 1, True),
        (30, 3, True),
        (0.5, 2, True),
        (0.25, 1, True),
    ]
    assert after_move(clock, 0.25).fallen


def test_fischer_adds_to_the_clock_after_each_move_up_to_its_limit() -> None:
    clock = after_move(started(TimeControl.fischer(60, 5, limit=62)), 10)
    assert clock.left == 55
    assert after_move(clock, 1).left == 59
    assert after_move(after_move(clock, 0), 0).left == 62
    assert after_move(clock, 55).fallen, "what a move adds comes too late for that move"


def test_the_flag_falls_when_one_move_outlasts_the_limit_for_moves() -> None:
    clock = started(TimeControl.fischer(60, 5, per_move=20))
    assert not after_move(clock, 20).fallen
    assert after_move(clock, 20.1).fallen


def test_a_fallen_flag_stays_down_until_the_controller_says_otherwise() -> None:
    fallen = after_move(started(TimeControl.fischer(60, 5)), 60)
    assert fallen.fallen
    assert fallen.left == 0
    assert after_move(fallen, 0) == fallen
    assert set_left(fallen, 3, 0) == Clock(fallen.control, left=3, periods=1)
    too_slow = after_move(started(TimeControl.fischer(60, 5, per_move=20)), 30)
    assert too_slow.left == 30
    assert after_move(too_slow, 1) == too_slow


@pytest.mark.parametrize("nonsense", [-5.0, -math.inf, math.nan])
def test_a_move_gives_no_time_back(nonsense: float) -> None:
    clock = started(TimeControl.absolute(60))
    assert after_move(clock, nonsense) == clock


SOME_SECONDS = st.integers(0, 12)
WHOLE_CONTROLS = st.one_of(
    st.builds(TimeControl.absolute, SOME_SECONDS),
    st.builds(TimeControl.canadian, SOME_SECONDS, st.integers(1, 9), st.integers(1, 4)),
    st.builds(TimeControl.byo_yomi, SOME_SECONDS, st.integers(1, 5), st.integers(1, 4)),
    st.builds(TimeControl.fischer, SOME_SECONDS, st.integers(0, 4), st.integers(12, 14)),
)


def ticked(clock: Clock, seconds: int) -> Clock:
    """The clock after a move, one second at a time."""
    control = clock.control
    for second in range(seconds + 1):
        clock = replace(clock, left=clock.left - (second > 0))
        if clock.left > 0 or clock.fallen:
            continue
        if control.period and not clock.in_overtime:
            clock = replace(clock, left=control.period, stones=control.stones)
        elif clock.periods > 1 and clock.in_overtime:
            clock = replace(clock, left=control.period, periods=clock.periods - 1)
        else:
            clock = replace(clock, fallen=True)
    if clock.fallen:
        return replace(clock, left=0)
    if not clock.in_overtime:
        return replace(clock, left=min(clock.left + control.increment, control.limit))
    clock = replace(clock, stones=clock.stones - 1)
    if clock.stones:
        return clock
    return replace(clock, left=control.period, stones=control.stones)


@settings(max_examples=500, deadline=None)
@given(WHOLE_CONTROLS, st.lists(SOME_SECONDS, max_size=20))
def test_a_move_leaves_what_a_ticking_clock_leaves(control: TimeControl, moves: list[int]) -> None:
    clock = started(control)
    for used in moves:
        expected = ticked(clock, used)
        clock = after_move(clock, used)
        assert clock == expected
        if clock.fallen:
            break


@pytest.mark.parametrize(
    ("control", "seconds", "stones", "expected"),
    [
        # left, periods, stones
        (TimeControl.absolute(60), 42.5, 0, (42.5, 1, 0)),
        (TimeControl.absolute(60), 42.5, 1, (42.5, 1, 0)),
        (TimeControl.absolute(60), -3, 0, (0, 1, 0)),
        (TimeControl.absolute(60), math.nan, 0, (0, 1, 0)),
        (TimeControl.absolute(60), math.inf, 0, (MAX_SECONDS, 1, 0)),
        (TimeControl.canadian(60, 30, 5), 42, 0, (42, 1, 0)),
        (TimeControl.canadian(60, 30, 5), 12, 4, (12, 1, 4)),
        (TimeControl.canadian(60, 30, 5), 99, 9, (30, 1, 5)),
        (TimeControl.canadian(60, 30, 1), 12, 1, (12, 1, 1)),
        (TimeControl.byo_yomi(60, 30, 5), 42, 0, (42, 5, 0)),
        (TimeControl.byo_yomi(60, 30, 5), 12, 4, (12, 4, 1)),
        (TimeControl.byo_yomi(60, 30, 5), 99, 9, (30, 5, 1)),
        (TimeControl.byo_yomi(60, 30, 1), 12, 1, (12, 1, 1)),
        (TimeControl.fischer(60, 5), 200, 0, (200, 1, 0)),
        (TimeControl.fischer(60, 5, limit=90), 200, 0, (90, 1, 0)),
    ],
)
def test_time_left_means_what_gtp_says(
    control: TimeControl, seconds: float, stones: int, expected: tuple[float, int, int]
) -> None:
    clock = set_left(started(control), seconds, stones)
    assert (clock.left, clock.periods, clock.stones) == expected
    assert not clock.fallen


def test_time_left_can_turn_overtime_back_into_main_time() -> None:
    control = TimeControl.byo_yomi(60, 30, 5)
    in_overtime = after_move(started(control), 150)
    assert (in_overtime.in_overtime, in_overtime.periods) == (True, 2)
    assert set_left(in_overtime, 60, 0) == started(control)


# Budgets never lose

LAGS = st.sampled_from([0.0, 0.01, DEFAULT_LAG, 0.5])
SECONDS = st.one_of(st.just(0.0), st.floats(0, 10), st.floats(0, 3600), st.floats(0, 2**31))
# Multiples of the lag: what comes in overtime or after a move must pay for the move's lag.
ENOUGH = st.one_of(st.floats(1.25, 4), st.floats(1.25, 1000))


@st.composite
def controls_with_lag(draw: st.DrawFn) -> tuple[TimeControl, float]:
    """A time control that can be kept for ever with this lag, if barely."""
    lag = draw(LAGS)
    main, share = draw(SECONDS), draw(ENOUGH) * max(lag, 0.001)
    match draw(st.sampled_from(["canadian", "byo-yomi", "fischer", "fischer-capped"])):
        case "canadian":
            stones = draw(st.integers(1, 30))
            return TimeControl.canadian(main, stones * share, stones), lag
        case "byo-yomi":
            return TimeControl.byo_yomi(main, share, draw(st.integers(1, 6))), lag
        case "fischer":
            return TimeControl.fischer(main + share, share), lag
    main += share
    limit, per_move = main * draw(st.floats(1, 3)), share * draw(st.floats(1, 3))
    return TimeControl.fischer(main, share, limit, per_move), lag


@settings(max_examples=400, deadline=None)
@given(controls_with_lag(), st.integers(1, 400), st.randoms(use_true_random=False))
def test_no_game_is_lost_on_time_whatever_is_made_of_the_budgets(
    control_and_lag: tuple[TimeControl, float], area: int, choice: random.Random
) -> None:
    control, lag = control_and_lag
    ways: list[Callable[[Budget], float]] = [
        lambda given: given.most + lag,
        lambda given: given.most + choice.uniform(0, lag),
        lambda given: given.target + choice.uniform(0, lag),
        lambda given: choice.uniform(0, given.most),
        lambda given: choice.choice(ways[:4])(given),
    ]
    played(control, 150, choice.choice(ways), area=area, lag=lag)


@pytest.mark.parametrize(
    "control",
    [
        TimeControl.byo_yomi(0, 1, 1),
        TimeControl.byo_yomi(10, 1, 5),
        TimeControl.canadian(0, 1, 1),
        TimeControl.canadian(0, 25, 25),
        TimeControl.canadian(10, 10, 10),
        TimeControl.fischer(1, 1),
        TimeControl.fischer(10, 1, limit=10),
        TimeControl.fischer(10, 1, per_move=1),
    ],
)
def test_a_second_a_move_is_never_lost_in_thousands_of_moves(control: TimeControl) -> None:
    choice = random.Random(1)
    played(control, 5000, slowest)
    played(control, 5000, lambda given: given.most + choice.uniform(0, DEFAULT_LAG))
    played(control, 5000, lambda given: given.target + choice.uniform(0, DEFAULT_LAG))


@pytest.mark.parametrize("area", [81, 169, 361])
@pytest.mark.parametrize(("main", "moves"), [(60, 240), (100, 400), (600, 400), (7200, 400)])
def test_absolute_time_lasts_through_long_games_at_the_slowest(
    main: float, moves: int, area: int
) -> None:
    played(TimeControl.absolute(main), moves // 2, slowest, area=area)


@pytest.mark.parametrize("main", [1, 60, 3600])
def test_absolute_budgets_shrink_but_never_to_nothing(main: float) -> None:
    clock, times = played(TimeControl.absolute(main), 3000, lambda given: given.most)
    assert clock.left > 0
    assert times[-1] > 0
    long_after = times[130:]  # when the number of moves left is no longer counted down
    assert all(later < earlier for earlier, later in pairwise(long_after))


@given(
    st.one_of(WHOLE_CONTROLS, controls_with_lag().map(lambda both: both[0])),
    st.one_of(st.just(-1.0), SECONDS),
    st.integers(0, 30),
    st.one_of(LAGS, st.just(100.0)),
    st.floats(-10, 500),
)
def test_budgets_are_finite_times_in_order(
    control: TimeControl, seconds: float, stones: int, lag: float, moves_to_go: float
) -> None:
    for clock in (started(control), set_left(started(control), seconds, stones)):
        given = budget_of(clock, moves_to_go, lag)
        assert 0 <= given.target <= given.most < math.inf
        if clock.left > 1e-9:
            assert given.target > 0


@given(controls_with_lag(), st.floats(0, 1), st.integers(0, 5), st.floats(1, 200))
def test_more_lag_never_means_longer_thoughts(
    control_and_lag: tuple[TimeControl, float], share: float, stones: int, moves_to_go: float
) -> None:
    control, lag = control_and_lag
    clock = set_left(started(control), share * (control.main + control.period), stones)
    quick, slow = (budget_of(clock, moves_to_go, lag=each) for each in (lag, lag + 0.2))
    assert slow.target <= quick.target
    # Of Canadian stones less is kept for later ones when there is less for each.
    if control.stones == 1:
        assert slow.most <= quick.most


# Budgets use the time


def test_a_byo_yomi_period_is_used_almost_to_its_end() -> None:
    for period, least in ((1, 0.5), (10, 9.5), (30, 29.5)):
        clock = Clock(TimeControl.byo_yomi(0, period, 1), period, periods=1, stones=1)
        given = budget_of(clock)
        assert least <= given.target <= given.most <= period - DEFAULT_LAG


@pytest.mark.parametrize("left", [30, 12.5])
def test_a_hard_move_may_eat_one_byo_yomi_period_of_three_but_none_is_planned_away(
    left: float,
) -> None:
    control = TimeControl.byo_yomi(0, 30, 5)
    for periods in range(1, 6):
        clock = Clock(control, left, periods=periods, stones=1)
        given = budget_of(clock)
        assert after_move(clock, given.target + DEFAULT_LAG).periods == periods
        lost = 1 if periods > 2 else 0
        assert after_move(clock, given.most + DEFAULT_LAG).periods == periods - lost


@pytest.mark.parametrize(("area", "moves"), [(81, 60), (361, 280)])
@pytest.mark.parametrize("main", [60, 600])
def test_most_of_absolute_time_is_used_in_a_game_of_usual_length(
    main: float, area: int, moves: int
) -> None:
    _, times = played(TimeControl.absolute(main), moves // 2, target, area=area)
    assert 0.6 * main < sum(times) < main


def test_absolute_time_is_spread_over_the_game() -> None:
    _, times = played(TimeControl.absolute(600), 110, target)
    assert max(times) < 1.2 * min(times)


def test_a_canadian_period_is_used_and_shared_by_its_stones() -> None:
    _, times = played(TimeControl.canadian(0, 50, 25), 75, target)
    for period in (times[:25], times[25:50], times[50:]):
        assert 0.9 * 50 < sum(period) < 50
        assert max(period) < 1.5 * min(period)


def test_slow_canadian_stones_leave_half_of_the_usual_to_the_others() -> None:
    clock = Clock(TimeControl.canadian(0, 50, 25), 50, periods=1, stones=25)
    usual = budget_of(clock).target
    assert 1.5 < usual < 50 / 25
    assert 2.5 * usual < budget_of(clock).most < 4 * usual
    while clock.stones > 1:
        clock = after_move(clock, budget_of(clock).most + DEFAULT_LAG)
        assert budget_of(clock).target > 0.49 * usual
    last = budget_of(clock)
    assert last.target == last.most


def test_a_canadian_player_who_is_behind_is_given_no_slow_moves() -> None:
    clock = Clock(TimeControl.canadian(0, 50, 25), 10, periods=1, stones=20)
    behind = budget_of(clock)
    assert 0.2 < behind.target == behind.most < 10 / 20


def test_fischer_spends_what_each_move_adds_and_a_share_of_the_rest() -> None:
    clock = started(TimeControl.fischer(300, 5))
    given = budget_of(clock, moves_to_go=100)
    assert 5 < given.target < 5 + 300 / 100
    assert given.target < given.most < 30
    # Half of the 10 seconds beyond what the next move adds.
    assert 9.5 < budget_of(set_left(clock, 15, 0), moves_to_go=2).target < 10
    _, times = played(clock.control, 140, target)
    assert sum(times) > 0.9 * (300 + 140 * 5)


def test_fischer_keeps_within_what_is_on_the_clock() -> None:
    for left in (0.5, 1, 4, 5, 6):
        given = budget_of(set_left(started(TimeControl.fischer(300, 5)), left, 0))
        assert left / 2 < given.target <= given.most <= left - DEFAULT_LAG


def test_no_budget_outlasts_the_limit_for_one_move() -> None:
    given = budget_of(started(TimeControl.fischer(3600, 30, per_move=10)))
    assert 9.5 < given.target <= given.most <= 10 - DEFAULT_LAG


def test_main_time_is_used_the_more_freely_the_more_overtime_gives() -> None:
    absolute, scarce, some, ample = (
        budget_of(started(control)).target
        for control in (
            TimeControl.absolute(600),
            TimeControl.byo_yomi(600, 1, 1),
            TimeControl.byo_yomi(600, 10, 1),
            TimeControl.canadian(600, 750, 25),
        )
    )
    assert absolute <= scarce < 600 / 100
    assert 10 < some < 30
    assert 30 < ample < 90


def test_no_single_move_takes_most_of_the_main_time() -> None:
    for control in (
        TimeControl.absolute(600),
        TimeControl.byo_yomi(600, 10, 5),
        TimeControl.canadian(600, 250, 25),
        TimeControl.fischer(600, 10),
    ):
        assert budget_of(started(control)).most < 600 / 10


def test_the_last_main_time_is_used_along_with_overtime() -> None:
    for control in (TimeControl.byo_yomi(60, 10, 1), TimeControl.canadian(60, 100, 10)):
        clock = set_left(started(control), 2, 0)
        given = budget_of(clock)
        assert 11 < given.target < 12
        after = after_move(clock, given.target)
        assert after.in_overtime
        assert not after.fallen


def test_a_reserve_of_absolute_time_is_kept_for_the_lag_of_later_moves() -> None:
    clock = started(TimeControl.absolute(600))
    assert 570 < budget_of(clock, moves_to_go=1).most < 600 - 150 * DEFAULT_LAG
    nearly_out = set_left(clock, 10, 0)
    assert 0 < budget_of(nearly_out, moves_to_go=1).most < DEFAULT_LAG
    # Where each move brings its own lag none is needed.
    fischer = started(TimeControl.fischer(600, 5))
    assert budget_of(fischer, moves_to_go=1).most > 599


# How long games last


@pytest.mark.parametrize(("area", "shortest", "longest"), [(81, 40, 90), (361, 200, 340)])
def test_games_are_expected_to_last_as_long_as_they_do(
    area: int, shortest: int, longest: int
) -> None:
    assert shortest < 2 * expected_moves_left(area, 0) < longest


def test_fewer_moves_are_left_as_the_game_goes_on_but_never_few() -> None:
    for area in (81, 169, 361):
        left = [expected_moves_left(area, move) for move in range(1000)]
        assert left[0] - left[10] == 5, "only every second move is the player's"
        assert left == sorted(left, reverse=True)
        assert left[-1] >= 5
