"""The search at its edges: little memory, large limits, games that go on in odd ways."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numba
import numpy as np
import pytest

from tengen.evaluation.elo import WinDrawLoss, estimate
from tengen.evaluation.lockstep import Player, openings, play_in_lockstep
from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point, Symmetry
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.kernels.reuse import compact
from tengen.search.params import SearchParams
from tengen.search.request import Avoid, Limits, RootOptions, Wanted, allow_only
from tests.search.books import check_books
from tests.search.scripts import opinions, preferring
from tests.search.trees import edges_of, forest_of, nodes_of, searching, working_memory


@pytest.fixture
def alarm() -> Iterator[threading.Event]:
    """An event that ends a search that would never end."""
    stop = threading.Event()
    timer = threading.Timer(60, stop.set)
    timer.start()
    yield stop
    timer.cancel()
    timer.join()


# Memory


def test_a_graph_keeps_its_nodes_when_memory_runs_out(alarm: threading.Event) -> None:
    search = searching(Position(3), opinions(), graph=True, megabytes=0.05, leaves=16)
    for visits in range(20, 10_001, 20):
        search.run(Limits(visits=visits), stop=alarm)
        forest = forest_of(search)
        for index in nodes_of(forest):
            node, edges = forest.nodes[index], edges_of(forest, index)
            assert node["visits"] == node["own_visits"] + sum(edge.visits for edge in edges)
            assert all(edge.child in nodes_of(forest) for edge in edges)


def test_given_up_nodes_do_not_outgrow_the_pool_of_candidates(alarm: threading.Event) -> None:
    def check(_: object) -> None:
        forest = forest_of(search)
        assert forest.trees[0]["n_candidates"] <= forest.candidate_room

    search = searching(Position(9), uniform, megabytes=0.041, leaves=16, exploration=50.0)
    search.run(Limits(visits=300), on_progress=check, every=0, stop=alarm)


@pytest.mark.parametrize("least", [2, 6, 30])
def test_a_node_that_was_given_up_keeps_its_visits_when_it_is_visited_again(least: int) -> None:
    search = searching(Position(4, komi=0.5), opinions(), static_score=0, dynamic_score=0)
    search.run(Limits(visits=500))
    forest = forest_of(search)
    compact(forest, 0, least, *working_memory(forest))
    search.run(Limits(visits=700))
    check_books(forest)


def test_a_long_search_in_a_small_memory_loses_no_visits(alarm: threading.Event) -> None:
    search = searching(Position(5), opinions(), megabytes=0.3, leaves=16, exploration=3.0)
    search.run(Limits(visits=40_000), stop=alarm)
    check_books(forest_of(search))


def test_a_memory_too_small_for_the_roots_moves_does_not_hang(alarm: threading.Event) -> None:
    search = searching(Position(9), uniform, megabytes=0.01)
    result = search.run(Limits(visits=400), stop=alarm)
    assert result.stopped_by == "visits"


# Going on with a game


def ladder_planes(planes: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> list[list[float]]:
    return [planes[KATAGO.planes.index(n)].ravel().tolist() for n in KATAGO.planes if "ladder" in n]


def position_with_ladders() -> Position:
    choice = np.random.default_rng(1)
    while True:
        position = Position(9)
        for _ in range(30):
            moves = position.legal_moves()
            position = position.play(moves[choice.integers(len(moves))])
        before = ladder_planes(encode(KATAGO, [position]).planes[0])
        if all(any(plane) for plane in before[1:3]):
            return position


@pytest.mark.parametrize("back", [1, 2, 3])
def test_the_network_sees_the_ladders_of_the_turns_before_after_moves_that_were_not_tried(
    back: int,
) -> None:
    seen: list[Batch] = []

    def noting(batch: Batch) -> Evaluation:
        seen.append(Batch(batch.planes.copy(), batch.globals.copy()))
        return uniform(batch)

    position = position_with_ladders()
    search = searching(list(position.line())[-1 - back], noting)
    search.set_position(position)
    search.run(Limits(visits=1))
    assert ladder_planes(seen[0].planes[0]) == ladder_planes(encode(KATAGO, [position]).planes[0])


def test_in_lockstep_networks_see_the_ladders_of_the_turns_before() -> None:
    numba.set_num_threads(1)
    seen: list[Batch] = []

    def noting(batch: Batch) -> Evaluation:
        seen.append(Batch(batch.planes.copy(), batch.globals.copy()))
        return uniform(batch)

    position = position_with_ladders()
    move = position.moves[-1].point
    start = Position.from_diagram(position.undo().diagram(), position.undo().to_play)
    start.move_limit = 2
    # The first player is made to play the last move; the other one looks at the board then.
    first = Player("first", FakeEvaluator(preferring(move, logit=50.0)), 1)
    other = Player("other", FakeEvaluator(noting), 1)
    after_move = start.play(move)
    expected = ladder_planes(encode(KATAGO, [after_move]).planes[0])
    play_in_lockstep((first, other), [start])
    assert any(
        ladder_planes(planes) == expected
        and planes[KATAGO.planes.index("move 1 turns ago"), move.y, move.x]  # type: ignore[union-attr]
        for batch in seen
        for planes in batch.planes
    )


def test_a_game_that_is_resumed_after_two_passes_is_searched() -> None:
    position = Position(5).play("C3").pass_()
    resumed = position.pass_().play("B2", strict=False)
    search = searching(position, opinions())
    search.run(Limits(visits=30))
    search.set_position(resumed)
    result = search.run(Limits(playouts=30))
    assert result.evaluated > 10
    assert result.moves


def test_nothing_is_told_of_a_position_from_another_one() -> None:
    search = searching(Position(5, komi=0.5), opinions())
    search.run(Limits(visits=50))
    search.set_position(Position(5, komi=3))
    result = search.result()
    assert (result.visits, result.winrate, result.lead) == (0, 0.5, 0)
    assert (result.evaluated, result.shared, result.reused) == (0, 0, 0)
    search.set_position(Position(5, komi=5).pass_().pass_())
    result = search.run()
    assert (result.stopped_by, result.evaluated, result.winrate) == ("game over", 0, 0.5)


@pytest.mark.parametrize("change", ["move limit", "history"])
def test_avoided_moves_do_not_keep_a_tree_of_another_game(change: str) -> None:
    options = RootOptions(avoid=(Avoid(Color.BLACK, Point(0, 0)),))
    changes: dict[str, Callable[[], tuple[Position, Position]]] = {
        "move limit": lambda: (Position(5), Position(5, move_limit=4)),
        "history": lambda: (
            Position(5).play_all("C3 B2 D4 A1"),
            Position(5).play_all("D4 B2 C3 A1"),
        ),
    }
    one, other = changes[change]()
    search = searching(one, opinions(), options)
    search.run(Limits(visits=50))
    search.set_position(other, options)
    assert search.run(Limits(visits=60)).reused == 0


# Limits and parameters


@pytest.mark.parametrize("limits", [Limits(visits=10**12), Limits(playouts=2**31)])
def test_a_limit_may_be_as_large_as_one_likes(limits: Limits) -> None:
    result = searching(Position(5)).run(replace(limits, seconds=0.05))
    assert result.stopped_by == "time"


def test_a_weight_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^most_weight must be"):
        SearchParams(most_weight=0)


def test_ownership_of_moves_is_told_only_if_it_is_kept() -> None:
    result = searching(Position(5), opinions()).run(
        Limits(visits=20), wanted=Wanted(moves_ownership=True)
    )
    assert all(each.ownership is None for each in result.moves)


# Mirror images


def test_a_mirror_image_of_an_avoided_move_is_searched() -> None:
    position = Position(5)
    only = replace(allow_only(position, [Point(1, 3)]), symmetry_pruning=True)
    result = searching(position, opinions(), only).run(Limits(visits=50))
    assert {each.move for each in result.moves} == {Point(1, 3)}
    avoid = RootOptions(avoid=(Avoid(Color.BLACK, Point(0, 0), 4),), symmetry_pruning=True)
    search = searching(position, uniform, avoid)
    found = {each.move for each in search.run(Limits(visits=1000)).moves}
    assert Point(0, 0) not in found
    assert {Point(0, 4), Point(4, 0), Point(4, 4)} <= found


def test_what_is_told_of_a_mirror_image_is_mirrored() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions(), RootOptions(symmetry_pruning=True), ownership=True)
    result = search.run(Limits(visits=300), wanted=Wanted(moves_ownership=True))
    told = {each.move: each for each in result.moves}
    images = [each for each in result.moves if each.symmetry_of is not None]
    assert images
    for each in images:
        original = told[each.symmetry_of]
        assert each.move is not None
        assert each.symmetry_of is not None
        assert len(each.pv) == len(each.pv_visits)
        position.play_all(each.pv)
        assert each.ownership is not None
        assert original.ownership is not None
        turned = [
            {
                symmetry.point((x, y), position.size): original.ownership[y, x]
                for y in range(5)
                for x in range(5)
            }
            for symmetry in Symmetry
            if symmetry.point(each.symmetry_of, position.size) == each.move
        ]
        mine = {Point(x, y): each.ownership[y, x] for y in range(5) for x in range(5)}
        assert mine in turned


# Matches


def test_openings_end_where_nothing_but_a_pass_is_left() -> None:
    for seed in range(40):
        empty = Position(2, "tromp-taylor", 7, move_limit=8)
        (position,) = openings(FakeEvaluator(), empty, 6, 1, seed)
        assert position.move_number <= 6


def test_a_game_without_a_move_limit_is_refused() -> None:
    player = Player("someone", FakeEvaluator(), 2)
    with pytest.raises(ValueError, match="move limit"):
        play_in_lockstep((player, player), [Position(2)])


def test_a_gumbel_player_varies_its_first_move_and_starts_its_rounds_anew() -> None:
    numba.set_num_threads(1)
    firsts = set()
    for seed in range(8):
        player = Player("someone", FakeEvaluator(), 2, gumbel=1)
        games = play_in_lockstep((player, player), [Position(5, move_limit=1)], seed)
        firsts |= {game.end.moves[0].point for game in games}
    assert len(firsts) > 3


def test_draws_alone_do_not_make_two_players_certainly_equal() -> None:
    one, many = estimate(WinDrawLoss(draws=1)), estimate(WinDrawLoss(draws=100))
    assert one.high - one.low > many.high - many.low > 1


# Ending early


def test_a_decided_search_plays_what_it_would_have_played() -> None:
    no_passes = RootOptions(avoid=tuple(Avoid(color, None, 99) for color in Color))
    early = 0
    for seed in range(40):
        whole, short = (
            searching(Position(5), opinions(seed, sharpness=6), no_passes, leaves=4).run(
                Limits(visits=300, stop_when_decided=decided)
            )
            for decided in (False, True)
        )
        assert short.move == whole.move, seed
        early += short.stopped_by == "decided"
    assert early
