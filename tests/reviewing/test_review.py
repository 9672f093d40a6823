"""What a review says of moves whose worth is known."""

from __future__ import annotations

import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.sgf.records import SgfError
from tengen.network.backends.registry import open_evaluator
from tengen.network.fake import FakeEvaluator
from tengen.network.files.loading import load_network
from tengen.reviewing.review import Searched
from tests.katago_data import FOLDER, needs_katago_data
from tests.reviewing.games import (
    BOTH_LEFT,
    FIRST_LOSS,
    SECOND_LOSS,
    SIX_STONES,
    WORTH,
    only_game,
    review_by,
    two_points_network,
)

BLACK, WHITE = Color


def test_a_move_loses_what_it_leaves_to_the_opponent() -> None:
    review = review_by(two_points_network(), only_game(BOTH_LEFT), 200)
    first, second, third, fourth, fifth = review.turns
    assert (first.best, third.best) == (Point(3, 3), Point(6, 6))
    assert first.points_lost == pytest.approx(FIRST_LOSS, rel=0.1)
    assert first.winrate_lost == pytest.approx(0.8, rel=0.1)  # from 90% to 10%
    assert first.better.lead == pytest.approx(7, rel=0.1)
    assert first.after.lead == pytest.approx(-7, rel=0.1)
    assert third.points_lost == pytest.approx(SECOND_LOSS, rel=0.1)
    assert [turn.points_lost for turn in (second, fourth)] == [0, 0]
    assert fifth.points_lost == pytest.approx(0, abs=0.3)


def test_sides_are_told_apart_and_mistakes_come_worst_first() -> None:
    review = review_by(two_points_network(), only_game(BOTH_LEFT), 100)
    assert [turn.number for turn in review.black.mistakes] == [1, 3]
    assert review.white.mistakes == ()
    assert (review.black.moves, review.white.moves) == (3, 2)
    assert review.black.accuracy == pytest.approx(100 / 3)  # one of three moves
    assert review.white.accuracy == 100
    assert review.black.mean_loss == pytest.approx((FIRST_LOSS + SECOND_LOSS) / 3, rel=0.1)


def test_white_losing_points_is_a_loss_for_white() -> None:
    white_tenukis = "(;SZ[7]KM[0]RU[chinese]PL[W];W[aa];B[dd];W[gg])"
    review = review_by(two_points_network(), only_game(white_tenukis), 100)
    (mistake,) = review.white.mistakes
    assert mistake.points_lost == pytest.approx(FIRST_LOSS, rel=0.1)
    assert mistake.after.lead > 0  # Black's
    assert review.black.mistakes == ()


def test_moves_that_make_no_difference_lose_nothing() -> None:
    """A network that finds all moves alike gives nobody a mistake, where it judges the end, too."""
    game = only_game("(;SZ[5]KM[0]RU[japanese];B[aa];W[ee];B[ab];W[de];B[];W[cc])")
    review = review_by(FakeEvaluator(), game, 60)
    assert [turn.points_lost for turn in review.turns] == pytest.approx([0] * 6, abs=0.01)
    assert (review.black.accuracy, review.white.accuracy) == (100, 100)


def test_every_search_is_told_with_the_node_it_belongs_to() -> None:
    told: list[Searched] = []
    review_by(two_points_network(), only_game(BOTH_LEFT), 50, told.append)
    assert [each.done for each in told] == list(range(1, len(told) + 1))
    assert told[-1].total == len(told)
    nodes = [each.node for each in told]
    assert sorted(node for node in nodes if node is not None) == list(range(6))
    assert nodes.count(None) >= 2  # the better moves of the mistakes
    leads = {each.node: each.standing.lead for each in told}
    assert leads[1] == pytest.approx(-7, rel=0.1)
    assert leads[4] == pytest.approx(-13, rel=0.1)


def test_a_review_that_is_stopped_has_what_is_known() -> None:
    told: list[Searched] = []
    game = only_game("(;SZ[5]KM[0]RU[chinese]" + ";B[cc];W[dd]" + ";B[];W[cb];B[];W[bb]" + ")")
    review = review_by(two_points_network(), game, 50, told.append, lambda: len(told) >= 4)
    assert 0 < len(review.turns) < 6
    assert review.missing == 6 - len(review.turns)


def test_a_review_that_is_stopped_at_once_is_empty() -> None:
    review = review_by(two_points_network(), only_game(BOTH_LEFT), 50, stopped=lambda: True)
    assert review.turns == ()
    assert review.missing == 5
    assert review.black.accuracy is None


def test_the_end_of_a_game_is_counted() -> None:
    """Two passes on an empty board: White wins by the komi."""
    game = only_game("(;SZ[5]KM[3]RU[tromp-taylor];B[];W[])")
    review = review_by(FakeEvaluator(), game, 50)
    assert review.turns[1].after == (0.0, -3.0)
    assert review.turns[1].points_lost == 0


def test_a_game_without_moves_is_refused() -> None:
    with pytest.raises(SgfError, match="no moves"):
        review_by(FakeEvaluator(), only_game("(;SZ[9]C[nothing yet])"))


@needs_katago_data
def test_six_stones_that_were_not_taken_cost_what_they_count() -> None:
    network = open_evaluator(load_network(str(FOLDER / "g170-b6c96.bin.gz")), "cpu")
    review = review_by(network, only_game(SIX_STONES), 100)
    (mistake,) = review.black.mistakes
    assert (mistake.number, mistake.move, mistake.best) == (1, None, Point(6, 4))
    assert mistake.points_lost == pytest.approx(WORTH, abs=1.5)
    assert mistake.winrate_lost > 0.9
    assert review.white.mistakes == ()
    assert review.turns[-1].after == (0.0, -7.0)  # 28 - 17 - 18
    assert mistake.after.lead == pytest.approx(-7, abs=1)
    assert mistake.better.lead == pytest.approx(7, abs=1)
