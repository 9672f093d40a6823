"""A search as its users meet it: when it ends, what it keeps, whose view it tells."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point, index_point, point_index
from tengen.game.illegal import IllegalMoveError
from tengen.game.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.forest import EXPANDED, TERMINAL, Forest, edge_point
from tengen.search.params import DEFAULT_VISITS, Limits, SearchParams
from tengen.search.result import MoveResult, SearchResult, Wanted
from tengen.search.search import ROOT_DEFAULTS, Avoid, RootOptions, Search

Script: TypeAlias = Callable[[Batch], Evaluation]

OWN, OPPONENT, BANNED = (
    KATAGO.planes.index(name) for name in ("own stone", "opponent's stone", "ko or superko ban")
)
OWN_AREA, OPPONENT_AREA = (KATAGO.planes.index(name) for name in ("own area", "opponent's area"))
KOMI = KATAGO.globals.index("own komi")
_FACTORS = np.random.default_rng(5).integers(2**63, size=3 * 361, dtype=np.uint64)


# Evaluators


def opinions(seed: int = 0, sharpness: float = 2.0) -> Script:
    """Random ones, always the same of the same position, whoever's the stones are."""

    def script(batch: Batch) -> Evaluation:
        n, _, height, width = batch.planes.shape
        area = height * width
        seen = batch.planes[:, [OWN, OPPONENT, BANNED]].reshape(n, -1).astype(np.uint64)
        komi = np.rint(1024 * batch.globals[:, KOMI]).astype(np.int64).view(np.uint64)
        key = seen @ _FACTORS[: 3 * area] + komi * _FACTORS[0] + np.uint64(seed)
        draws = scattered(key[:, None] * np.uint64(4096) + np.arange(2 * area + 4, dtype=np.uint64))
        win, score, spread = draws[:, 0], 20 * draws[:, 1] - 10, 4 * draws[:, 2]
        return uniform(batch)._replace(
            policy=sharpness * (2 * draws[:, 3 : area + 4] - 1),
            value=np.stack([win, 1 - win, 0 * win], 1),
            score=score,
            spread=spread,
            lead=score + 1,
            ownership=(2 * draws[:, area + 4 :] - 1).reshape(n, height, width),
        )

    return script


def doubting(batch: Batch) -> Evaluation:
    """Opinions with doubts of their own; nobody passes."""
    evaluation = opinions()(batch)
    evaluation.policy[:, -1] = -20
    doubt = np.abs(evaluation.ownership[:, 0, 0])
    return evaluation._replace(
        value_error=np.asarray(doubt / 2, np.float32),
        score_error=np.asarray(3 * doubt, np.float32),
    )


