"""The recipe of self-play, part by part: how games begin, are searched, and are learned from."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.frontends.run_settings import PRESETS
from tengen.game.geometry import Point
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform
from tengen.selfplay.params import SelfPlaySearch
from tengen.selfplay.record import FAST, FULL, OPENING, SETUP
from tests.search.scripts import KOMI, OPPONENT, OWN, Script, opinions, preferring
from tests.selfplay.fleets import PLAIN, each_game, new_fleet, play_games, positions

BOLD = SelfPlaySearch(temperature=1.0, temperature_early=1.0, forced_playouts=0.0)
VALUES_ALONE = SelfPlaySearch(static_score=0.0, dynamic_score=0.0)


pytestmark = pytest.mark.usefixtures("one_kernel_thread")


def blacks_sign(batch: Batch) -> NDArray[np.float32]:
    """1 where Black is to play; komi must be positive."""
    return np.where(batch.globals[:, KOMI] < 0, 1, -1).astype(np.float32)


def seen_by_black(batch: Batch, value: NDArray[np.float32], lead: float) -> Evaluation:
    """Win minus loss for Black, and Black's lead, whatever the komi."""
    sign = blacks_sign(batch)
    win = np.asarray(0.5 + 0.5 * sign * value, np.float32)
    return uniform(batch)._replace(
        value=np.stack([win, 1 - win, 0 * win], 1), score=lead * sign, lead=lead * sign
    )


def corner_is_worth(value: float) -> Script:
    """Black wins more if a black stone stands in the lower right corner, and less without."""

    def script(batch: Batch) -> Evaluation:
        sign = blacks_sign(batch)
        own, other = batch.planes[:, OWN, -1, -1], batch.planes[:, OPPONENT, -1, -1]
        black = np.where(sign > 0, own, other)
        return seen_by_black(batch, np.asarray(value * (2 * black - 1), np.float32), 0.0)

    return script


def assert_share(count: int, total: int, share: float) -> None:
    """A share as it may turn out by chance: five standard deviations."""
    spread = math.sqrt(share * (1 - share) / total)
    assert abs(count / total - share) <= 5 * spread + 1e-9, (count / total, share)


# How games begin


def test_games_on_each_board_are_as_many_as_its_weight() -> None:
    weights = {(3, 3): 1.0, (5, 3): 2.0, (5, 5): 5.0}
    params = replace(
        PLAIN,
        board_sizes=tuple(f"{width}x{height}" for width, height in weights),
        size_weights=tuple(weights.values()),
        visits=2,
        fast_visits=1,
        # No passes: all games are as long as their board is large.
        move_limit=1.0,
        pass_from=2.0,
        handicap_stones=0,
    )
    games = play_games(new_fleet(uniform, params, games=512), 3000).games
    sizes = Counter(zip(games["width"].tolist(), games["height"].tolist(), strict=True))
    for size, weight in weights.items():
        assert_share(sizes[size], len(games), weight / 8)


def begun_games(params: object, count: int) -> NDArray[np.void]:
    """The first games of many slots: later ones would favour what ends soon."""
    assert isinstance(params, type(PLAIN))
    fleet = new_fleet(uniform, replace(params, visits=2, fast_visits=1), games=count)
    games = play_games(fleet, 2 * count, ticks=256).games
    first = games[games["number"] < count]
    assert len(first) == count
    return first


def test_komi_lies_around_the_fair_one_in_half_points() -> None:
    params = replace(PLAIN, komi=(3.0,), komi_spread=1.5)
    komi = begun_games(params, 800)["terms"]["komi"]
    np.testing.assert_array_equal(2 * komi, np.rint(2 * komi))
    assert abs(komi.mean() - 3) < 5 * 1.5 / math.sqrt(800)
    assert komi.std() == pytest.approx(math.sqrt(1.5**2 + 1 / 48), rel=0.15)  # rounded to halves
    assert begun_games(PLAIN, 16)["terms"]["komi"].tolist() == [2.0] * 16  # the fair one of 4x4


def test_a_share_of_komis_is_far_from_fair_but_none_far_beyond_the_board() -> None:
    params = replace(
        PLAIN, komi=(0.0,), komi_spread=0.0, wide_komi_share=0.3, wide_komi_spread=100.0
    )
    komi = begun_games(params, 800)["terms"]["komi"]
    assert_share(int((komi != 0).sum()), 800, 0.3)
    assert np.abs(komi).max() == 17  # with which every game is lost


def test_on_boards_that_black_owns_games_are_won_and_lost_by_komi() -> None:
    params = replace(PLAIN, board_sizes=(3,), komi_spread=0.5)
    komi = begun_games(params, 400)["terms"]["komi"]
    # Black wins 3x3 by nine points: those of more are as many as those of less.
    chance = 0.5 * math.erfc(0.25 / (0.5 * math.sqrt(2)))
    assert_share(int((komi > 9).sum()), 400, chance)
    assert_share(int((komi < 9).sum()), 400, chance)


