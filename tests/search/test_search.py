"""A search as its users meet it: when it ends, and what it finds where that is known."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import pytest

from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.kernels.forest import EXPANDED, TERMINAL
from tengen.search.params import SearchParams
from tengen.search.request import DEFAULT_VISITS, ROOT_DEFAULTS, Limits, RootOptions
from tengen.search.result import SearchResult
from tests.search.plain_search import Search
from tests.search.scripts import black_leads, by_area, opinions, preferring
from tests.search.trees import dump, edges_of, forest_of, random_position, searching

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
    if name in ("white_no_result_utility", "ending_bonus"):  # it may be bad for White, or a malus
        values = values[1:]
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
            edges = edges_of(forest, index)
            assert node["visits"] == node["own_visits"] + sum(edge.visits for edge in edges)
            assert node["pending"] == 0
            assert node["status"] in (EXPANDED, TERMINAL)
        position.play_all(result.pv)
        search.set_position(position.play(result.move))
        assert search.run(Limits(playouts=5)).visits == result.moves[0].visits + 5