def scattered(numbers: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Numbers between 0 and 1 that look random."""
    for _ in range(2):
        numbers = (numbers ^ (numbers >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return ((numbers >> np.uint64(40)) / 2**24).astype(np.float32)


def by_area(batch: Batch) -> Evaluation:
    """Counts the board as it stands, and is sure of it."""
    count = batch.planes[:, [OWN_AREA, OPPONENT_AREA]].sum((2, 3))
    lead = count[:, 0] - count[:, 1] + 20 * batch.globals[:, KOMI]
    win = (lead > 0).astype(np.float32)
    value = np.stack([win, 1 - win, 0 * win], 1)
    return uniform(batch)._replace(value=value, score=lead, lead=lead)


def black_leads(batch: Batch) -> Evaluation:
    """Black wins four games of five, by seven points; komi must be positive."""
    sign = np.where(batch.globals[:, KOMI] < 0, 1, -1).astype(np.float32)
    win = 0.5 + 0.3 * sign
    return uniform(batch)._replace(
        value=np.stack([win, 1 - win, 0 * win], 1), score=7 * sign, lead=7 * sign
    )


def preferring(*moves: Point | None, logit: float = 5.0) -> Script:
    """Policy for some moves wherever they are legal; an even game otherwise."""

    def script(batch: Batch) -> Evaluation:
        evaluation = uniform(batch)
        width = batch.planes.shape[3]
        for move in moves:
            place = -1 if move is None else move.y * width + move.x
            evaluation.policy[:, place] = logit
        return evaluation

    return script


# Searches and their trees


def searching(
    position: Position,
    script: Script = uniform,
    options: RootOptions = ROOT_DEFAULTS,
    *,
    leaves: int = 8,
    seed: int = 0,
    ownership: bool = False,
    **params: Any,
) -> Search:
    """A search that stands at a position."""
    settings = SearchParams(**{"megabytes": 8, **params})
    search = Search(FakeEvaluator(script), settings, seed=seed, ownership=ownership, leaves=leaves)
    search.set_position(position, options)
    return search


def forest_of(search: Search) -> Forest:
    assert search._driver is not None
    return search._driver.forest


class Link(NamedTuple):
    point: int
    visits: int
    child: int


def links_of(forest: Forest, index: int) -> list[Link]:
    """The moves tried at a node, the first one first."""
    node = forest.nodes[index]
    return [
        Link(int(edge_point(link["edge"])), int(link["visits"]), int(link["child"]))
        for link in forest.links[forest.candidates[node["block"] : node["block"] + node["n_tried"]]]
    ]


def move_of(point: int, position: Position) -> Point | None:
    return None if point == PASS else index_point(point, position.width)


class Place(NamedTuple):
    """A node with its position."""

    position: Position
    node: int
    depth: int
    links: list[Link]


def places(search: Search) -> Iterator[Place]:
    """All visited nodes of a tree, parents first."""
    forest, position = forest_of(search), search.position
    assert position is not None
    todo = [(position, int(forest.trees[0]["root"]), 0)]
    while todo:
        position, index, depth = todo.pop()
        links = [link for link in links_of(forest, index) if link.visits]
        yield Place(position, index, depth, links)
        todo += [
            (position.play(move_of(link.point, position)), link.child, depth + 1) for link in links
        ]


def node_after(search: Search, moves: str) -> int:
    """The node that moves lead to."""
    forest, position = forest_of(search), search.position
    assert position is not None
    index = int(forest.trees[0]["root"])
    for text in moves.split():
        point = PASS if text == "pass" else point_index(position.point(text), position.width)
        (index,) = (link.child for link in links_of(forest, index) if link.point == point)
    return index


def dump(search: Search) -> list[bytes]:
    """What a tree takes up of its pools."""
    forest = forest_of(search)
    tree = forest.trees[0]
    return [
        forest.nodes[: tree["n_nodes"]].tobytes(),
        forest.links[: tree["n_links"]].tobytes(),
        forest.candidates[: tree["n_candidates"]].tobytes(),
    ]


def random_position(seed: int, size: int = 5, moves: int = 8, komi: float = 0.5) -> Position:
    choice = random.Random(seed)
    position = Position(size, "tromp-taylor", komi)
    for _ in range(moves):
        position = position.play(choice.choice(position.legal_moves()))
    return position


# Limits


@pytest.mark.parametrize(
    ("limits", "visits", "stopped_by"),
    [
        (Limits(visits=30), 30, "visits"),
        (Limits(visits=1), 1, "visits"),
        (Limits(playouts=30), 30, "playouts"),
        (Limits(visits=30, playouts=50), 30, "visits"),
        (Limits(visits=50, playouts=30), 30, "playouts"),
        (Limits(visits=50, playouts=30, seconds=60), 30, "playouts"),
        (Limits(), DEFAULT_VISITS, "visits"),
    ],
)
@pytest.mark.parametrize("leaves", [1, 8, 64])
def test_a_search_ends_at_the_first_limit_it_reaches(
    limits: Limits, visits: int, stopped_by: str, leaves: int
) -> None:
    result = searching(Position(5), opinions(), leaves=leaves).run(limits)
    assert (result.visits, result.stopped_by) == (visits, stopped_by)


def test_a_search_without_limits_ends() -> None:
    assert searching(Position(5)).run().visits == DEFAULT_VISITS


def test_time_ends_a_search_at_most_a_batch_late() -> None:
    begun: list[float] = []

    def slow(batch: Batch) -> Evaluation:
        begun.append(time.monotonic())
        time.sleep(0.01)
        return uniform(batch)

    for leaves in (1, 64):
        search = searching(Position(9), slow, leaves=leaves)
        search.run(Limits(visits=1))
        begun.clear()
        start = time.monotonic()
        result = search.run(Limits(visits=10**6, seconds=0.2))
        assert result.stopped_by == "time"
        assert len(begun) > 2
        assert sum(moment > start + 0.2 for moment in begun) <= 1
        assert result.seconds <= time.monotonic() - start


def test_playouts_come_on_top_of_what_was_kept() -> None:
    search = searching(Position(5), opinions())
    assert search.run(Limits(playouts=40)).visits == 40
    result = search.run(Limits(playouts=25))
    assert (result.visits, result.reused, result.stopped_by) == (65, 40, "playouts")
    result = search.run(Limits(visits=60))
    assert (result.visits, result.reused, result.evaluated) == (65, 65, 0)


@pytest.mark.parametrize("name", ["visits", "playouts", "seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_cannot_be_is_named(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be over 0"):
        Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [field.name for field in fields(SearchParams)])
def test_a_parameter_that_cannot_be_is_named(name: str) -> None:
    values: list[Any] = [-1, float("nan"), float("inf")]
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} must be"):
            SearchParams(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_share", 1.01),
        ("exploration_base", 0),
        ("stdev_prior", 0),
        ("score_scale", 0),
        ("temperature_halflife", 0),
        ("root_temperature", 0),
        ("root_temperature_early", 0),
    ],
)
def test_a_parameter_out_of_its_range_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        SearchParams(**{name: value})


def test_a_search_needs_a_position() -> None:
    search = Search(FakeEvaluator(), SearchParams(megabytes=1))
    for ask in (search.run, search.result):
        with pytest.raises(ValueError, match="no position"):
            ask()
    search.set_position(Position(5))
    assert search.run(Limits(visits=3)).visits == 3
    search.forget()
    assert search.position is None
    with pytest.raises(ValueError, match="no position"):
        search.run()


# Solved boards


def test_black_takes_the_whole_of_3x3_by_opening_in_the_centre() -> None:
    search = searching(Position(3, "tromp-taylor", 8.5), graph=True, leaves=64, megabytes=512)
    result = search.run(Limits(visits=400_000))
    assert result.move == Point(1, 1)
    assert result.moves[0].winrate > 0.95
    assert result.moves[0].lead == pytest.approx(0.5, abs=0.1)
    assert result.winrate > 0.95


def test_black_cannot_win_more_than_the_whole_of_3x3() -> None:
    search = searching(Position(3, "tromp-taylor", 9.5), graph=True, leaves=64, megabytes=512)
    result = search.run(Limits(visits=200_000))
    assert result.winrate < 0.2
    assert result.lead < -0.5


def test_a_tree_without_shared_nodes_sees_blacks_win_on_3x3() -> None:
    search = searching(Position(3, "tromp-taylor", 0), leaves=64, megabytes=512)
    result = search.run(Limits(visits=400_000))
    assert result.winrate > 0.85
    assert result.lead > 1


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


# The end of the game

FINISHED = """
    . X X O .
    X X X O O
    . X X O .
    X X X O O
    . X X O .
"""
ONE_LEFT = """
    . X X O .
    X X X O O
    . X . O .
    X X O O O
    . X O O .
"""


@pytest.mark.parametrize("to_play", ["black", "white"])
@pytest.mark.parametrize("komi", [4.5, 5.5])
def test_a_pass_is_played_when_nothing_is_left_to_play(to_play: str, komi: float) -> None:
    position = Position.from_diagram(FINISHED, to_play, "tromp-taylor", komi)
    sign = 1 if to_play == "black" else -1
    for before in (position, position.pass_()):
        result = searching(before, by_area).run(Limits(visits=300))
        assert result.move is None
        assert result.moves[0].move is None
        assert [each.order for each in result.moves] == list(range(len(result.moves)))
        # Black has 15 points, White 10; a player may still throw some away.
        assert result.moves[0].lead == pytest.approx(sign * (5 - komi), abs=1)
        sign = -sign


@pytest.mark.parametrize("komi", [0.5, -3.5, 8.5])
def test_the_last_point_is_taken_even_if_it_decides_nothing(komi: float) -> None:
    # Twelve points each and one between them.
    for to_play in ("black", "white"):
        position = Position.from_diagram(ONE_LEFT, to_play, "tromp-taylor", komi)
        result = searching(position, by_area).run(Limits(visits=300))
        assert result.move == Point(2, 2)


def test_under_area_rules_two_passes_are_counted_by_the_board() -> None:
    position = Position(5, "tromp-taylor", 6.5).pass_()
    result = searching(position, black_leads).run(Limits(visits=200))
    (passing,) = (each for each in result.moves if each.move is None)
    assert (passing.winrate, passing.lead) == (1, 6.5)


def test_under_territory_rules_two_passes_are_judged_by_the_network() -> None:
    position = Position(5, "japanese", 6.5).pass_()
    result = searching(position, black_leads).run(Limits(visits=200))
    (passing,) = (each for each in result.moves if each.move is None)
    assert passing.winrate == pytest.approx(0.2, abs=1e-5)
    assert passing.lead == pytest.approx(-7, abs=1e-5)
    # All is equal to this network, so the game may end.
    assert result.move is None


@pytest.mark.parametrize(
    "over",
    [
        Position(5).play("C3").pass_().pass_(),
        Position(5).play("C3").resign(),
        Position(5, move_limit=1).play("C3"),
    ],
)
def test_a_finished_game_is_answered_at_once(over: Position) -> None:
    asked: list[Batch] = []

    def asking(batch: Batch) -> Evaluation:
        asked.append(batch)
        return uniform(batch)

    result = searching(over, asking).run(Limits(visits=10**6))
    assert (result.stopped_by, result.moves, result.move) == ("game over", (), None)
    assert result.pv == ()
    assert not asked


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
            assert all(node >= edge for node, edge in pairs)
            differ += sum(node > edge for node, edge in pairs)
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


def test_the_networks_doubts_are_told_whatever_became_of_its_tree() -> None:
    def telling(batch: Batch) -> Evaluation:
        stones = batch.planes[:, [OWN, OPPONENT]].sum((1, 2, 3))
        return opinions()(batch)._replace(
            value_error=0.1 + 0.01 * stones, score_error=1 + stones, variance_time=10 - stones
        )

    position = Position(5, komi=0.5)
    search = searching(position, telling)
    assert search.result().raw.doubt is None
    for _ in range(3):
        result = search.run(Limits(visits=300))
        stones = np.count_nonzero(position.stones)
        assert result.raw.doubt == pytest.approx((0.1 + 0.01 * stones, 1 + stones, 10 - stones))
        position = position.play_all(result.pv[:2])
        search.set_position(position)
        assert search.result().visits > 0  # the tree goes on
    search.set_position(Position(5, komi=3.5))
    assert search.result().raw.doubt is None


def test_parameters_change_under_a_tree_that_goes_on_unless_it_was_grown_by_them() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions())
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


def test_evaluations_weigh_less_where_the_network_doubts_them() -> None:
    position = random_position(1)
    # Without a weight by value a node's mean is the plain mean of all evaluations below it.
    search = searching(position, doubting, value_weight=0)
    result = search.run(Limits(visits=200))
    total = winrate = lead = 0.0
    for place in places(search):
        found = doubting(encode(KATAGO, [place.position]))
        sign = 1 if place.position.to_play is position.to_play else -1
        error = found.value_error[0] + 0.02 * found.score_error[0]
        weight = 0.25 / (error + 0.25 / 8)  # 1 at an average doubt, at most 8
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
        for link in place.links:
            mean = mean + link.visits * below[link.child][0]
            square = square + link.visits * below[link.child][1]
            visits += link.visits
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

    search = searching(position, without_passes, ownership=True)
    result = search.run(Limits(visits=250), wanted=Wanted(ownership=True, moves_ownership=True))
    below = owned_below(search, script)
    sign = 1 if position.to_play is Color.BLACK else -1
    root = int(forest_of(search).trees[0]["root"])
    children = {
        move_of(link.point, position): link.child for link in links_of(forest_of(search), root)
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


# Ending early, repeating


def most_visited(result: SearchResult) -> Point | None:
    return max(result.moves, key=lambda each: each.edge_visits).move


def test_a_decided_search_ends_early_with_the_move_it_would_have_come_to() -> None:
    early = 0
    for seed in range(30):
        position = random_position(seed)
        whole, short = (
            searching(position, opinions(seed, sharpness=4), leaves=4, lcb_stdevs=0).run(
                Limits(visits=300, stop_when_decided=decided)
            )
            for decided in (False, True)
        )
        assert most_visited(short) == most_visited(whole)
        if short.stopped_by == "decided":
            early += 1
            counts = sorted((each.edge_visits for each in short.moves), reverse=True)
            assert counts[0] - counts[1] > 300 - short.visits
        else:
            assert short.visits == 300
    assert early > 20


def test_a_search_between_equal_moves_is_not_decided_early() -> None:
    search = searching(Position(5), preferring(Point(1, 1), Point(3, 3)), leaves=1)
    result = search.run(Limits(visits=100, stop_when_decided=True))
    assert result.visits > 90


@pytest.mark.parametrize("leaves", [1, 64])
def test_the_same_search_grows_the_same_tree(leaves: int) -> None:
    for options in (ROOT_DEFAULTS, RootOptions(noisy=True), RootOptions(gumbel=8)):
        one, other, third = (
            searching(Position(5), opinions(), options, leaves=leaves, seed=seed)
            for seed in (1, 1, 2)
        )
        for search in (one, other, third):
            search.run(Limits(visits=500))
        assert dump(one) == dump(other)
        assert (dump(one) == dump(third)) == (options == ROOT_DEFAULTS)


def test_a_tree_grown_in_a_used_forest_is_the_one_of_a_fresh_forest() -> None:
    used = searching(Position(5, komi=0.5), opinions())
    used.run(Limits(visits=500))
    used.set_position(Position(5, komi=3))
    fresh = searching(Position(5, komi=3), opinions())
    for search in (used, fresh):
        search.run(Limits(visits=500))
    assert dump(used) == dump(fresh)


@pytest.mark.kernel
def test_a_small_search_keeps_its_books() -> None:
    position = Position(3, komi=0.5).play("B2")
    for graph in (False, True):
        search = searching(position, opinions(), leaves=3, graph=graph)
        result = search.run(Limits(visits=40))
        assert result.visits == 40
        forest = forest_of(search)
        for index in range(int(forest.trees[0]["n_nodes"])):
            node = forest.nodes[index]
            links = links_of(forest, index)
            assert node["visits"] == node["own_visits"] + sum(link.visits for link in links)
            assert node["pending"] == 0
            assert node["status"] in (EXPANDED, TERMINAL)
        position.play_all(result.pv)
        search.set_position(position.play(result.move))
        assert search.run(Limits(playouts=5)).visits == result.moves[0].visits + 5
