"""Passes and the end of a game, at the root and below it, and what chooses among root moves."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point, point_index
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform
from tengen.search.choice import draw_move, obviousness
from tengen.search.kernels.forest import (
    EXPANDED,
    SCORE,
    SCORE_SQUARE,
    TERMINAL,
    UTILITY,
    packed_point,
)
from tengen.search.kernels.root import play_weights
from tengen.search.kernels.root_endings import ending_value
from tengen.search.kernels.select import untried_value
from tengen.search.kernels.utility import expected_atan
from tengen.search.params import SearchParams
from tengen.search.request import Limits
from tengen.search.useless_moves import useless_moves
from tests.search.scripts import by_area, opinions, preferring
from tests.search.trees import edges_of, forest_of, node_after, searching, settings_of_tree

pytestmark = pytest.mark.kernel
slow_uncompiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="takes a minute without the compiler"
)

PASSED = Position(5, "tromp-taylor", 0.5).play_all("C3 pass")


def status(position: Position, moves: str, **params: Any) -> int:
    """Of the node after these moves, when passes are all that is thought of."""
    search = searching(position, preferring(None), **params)
    search.run(Limits(visits=30))
    return int(forest_of(search).nodes[node_after(search, moves)]["status"])


def test_a_second_pass_ends_the_game_unless_passes_are_conservative() -> None:
    assert status(PASSED, "pass") == TERMINAL
    assert status(PASSED, "pass", conservative_pass=True) == EXPANDED
    assert status(PASSED, "pass pass", conservative_pass=True) == TERMINAL
    assert status(PASSED.undo(), "pass pass", conservative_pass=True) == TERMINAL


def test_a_friendly_second_pass_ends_nothing_wherever_it_is() -> None:
    friendly = Position(5, "chinese", 0.5).play("C3")
    assert status(friendly, "pass pass") == TERMINAL
    assert status(friendly, "pass pass", friendly_passes=True) == EXPANDED
    assert status(friendly, "pass pass pass", friendly_passes=True) == TERMINAL


def test_no_pass_has_more_than_95_percent_of_the_policy_with_passing_hacks() -> None:
    for hacks in (False, True):
        search = searching(Position(5), preferring(None, logit=20), passing_hacks=hacks)
        prior = search.run(Limits(visits=2)).policy[-1]
        assert prior == pytest.approx(0.95 if hacks else 1, abs=1e-4)


@pytest.mark.parametrize("preferred", [Point(0, 0), None])
def test_a_pass_that_ends_the_game_is_looked_at_without_a_visit(preferred: Point | None) -> None:
    """And any other move, where only a pass comes to mind."""
    script = preferring(preferred, logit=20)
    tried: list[dict[bool, int]] = []
    for hacks in (False, True):
        search = searching(PASSED, script, leaves=1, more_passing_hacks=hacks)
        result = search.run(Limits(visits=12))
        assert result.visits == 12
        edges = edges_of(forest_of(search), int(forest_of(search).trees[0]["root"]))
        tried.append({edge.point == PASS: edge.visits for edge in edges})
    assert tried == [{preferred is None: 11}, {preferred is None: 11, preferred is not None: 0}]


SETTLED = """
. X . O .
X X X O O
. X . O .
X X X O O
. X . O .
"""


def owners(batch: Batch) -> Evaluation:
    """Black owns the left of the board, White the right; Black is to play."""
    evaluation = uniform(batch)
    evaluation.ownership[:, :, :3] = 1
    evaluation.ownership[:, :, 3:] = -0.99
    return evaluation


@pytest.mark.parametrize(("rules", "passing"), [("tromp-taylor", 0.0), ("japanese", -1 / 3)])
def test_points_are_taken_off_for_moves_in_settled_areas(rules: str, passing: float) -> None:
    position = Position.from_diagram(SETTLED, rules=rules)
    search = searching(position, owners, ending_bonus=0.5)
    search.run(Limits(visits=2))
    bonus = forest_of(search).bonus[0]
    found = {
        (x, y): float(bonus[point_index(Point(x, y), 5)])
        for x in range(5)
        for y in range(5)
        if position.at((x, y)) is None
    }
    own = {place for place in found if place[0] == 0}
    beside = {place for place in found if place[0] == 2}  # White's stones
    assert {found[place] for place in own} == {-0.5}
    assert {found[place] for place in beside} == {0.0}
    theirs = [found[place] for place in found.keys() - own - beside]
    assert theirs == pytest.approx([-0.5 * 0.8] * len(theirs), abs=1e-5)
    assert bonus[PASS] == pytest.approx(passing)


def test_points_taken_off_lower_the_value_of_a_move() -> None:
    def script(batch: Batch) -> Evaluation:
        return opinions()(batch)._replace(ownership=owners(batch).ownership)

    search = searching(
        Position.from_diagram(SETTLED), script, ending_bonus=0.5, root_fpu_reduction=0
    )
    search.run(Limits(visits=400))
    forest, settings = forest_of(search), settings_of_tree(search)
    centre, lowered = float(forest.trees[0]["centre"]), 0
    root = forest.nodes[int(forest.trees[0]["root"])]
    for at in forest.candidates[root["block"] : root["block"] + root["n_tried"]].tolist():
        edge = forest.edges[at]
        means = forest.nodes[edge["child"]]["means"]
        score, points = float(means[SCORE]), float(forest.bonus[0, packed_point(edge["packed"])])
        spread = math.sqrt(max(float(means[SCORE_SQUARE]) - score**2, 0))

        def utility(points: float, score: float = score, spread: float = spread) -> float:
            static, dynamic = 2 * 5, 0.75 * 5  # by the side of the board
            return 0.1 * worth((score + points) / static, spread / static) + 0.3 * worth(
                (score + points - centre) / dynamic, spread / dynamic
            )

        found = ending_value(forest, 0, edge, np.float32(1), settings)
        assert found == pytest.approx(utility(points) - utility(0), abs=1e-4)
        lowered += found < -0.001
    assert lowered


def worth(mean: float, spread: float) -> float:
    """What points count, around their centre."""
    return float(expected_atan(np.float32(mean), np.float32(spread)))


def test_after_four_passes_nobody_plays_in_pass_alive_areas() -> None:
    board = "\n".join([". X . X .", "X X X X X", ". . . . .", ". . . . .", ". . . . ."])
    position = Position.from_diagram(board, rules="tromp-taylor", komi=0.5)
    for move in ("A1", "C1", "E1"):
        position = position.play(move).pass_()
    assert useless_moves(position) == []
    position = position.play("B2").pass_()
    alive = position.pass_alive(Color.BLACK)
    assert alive.sum() >= 10
    avoided = {each.move for each in useless_moves(position)}
    assert avoided == {Point(x, y) for y, x in np.argwhere(alive).tolist()}
    for prune in (False, True):
        result = searching(position, by_area, prune_useless=prune).run(Limits(visits=400))
        assert bool(avoided & {each.move for each in result.moves}) != prune


# D3 is dame.
LIVING = """
    . X X . O O .
    X X X O O O O
    . X X O O . O
