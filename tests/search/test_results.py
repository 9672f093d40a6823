"""What a search tells, and in whose view."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, Avoid, Limits, RootOptions, Wanted
from tengen.search.result import MoveResult, SearchResult
from tests.search.plain_search import Search
from tests.search.scripts import OPPONENT, OWN, Script, black_leads, doubting, opinions, preferring
from tests.search.trees import edges_of, forest_of, move_of, places, random_position, searching

# Whose view


@pytest.mark.parametrize("seed", range(4))
def test_exchanged_colours_give_the_same_result_to_the_side_to_play(seed: int) -> None:
    position = random_position(seed, moves=7, komi=1.5)
    plain = Position.from_diagram(position.diagram(), "white", komi=1.5)
    swapped = Position.from_diagram(
        position.diagram().translate(str.maketrans("XO", "OX")), "black", komi=-1.5
    )
    wanted = Wanted(ownership=True)
    one, other = (
        searching(each, opinions(seed), ownership=True).run(Limits(visits=300), wanted=wanted)
        for each in (plain, swapped)
    )
    for result in (one, other):
        assert result.moves
    for mine, theirs in zip((one, *one.moves), (other, *other.moves), strict=True):
        assert mine.visits == theirs.visits
        for name in ("winrate", "lead", "score", "spread", "utility"):
            assert getattr(mine, name) == pytest.approx(getattr(theirs, name), abs=1e-5), name
    assert [m.move for m in one.moves] == [m.move for m in other.moves]
    assert one.ownership is not None
    assert other.ownership is not None
    np.testing.assert_allclose(one.ownership, other.ownership, atol=1e-5)


def test_winrate_and_lead_are_those_of_the_side_to_play() -> None:
    position = Position(7, komi=5)
    no_passes = RootOptions(avoid=tuple(Avoid(color, None, 99) for color in Color))
    for to_play, winrate, lead in ((position, 0.8, 7), (position.play("D4"), 0.2, -7)):
        result = searching(to_play, black_leads, no_passes).run(Limits(visits=30))
        assert result.moves
        for each in (result, result.raw, *result.moves):
            assert each.winrate == pytest.approx(winrate, abs=1e-5)
            assert each.lead == pytest.approx(lead, abs=1e-5)
            assert each.score == pytest.approx(lead, abs=1e-5)


# What a result says


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese"])
@pytest.mark.parametrize("leaves", [1, 16])
def test_every_visit_is_accounted_for(rules: str, leaves: int) -> None:
    position = Position(3, rules, 0.5)
    search = searching(position, opinions(), leaves=leaves)
    terminal = 0
    for visits in (1, 500, 2500):
        result = search.run(Limits(visits=visits))
        before, terminal = terminal, int(forest_of(search).trees[0]["terminal"])
        assert result.evaluated + result.shared + terminal - before == visits - result.reused
        assert result.visits == 1 + sum(each.edge_visits for each in result.moves)
        for each in result.moves:
            assert each.visits == each.edge_visits
    assert result.shared
    assert terminal


def test_the_moves_come_in_order_with_lines_that_can_be_played() -> None:
    for seed in range(5):
        position = random_position(seed, komi=0.5)
        result = searching(position, opinions(seed)).run(Limits(visits=500))
        assert [each.order for each in result.moves] == list(range(len(result.moves)))
        assert result.move == result.moves[0].move
        assert result.pv == result.moves[0].pv
        assert len({each.move for each in result.moves}) == len(result.moves)
        for each in result.moves:
            assert each.pv[0] == each.move
            assert (each.pv_visits[0], each.pv_edge_visits[0]) == (each.visits, each.edge_visits)
            assert len(each.pv) == len(each.pv_visits) == len(each.pv_edge_visits)
            position.play_all(each.pv)
            assert all(more >= fewer for more, fewer in pairwise(each.pv_visits))
            assert each.lcb <= each.winrate
            assert each.utility_lcb <= each.utility
        longest = max(len(each.pv) for each in result.moves)
        assert longest > 3


def test_the_visits_of_a_position_and_of_the_move_to_it_differ_in_a_graph() -> None:
    differ = 0
    for seed in range(5):
        params = SearchParams(graph=True)
        search = Search(FakeEvaluator(opinions(seed)), params, seed=seed)
        search.set_position(random_position(seed, komi=0.5))
        for each in search.run(Limits(visits=1500)).moves:
            pairs = list(zip(each.pv_visits, each.pv_edge_visits, strict=True))
            assert all(node >= packed for node, packed in pairs)
            differ += sum(node > packed for node, packed in pairs)
    assert differ


def test_the_moves_at_the_end_of_a_line_are_told() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions())
    result = search.run(Limits(visits=600))
    at_root, moves = search.moves_after([])
    assert at_root == position
    assert {each.move: each.visits for each in moves} == {
        each.move: each.visits for each in result.moves
    }
    best = result.moves[0]
    after, moves = search.moves_after(best.pv[:2])
    assert after == position.play_all(best.pv[:2])
    assert moves[0].move == best.pv[2]
    assert moves[0].edge_visits == best.pv_edge_visits[2]
    assert [each.order for each in moves] == list(range(len(moves)))
    last = moves[-1]
    beyond, moves = search.moves_after([*best.pv[:2], *last.pv, None])
    assert (beyond.move_number, moves) == (3 + len(last.pv), ())
    with pytest.raises(IllegalMoveError):
        search.moves_after([Point(2, 2), Point(2, 2)])


def test_the_uncertainty_of_the_root_is_known_whatever_became_of_its_tree() -> None:
    def telling(batch: Batch) -> Evaluation:
        stones = batch.planes[:, [OWN, OPPONENT]].sum((1, 2, 3))
        return opinions()(batch)._replace(
            value_error=0.1 + 0.01 * stones, score_error=1 + stones, variance_time=10 - stones
        )

    position = Position(5, komi=0.5)
    search = searching(position, telling)
    assert search.result().raw.uncertainty == (0, 0, 0)
    for _ in range(3):
        result = search.run(Limits(visits=300))
        stones = np.count_nonzero(position.stones)
        assert result.raw.uncertainty == pytest.approx(
            (0.1 + 0.01 * stones, 1 + stones, 10 - stones)
        )
        position = position.play_all(result.pv[:2])
        search.set_position(position)
        assert search.result().visits > 0  # the tree goes on
    search.set_position(Position(5, komi=3.5))
    assert search.result().raw.uncertainty == (0, 0, 0)


def test_parameters_change_under_a_tree_that_goes_on_unless_it_was_grown_by_them() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions(), value_bias=0)
    before = search.run(Limits(visits=300))
    search.set_params(replace(search.params, exploration=3.0, static_score=0.0, dynamic_score=0.0))
    search.set_position(position)
    kept = search.result()
    assert kept.visits == 300
    assert kept.utility == pytest.approx(2 * kept.winrate - 1, abs=1e-4)  # no points any more
    assert before.utility != pytest.approx(kept.utility, abs=1e-4)
    wide = search.run(Limits(visits=1500))
    assert len(wide.moves) > len(before.moves)
    search.set_params(replace(search.params, uncertainty=0.0))
    search.set_position(position)
    assert search.result().visits == 0
    assert search.run(Limits(visits=50)).visits == 50


def test_lines_are_as_long_as_wanted() -> None:
    search = searching(Position(5), preferring(Point(2, 2), Point(1, 1), Point(3, 3), None))
    search.run(Limits(visits=300))
    lengths = [len(search.result(Wanted(pv_length=n)).pv) for n in (1, 2, 3)]
    assert lengths == [1, 2, 3]


def test_one_visit_plays_the_policys_first_move() -> None:
    for first in (Point(3, 1), None):
        result = searching(Position((5, 4)), preferring(first, logit=1.0)).run(Limits(visits=1))
        assert (result.moves, result.move) == ((), first)


def test_the_policy_reported_is_the_networks_own() -> None:
    position = random_position(3, komi=0.5).play("pass")
    logits = opinions()(encode(KATAGO, [position])).policy[0].astype(float)
    odds = np.exp(logits) * position.legal_mask()
    for options in (ROOT_DEFAULTS, RootOptions(noisy=True), RootOptions(gumbel=4)):
        search = searching(position, opinions(), options, wide_root_noise=0.1)
        result = search.run(Limits(visits=40))
        np.testing.assert_allclose(result.policy, odds / odds.sum(), rtol=1e-4)
        raw = opinions()(encode(KATAGO, [position]))
        assert result.raw.winrate == pytest.approx(raw.value[0, 0], abs=1e-6)
        assert result.raw.lead == pytest.approx(raw.lead[0], abs=1e-5)


def utility_of_a_point(score: float, centre: float, side: int = 5) -> float:
    """The derivative of what points count, (2/π)·atan, at a score that is certain."""
    static, dynamic = score / (2 * side), (score - centre) / (0.75 * side)
    slope = 0.1 / (2 * side) / (1 + static**2) + 0.3 / (0.75 * side) / (1 + dynamic**2)
    return 2 / math.pi * slope


@pytest.mark.parametrize("exponent", [1.0, 0.5])
def test_evaluations_weigh_less_where_the_network_doubts_them(exponent: float) -> None:
    position = random_position(1)
    # Without a weight by value a node's mean is the plain mean of all evaluations below it.
    plain: dict[str, Any] = {"value_weight": 0, "value_bias": 0, "noise_pruning": False}
    search = searching(position, doubting, uncertainty_exponent=exponent, **plain)
    result = search.run(Limits(visits=200))
    centre = float(forest_of(search).trees[0]["centre"])
    total = winrate = lead = 0.0
    for place in places(search):
        found = doubting(encode(KATAGO, [place.position]))
        sign = 1 if place.position.to_play is position.to_play else -1
        black = 1 if place.position.to_play is Color.BLACK else -1
        point = utility_of_a_point(black * float(found.score[0]), centre)
        error = found.value_error[0] + point * found.score_error[0]
        weight = 0.25 / (error**exponent + 0.25 / 8)  # 1 at an average uncertainty, at most 8
        total += weight
        winrate += weight * (found.value[0, 0] if sign > 0 else found.value[0, 1])
        lead += weight * sign * found.lead[0]
    assert result.weight == pytest.approx(total, rel=1e-4)
    assert abs(result.weight - result.visits) > 5
    assert result.winrate == pytest.approx(winrate / total, abs=1e-4)
    assert result.lead == pytest.approx(lead / total, abs=1e-3)


Owned: TypeAlias = NDArray[np.float64]


def owned_below(search: Search, script: Script) -> dict[int, tuple[Owned, Owned]]:
    """By node: what Black owns and its square, each visit of the tree counted once."""
    found = list(places(search))
    below: dict[int, tuple[Owned, Owned]] = {}
    for place in reversed(found):
        assert not place.position.is_over
        own = script(encode(KATAGO, [place.position])).ownership[0].astype(float)
        own *= 1 if place.position.to_play is Color.BLACK else -1
        mean, square, visits = own, own**2, 1
        for edge in place.edges:
            mean = mean + edge.visits * below[edge.child][0]
            square = square + edge.visits * below[edge.child][1]
            visits += edge.visits
        below[place.node] = mean / visits, square / visits
    return below


@pytest.mark.parametrize("moves", [5, 6])
def test_ownership_is_averaged_over_the_tree(moves: int) -> None:
    position = random_position(1, moves=moves)
    script = opinions()

    def without_passes(batch: Batch) -> Evaluation:
        evaluation = script(batch)
        evaluation.policy[:, -1] = -20
        return evaluation

    search = searching(position, without_passes, ownership=True, noise_pruning=False)
    result = search.run(Limits(visits=250), wanted=Wanted(ownership=True, moves_ownership=True))
    below = owned_below(search, script)
    sign = 1 if position.to_play is Color.BLACK else -1
    root = int(forest_of(search).trees[0]["root"])
    children = {
        move_of(edge.point, position): edge.child for edge in edges_of(forest_of(search), root)
    }
    assert len(result.moves) > 3
    told: list[tuple[int, SearchResult | MoveResult]] = [(root, result)]
    told += [(children[each.move], each) for each in result.moves]
    for index, each in told:
        mean, square = below[index]
        assert each.ownership is not None
        assert each.ownership_stdev is not None
        stdev = np.sqrt(np.maximum(square - mean**2, 0))
        assert np.abs(each.ownership - sign * mean).max() < 1 / 127
        assert np.abs(each.ownership_stdev - stdev).max() < 0.03


def test_ownership_is_told_only_if_it_is_wanted_and_kept() -> None:
    search = searching(Position(5), opinions(), ownership=True)
    result = search.run(Limits(visits=20))
    assert result.ownership is None
    assert result.ownership_stdev is None
    assert all(each.ownership is None for each in result.moves)
    wanted = search.result(Wanted(moves_ownership=True))
    assert wanted.ownership is None
    assert all(each.ownership is not None for each in wanted.moves)
    kept = searching(Position(5), opinions())
    assert kept.run(Limits(visits=20), wanted=Wanted(ownership=True)).ownership is None
