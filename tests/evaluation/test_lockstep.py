"""Matches in lockstep: whole games, exchanged colours, the same again from the same seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numba
import numpy as np
import pytest

from tengen.evaluation.lockstep import Played, Player, openings, play_in_lockstep
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.params import SearchParams
from tests.search.scripts import Script, by_area, opinions, preferring

pytestmark = pytest.mark.usefixtures("one_kernel_thread")


def player(script: Script, visits: int = 8, **params: Any) -> Player:
    return Player("someone", FakeEvaluator(script), visits, SearchParams(**params))


def starts(count: int = 3, size: int = 4) -> list[Position]:
    empty = Position(size, "tromp-taylor", 0.5, move_limit=2 * size * size)
    return openings(FakeEvaluator(opinions(7)), empty, 2, count, seed=1)


def misjudging(batch: Batch) -> Evaluation:
    """Takes the loser for the winner."""
    evaluation = by_area(batch)
    return evaluation._replace(
        value=evaluation.value[:, [1, 0, 2]], score=-evaluation.score, lead=-evaluation.lead
    )


def test_two_games_are_played_from_each_start_with_colours_exchanged() -> None:
    ended: list[Played] = []
    players = player(opinions(1)), player(opinions(2), visits=5)
    begun = starts()
    games = play_in_lockstep(players, begun, on_end=ended.append)
    assert ended == games
    assert Counter((game.start, game.number % 2) for game in games) == {
        (start, black): 1 for start in begun for black in (0, 1)
    }
    for game in games:
        assert game.end.is_over
        # From its start on, every move is legal.
        again = game.start
        for move in game.end.moves[game.start.move_number :]:
            assert move.color is again.to_play
            again = again.play(move.point)
        assert again == game.end


def test_each_player_makes_the_moves_of_its_colour() -> None:
    # With one visit the policy's first move is played.
    left, right = Point(0, 1), Point(3, 2)
    players = player(preferring(left), visits=1), player(preferring(right), visits=1)
    for start in (Position(4, move_limit=6), Position(4, move_limit=6).play("B1")):
        for game in play_in_lockstep(players, [start]):
            first, second = game.end.moves[start.move_number : start.move_number + 2]
            by_color = {first.color: first.point, second.color: second.point}
            black, white = (left, right) if game.number % 2 == 0 else (right, left)
            assert by_color == {Color.BLACK: black, Color.WHITE: white}


def test_the_same_seed_plays_the_same_games_and_another_one_others() -> None:
    def moves(seed: int, temperature: float) -> list[Any]:
        params: dict[str, Any] = {"temperature": temperature, "temperature_early": temperature}
        players = player(opinions(1), **params), player(opinions(2), **params)
        games = play_in_lockstep(players, starts(), seed)
        return sorted((str(game.start), game.number % 2, game.end.moves) for game in games)

    assert moves(1, 1.0) == moves(1, 1.0)
    assert moves(1, 1.0) != moves(2, 1.0)
    assert moves(1, 0.0) == moves(2, 0.0)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS == 1, reason="there is one thread only")
def test_two_threads_play_the_games_that_one_plays() -> None:
    def moves(threads: int) -> list[Any]:
        numba.set_num_threads(threads)
        players = player(opinions(1), visits=4), player(opinions(2), visits=3)
        begun = [start.play("A1") if start.is_legal("A1") else start for start in starts(4)]
        games = play_in_lockstep(players, begun)
        return sorted((str(game.start), game.number % 2, game.end.moves) for game in games)

    assert moves(2) == moves(1)


def test_who_can_count_beats_who_cannot() -> None:
    players = player(by_area, visits=60), player(misjudging, visits=60)
    games = play_in_lockstep(players, starts(4))
    for game in games:
        outcome = game.end.outcome()
        assert outcome is not None
        assert outcome.winner is (Color.BLACK if game.number % 2 == 0 else Color.WHITE)


def test_leaves_of_many_games_go_to_the_network_together() -> None:
    sizes: list[int] = []

    def noting(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        return opinions()(batch)

    play_in_lockstep((player(noting), player(opinions(2))), starts(6))
    # Half of the twelve games at first, for the other player has the move in the others.
    assert max(sizes[:4]) >= 6


@pytest.mark.parametrize("leaves", [1, 3])
def test_boards_of_several_sizes_play_side_by_side(leaves: int) -> None:
    begun = [*starts(1, 4), *starts(1, 5), Position((5, 3), "japanese", move_limit=20)]
    players = (
        Player("one", FakeEvaluator(by_area), 12, leaves=leaves),
        Player("other", FakeEvaluator(misjudging), 7),
    )
    games = play_in_lockstep(players, begun)
    assert len(games) == 6
    for game in games:
        assert game.end.is_over
        assert game.end.size == game.start.size
    # As if each start had been played alone.
    for start in begun:
        alone = {game.number % 2: game.end.moves for game in play_in_lockstep(players, [start])}
        beside = {game.number % 2: game.end.moves for game in games if game.start == start}
        assert alone == beside


def test_openings_follow_the_policy_without_passes() -> None:
    empty = Position(5, komi=0.5)
    drawn = openings(FakeEvaluator(preferring(None, Point(1, 2), logit=9.0)), empty, 3, 40, seed=2)
    assert len(drawn) == 40
    for position in drawn:
        assert position.move_number == 3
        assert all(move.point is not None for move in position.moves)
    # e⁹ against 24 other moves.
    assert sum(position.moves[0].point == (1, 2) for position in drawn) >= 38


def test_openings_differ_where_they_can() -> None:
    empty = Position(5, komi=0.5)
    sure = FakeEvaluator(preferring(Point(1, 2), Point(1, 1), Point(3, 3), logit=6.0))
    drawn = openings(sure, empty, 3, 100, seed=2)
    assert len(drawn) == 100
    assert len(set(drawn)) == 100  # drawn by the policy alone, hardly a dozen would differ
    corners = openings(FakeEvaluator(uniform), Position(2, komi=0.5), 1, 10, seed=2)
    assert len(corners) == 10
    assert len(set(corners)) == 4  # there are no more


def test_openings_are_drawn_anew_from_another_seed() -> None:
    evaluator, empty = FakeEvaluator(uniform), Position(5)
    one, same, other = (openings(evaluator, empty, 4, 3, seed) for seed in (1, 1, 2))
    assert [each.moves for each in one] == [each.moves for each in same]
    assert [each.moves for each in one] != [each.moves for each in other]
    assert openings(evaluator, empty, 0, 2, 1) == [empty, empty]
    first = Counter(
        position.moves[0].point for position in openings(evaluator, empty, 1, 1000, seed=3)
    )
    assert len(first) == 25
    assert np.abs(np.array(list(first.values())) - 40).max() < 5 * np.sqrt(40)