"""


def test_dame_is_filled_before_a_pass_under_territory_scoring() -> None:
    living = Position.from_diagram(LIVING, rules="japanese", komi=0.5)
    for position, dame, fill, passes in (
        (living, Point(3, 0), False, True),
        (living, Point(3, 0), True, False),
        (Position(3, "chinese"), Point(1, 1), True, True),
    ):
        script = preferring(None, None, dame, logit=6)

        def slightly(batch: Batch, script: Any = script) -> Evaluation:
            evaluation: Evaluation = script(batch)
            evaluation.policy[:, -1] += 0.5
            return evaluation

        search = searching(position, slightly, leaves=1, fill_dame=fill)
        assert (search.run(Limits(visits=100)).move is None) == passes


def test_untried_moves_are_worth_what_katago_takes_them_for() -> None:
    search = searching(Position(5), opinions(), fpu_trust_power=0.5)
    search.run(Limits(visits=40))
    forest = forest_of(search)
    node = forest.nodes[int(forest.trees[0]["root"])]
    tried = float(node["tried_prior"])
    trust, settings = min(1.0, tried**0.5), settings_of_tree(search)
    parent = trust * node["means"][UTILITY] + (1 - trust) * node["own"][UTILITY]
    plain = parent - 0.3 * math.sqrt(tried)
    radius = 1.0 + 0.1 + 0.3  # win or loss, and points
    expected = plain + 0.25 * (-radius - plain)
    numbers = (np.float32(each) for each in (tried, 1, 0.3, 0.25))
    assert untried_value(node, *numbers, settings) == pytest.approx(expected, abs=1e-5)


def test_what_cannot_reach_the_best_move_is_not_searched() -> None:
    visits = [
        sorted(
            each.visits
            for each in searching(Position(7), opinions(), leaves=1, futile_share=share)
            .run(Limits(visits=100))
            .moves
        )
        for share in (0.0, 1.0)
    ]
    assert sum(visits[0]) == sum(visits[1]) == 99
    assert len(visits[1]) < len(visits[0])
    assert visits[1][-1] > visits[0][-1]


def test_every_move_tried_gets_the_visits_that_are_asked_for() -> None:
    result = searching(Position(5), opinions(), leaves=1, per_child_visits=3.0).run(
        Limits(visits=200)
    )
    for each in result.moves:
        assert each.visits + 1 >= math.sqrt(3.0 * each.prior * 199)


@slow_uncompiled
def test_moves_of_little_weight_are_pruned_and_all_lose_some() -> None:
    def weights(**params: Any) -> list[float]:
        search = searching(Position(5), opinions(), lcb_stdevs=0, **params)
        search.run(Limits(visits=600))
        found = np.zeros(26, np.float32)
        play_weights(forest_of(search), 0, settings_of_tree(search), found)
        return [float(each) for each in found]

    plain = weights(chosen_prune=0)
    most = max(plain) / 64
    assert most > 2
    assert weights(chosen_prune=2) == [w if w >= 2 else 0 for w in plain]
    assert weights(chosen_prune=1e9) == [w if w >= most else 0 for w in plain]
    assert weights(chosen_prune=0, chosen_subtract=1.5) == pytest.approx(
        [max(w - 1.5, 0) for w in plain], abs=1e-4
    )


@slow_uncompiled
def test_the_first_move_may_be_left_without_the_bonus_of_its_bound() -> None:
    raised = 0
    for seed in range(40):
        found = np.zeros((2, 26), np.float32)
        for k, first in enumerate((True, False)):
            search = searching(
                Position(5), opinions(seed, 1.0), lcb_for_first=first, chosen_prune=0
            )
            search.run(Limits(visits=40))
            play_weights(forest_of(search), 0, settings_of_tree(search), found[k])
        assert (found[0, 1:] == found[1, 1:]).all()
        raised += bool(found[0, 0] > found[1, 0])
    assert raised


def test_a_dropped_subtree_leaves_the_share_of_what_it_taught() -> None:
    left = []
    for freed in (0.0, 1.0):
        search = searching(Position(5).play("C3"), opinions(), value_bias_freed=freed)
        move = search.run(Limits(visits=300)).move
        search.set_position(Position(5).play("C3").play(move))
        forest = forest_of(search)
        left.append(float(forest.biases["weight"][: forest.trees[0]["n_biases"]].sum()))
    assert left[0] > left[1] + 1


@pytest.mark.parametrize(("early", "below"), [(0.5, 1.0), (0.5, 0.3), (0.0, 1.0)])
def test_moves_are_drawn_at_a_temperature_below_a_chance(early: float, below: float) -> None:
    found = searching(Position(5), opinions()).run(Limits(visits=100))
    shares = {0: 50.0, 1: 30.0, 2: 15.0, 3: 5.0}
    moves = tuple(replace(found.moves[k], play_weight=w) for k, w in shares.items())
    result = replace(found, moves=moves)
    params = SearchParams(temperature_early=early, temperature_below=below)
    random = np.random.default_rng(3)
    drawn = Counter(draw_move(result, params, random) for _ in range(8000))
    if early == 0:
        assert drawn == {moves[0].move: 8000}
        return
    bar = min(below, 0.5)
    odds = [w if w > bar else bar * (w / bar) ** 2 for w in (0.5, 0.3, 0.15, 0.05)]
    for move, each in zip(moves, odds, strict=True):
        assert drawn[move.move] / 8000 == pytest.approx(each / sum(odds), abs=0.02)


def test_a_move_is_obvious_if_the_policy_is_sure_and_the_search_agrees() -> None:
    found = searching(Position(5), opinions()).run(Limits(visits=100))
    policy = np.zeros(26, np.float32)
    policy[:2] = 0.75, 0.25
    first, second = (replace(found.moves[k], move=Point(k, 0), play_weight=1.0) for k in (0, 1))
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    surprise = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    result = replace(found, policy=policy, moves=(first, second))
    assert obviousness(result, 0.3, 10) == pytest.approx(math.exp(-entropy / 0.3), abs=1e-5)
    assert obviousness(result, 1e9, 0.15) == pytest.approx(math.exp(-surprise / 0.15), abs=1e-5)