def test_rules_are_drawn_alike() -> None:
    rules = ("tromp-taylor", "stone-scoring", "aga-button")
    terms = begun_games(replace(PLAIN, rules=rules), 600)["terms"]
    found = Counter(zip(terms["tax"].tolist(), terms["button"].tolist(), strict=True))
    assert len(found) == 3
    for count in found.values():
        assert_share(count, 600, 1 / 3)


def test_some_games_have_handicap_stones_of_black_first() -> None:
    params = replace(PLAIN, handicap_share=0.25, handicap_stones=3, board_sizes=(5,))
    games = play_games(new_fleet(uniform, params, games=256), 512)
    stones = [
        int((played.turns["kind"] == SETUP).sum())
        for played in each_game(games)
        if played.game["number"] < 256
    ]
    assert_share(sum(count > 0 for count in stones), 256, 0.25)
    assert max(stones) == 4  # three, and the first move, which would have been Black's anyway
    assert all(
        played.turns["color"][0] == 1 and played.turns["color"][-1] in (1, 2)
        for played in each_game(games)
    )


def test_openings_are_drawn_from_the_policy_and_never_pass() -> None:
    params = replace(PLAIN, opening_share=0.5, opening_moves=0.25, board_sizes=(4,))
    script = preferring(Point(1, 2), None, logit=3.0)
    games = play_games(new_fleet(script, params, games=256), 512)
    lengths, firsts = [], []
    for played in each_game(games):
        opening = played.turns[played.turns["kind"] == OPENING]
        assert 16 not in opening["move"]
        if played.game["number"] < 256:
            lengths.append(len(opening))
            firsts += opening["move"][:1].tolist()
    # An exponential length of mean 4 is cut down to whole numbers: none at all has 1 - e^(-1/4).
    assert_share(sum(length > 0 for length in lengths), 256, 0.5 * math.exp(-0.25))
    preferred = math.exp(3) / (math.exp(3) + 15)
    assert_share(firsts.count(9), len(firsts), preferred)


def test_fair_komi_makes_up_for_the_lead_that_the_network_sees() -> None:
    params = replace(PLAIN, komi=(2.0,), opening_share=1.0, opening_moves=0.1, fair_share=1.0)

    def script(batch: Batch) -> Evaluation:
        return seen_by_black(batch, np.zeros(len(batch.planes), np.float32), 4.3)

    seen = set()
    for played in each_game(play_games(new_fleet(script, params), 100)):
        opened = bool((played.turns["kind"] == OPENING).any())
        assert played.game["terms"]["komi"] == (6.5 if opened else 2.0)  # 6.3 in half points
        seen.add(opened)
    assert seen == {True, False}
    for played in each_game(play_games(new_fleet(script, replace(params, fair_share=0.0)), 50)):
        assert played.game["terms"]["komi"] == 2.0


def test_nobody_passes_early() -> None:
    params = replace(PLAIN, pass_from=0.5)
    script = preferring(None, logit=10.0)
    for played in each_game(play_games(new_fleet(script, params), 80)):
        assert 16 not in played.turns["move"][:8]
        if played.game["move_limit"] == 28:
            assert played.turns["move"][-2:].tolist() == [16, 16]
            assert played.game["n_turns"] <= 14
        assert all(16 not in wanted for wanted in played.targets[:8])
    for played in each_game(play_games(new_fleet(script, replace(params, pass_from=0.0)), 50)):
        assert played.game["n_turns"] < 8


# How turns are searched


def test_a_share_of_the_turns_is_searched_in_full() -> None:
    games = play_games(new_fleet(opinions(1), replace(PLAIN, full_share=0.3)), 200)
    kinds = Counter(games.turns["kind"].tolist())
    assert kinds.keys() == {FAST, FULL}
    assert_share(kinds[FULL], kinds.total(), 0.3)


@pytest.mark.parametrize("played_out", [0.0, 1.0])
def test_decided_games_are_played_with_few_visits_and_seldom_recorded(played_out: float) -> None:
    params = replace(
        PLAIN,
        board_sizes=(5,),
        komi=(2.0,),
        full_share=0.5,
        fast_visits=8,
        decided_visits=3,
        decided_value=0.95,
        decided_turns=3,
        decided_full_share=0.1,
        played_out_share=played_out,
        keep_tree=False,
    )

    def script(batch: Batch) -> Evaluation:
        """Black wins without uncertainty in half of all positions with an even number of stones."""
        stones = batch.planes[:, [OWN, OPPONENT]].sum((1, 2, 3))
        sure = np.where(stones >= 6, 0.99, 0.2).astype(np.float32)
        return seen_by_black(batch, sure, 5.0)

    kinds: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for played in each_game(play_games(new_fleet(script, params), 200)):
        sure = 0
        for turn in played.turns:
            decided = sure >= 3 and not played_out
            kinds[decided][int(turn["kind"])] += 1
            if turn["kind"] == FAST:
                assert turn["visits"] == (3 if decided else 8)
            else:
                assert turn["visits"] == 16
            sure = sure + 1 if abs(turn["value"]) >= 0.95 else 0
    assert_share(kinds[False][FULL], kinds[False].total(), 0.5)
    if not played_out:
        assert_share(kinds[True][FULL], kinds[True].total(), 0.1)
    else:
        assert not kinds[True]


def test_full_searches_are_noisy_and_fast_ones_are_not() -> None:
    params = replace(PLAIN, full_share=0.5, visits=100, fast_visits=100, komi=(0.0,))
    script = preferring(Point(1, 1), logit=12.0)
    first: dict[int, list[int]] = {FAST: [], FULL: []}
    for played in each_game(play_games(new_fleet(script, params, BOLD, games=64), 64)):
        first[int(played.turns["kind"][0])].append(int(played.turns["move"][0]))
    assert set(first[FAST]) == {5}
    assert len(set(first[FULL])) > 1


def test_forced_visits_are_no_targets() -> None:
    params = replace(PLAIN, full_share=1.0, visits=64, komi=(0.5,))
    shares, moves = {}, {}
    for forced in (0.0, 2.0):
        search = replace(VALUES_ALONE, forced_playouts=forced, noise_share=0.0)
        games = play_games(new_fleet(corner_is_worth(0.9), params, search), 20)
        first = [(played.targets[0], played.turns["visits"][0]) for played in each_game(games)]
        moves[forced] = max(len(wanted) for wanted, _ in first)
        shares[forced] = [sum(wanted.values()) / 16 / int(visits) for wanted, visits in first]
        assert all(max(wanted, key=lambda place: wanted[place]) == 15 for wanted, _ in first)
    assert moves[2.0] == 1  # the corner alone
    assert moves[0.0] > 1
    # √(2 · 64 / 16) visits for each of fifteen moves, none of them counted.
    assert max(shares[2.0]) < 0.6
    assert min(shares[0.0]) > 0.9


# What is learned from


def test_weights_follow_how_much_the_search_surprised_the_policy() -> None:
    search = replace(SelfPlaySearch(), lcb_stdevs=0.0)
    params = replace(PLAIN, full_share=0.5, surprise_share=0.5, pass_from=0.0, visits=32)

    def script(batch: Batch) -> Evaluation:
        return opinions(4)(batch)._replace(policy=uniform(batch).policy)

    seen = 0
    for played in each_game(play_games(new_fleet(script, params, search), 60)):
        full = played.turns["kind"] == FULL
        if not full.any():
            continue
        weights = played.turns["weight"][full]
        assert weights.mean() == pytest.approx(1, abs=1e-5)
        surprises = []
        for position, wanted in zip(positions(played), played.targets, strict=False):
            if wanted:
                shares = np.array(list(wanted.values())) / sum(wanted.values())
                prior = 1 / position.legal_mask().sum()
                surprises.append(float((shares * np.log(shares / prior)).sum()))
        expected = 0.5 + 0.5 * np.array(surprises) / np.mean(surprises)
        np.testing.assert_allclose(weights, expected, rtol=0.03)
        seen += weights.max() > 1.2
    assert seen > 3


def test_a_gumbel_target_is_the_policy_improved_by_the_values_of_the_moves_tried() -> None:
    params = replace(PLAIN, gumbel=4, visits=9, full_share=1.0, komi=(0.5,))
    games = play_games(new_fleet(corner_is_worth(0.02), params, VALUES_ALONE), 200)
    with_corner = 0
    for played in each_game(games):
        wanted = played.targets[0]
        assert len(wanted) == 4  # those considered, whatever their visits
        assert int(played.turns["move"][0]) in wanted
        others = [weight for place, weight in wanted.items() if place != 15]
        assert max(others) <= min(others) + 1
        if 15 in wanted:
            # Eight visits in two rounds: one for each of four, then two for each of two. So the
            # most are 3, and a value is worth (50 + 3) / 2 times itself against log priors.
            gain = 53 / 2 * (0.02 - -0.02)
            assert wanted[15] / others[0] == pytest.approx(math.exp(gain), rel=0.01)
            with_corner += 1
    assert with_corner > 20


def test_the_gumbel_preset_learns_from_every_turn() -> None:
    preset = PRESETS["gumbel"].selfplay
    params = replace(preset, board_sizes=(4,), decided_value=2.0, opening_share=0.0)
    games = play_games(new_fleet(opinions(2), params), 30)
    searched = games.turns[games.turns["kind"] >= FAST]
    assert set(searched["kind"].tolist()) == {FULL}
    assert searched["n_targets"].min() > 0
    assert searched["n_targets"].max() <= preset.gumbel
