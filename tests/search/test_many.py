"""Many positions at a time: what is found there, in any order, and what ends it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tengen.game.position import Position
from tengen.network.cache import CachingEvaluator
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tengen.search import many as many_module
from tengen.search.many import search_many
from tengen.search.params import Limits, SearchParams
from tengen.search.result import SearchResult, Wanted
from tengen.search.search import OVER, VISITS, Search
from tests.search.scripts import Script, opinions

MOVES = ["D4", "F6", "E3", "C6", "G4", "E7", "C3", "F3", "F4", "G3", "H4", "H3", "D7", "D6"]
ONE_LEAF = FakeEvaluator(opinions(), best_batch=1)
TREES = 24


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer trees than positions, so that they walk through the game."""
    monkeypatch.setattr(many_module, "usual_trees", lambda _: TREES)


def game(size: int = 9, moves: list[str] = MOVES) -> list[Position]:
    """The positions before the first and after each move."""
    line = [Position(size, "tromp-taylor", 7)]
    for move in moves:
        line.append(line[-1].play(move))
    return line


def likely_game(moves: int) -> list[Position]:
    """A game in which each move is the one that a search expects."""
    line, search = [Position(9, "tromp-taylor", 7)], Search(ONE_LEAF)
    for _ in range(moves):
        search.set_position(line[-1])
        line.append(line[-1].play(search.run(Limits(visits=80)).move))
    return line


def found(
    evaluator: FakeEvaluator | CachingEvaluator,
    positions: list[Position],
    visits: int,
    params: SearchParams | None = None,
    wanted: Wanted | None = None,
) -> list[SearchResult]:
    """What is found in each of the positions."""
    results: dict[int, SearchResult] = {}

    def note(index: int, result: SearchResult) -> None:
        assert index not in results, "a position is told of once"
        results[index] = result

    search_many(
        evaluator,
        positions,
        visits,
        params or SearchParams(),
        wanted=wanted or Wanted(),
        on_result=note,
    )
    return [results[i] for i in range(len(positions))]


def unsure(script: Script) -> Script:
    """With uncertainties that differ from position to position."""

    def with_doubts(batch: Batch) -> Evaluation:
        said = script(batch)
        return said._replace(value_error=said.value[:, 0] + 0.5, score_error=said.spread + 1)

    return with_doubts


def strangers(count: int) -> list[Position]:
    """Positions of which none follows another."""
    empty = Position(9, "tromp-taylor", 7)
    points = [(x, y) for y in range(9) for x in range(9)]
    return [empty.play(points[k]).play(points[k - 40]) for k in range(count)]


def test_unrelated_positions_are_searched_as_each_would_be_alone() -> None:
    evaluator = FakeEvaluator(unsure(opinions()), best_batch=1)
    positions = strangers(20)
    wanted = Wanted(ownership=True, moves_ownership=True)
    for position, many in zip(
        positions, found(evaluator, positions, 60, wanted=wanted), strict=True
    ):
        alone = Search(evaluator)
        alone.set_position(position)
        one = alone.run(Limits(visits=60), wanted=wanted)
        assert many.position is position
        assert many.stopped_by == VISITS
        assert [(each.move, each.visits) for each in many.moves] == [
            (each.move, each.visits) for each in one.moves
        ]
        assert many.winrate == one.winrate
        assert many.evaluated == one.evaluated
        assert many.raw.uncertainty == one.raw.uncertainty is not None
        np.testing.assert_array_equal(many.policy, one.policy)
        assert many.ownership is not None
        assert one.ownership is not None
        np.testing.assert_array_equal(many.ownership, one.ownership)
        assert many.moves[0].ownership is not None


@pytest.mark.usefixtures("few_trees")
def test_the_turns_of_a_game_keep_their_trees() -> None:
    line = likely_game(80)
    alone = Search(ONE_LEAF)
    fresh = kept = 0
    for position, many in zip(line, found(ONE_LEAF, line, 80), strict=True):
        alone.forget()
        alone.set_position(position)
        one = alone.run(Limits(visits=80))
        assert many.visits == 80
        assert many.evaluated <= 80 - many.reused
        assert abs(many.winrate - one.winrate) < 0.1
        fresh += one.evaluated
        kept += many.evaluated
    assert kept < 0.8 * fresh


@pytest.mark.usefixtures("few_trees")
def test_doubts_are_those_of_the_position_though_its_tree_was_kept() -> None:
    evaluator = FakeEvaluator(unsure(opinions()))
    results = found(evaluator, likely_game(80), 50)
    assert any(result.reused > 10 for result in results)
    for result in results:
        assert result.raw.uncertainty is not None
        assert result.raw.uncertainty.value == pytest.approx(result.raw.winrate + 0.5, abs=1e-6)


def test_what_neighbouring_turns_share_a_memory_saves() -> None:
    asked = 0

    def counted(batch: Batch) -> Evaluation:
        nonlocal asked
        asked += len(batch.planes)
        return opinions()(batch)

    results = found(CachingEvaluator(FakeEvaluator(counted), 10), likely_game(14), 60)
    assert asked < 0.8 * sum(result.evaluated for result in results)


def test_one_position() -> None:
    (result,) = found(FakeEvaluator(opinions()), [Position(7)], 40)
    assert result.visits == 40
    assert result.stopped_by == VISITS


def test_no_position() -> None:
    assert found(FakeEvaluator(), [], 10) == []


def test_no_visits_are_refused() -> None:
    with pytest.raises(ValueError, match="visits must be over 0"):
        found(FakeEvaluator(), [Position(5)], 0)


def test_boards_of_different_sizes() -> None:
    positions = [
        *game(9, MOVES[:6]),
        Position((5, 7)),
        *game(13, MOVES[:3]),
        Position((5, 7)).play("C3"),
    ]
    results = found(FakeEvaluator(opinions()), positions, 30)
    for position, result in zip(positions, results, strict=True):
        assert result.position is position
        assert result.visits == 30
        assert len(result.policy) == position.size.area + 1
        assert result.move is None or position.is_legal(result.move)


def test_finished_games_are_told_at_once_without_visits() -> None:
    over = Position(5).play("pass").play("pass")
    line = [Position(5), Position(5).play("pass"), over, Position(5).play("C3"), over]
    results = found(FakeEvaluator(opinions()), line, 20)
    assert [result.visits for result in results] == [20, 20, 0, 20, 0]
    assert [result.stopped_by for result in results] == [VISITS, VISITS, OVER, VISITS, OVER]
    assert results[2].moves == ()


@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_a_slow_network_tells_of_the_first_positions_long_before_the_last(seconds: float) -> None:
    asked = 0
    asked_until: list[int] = []  # each result

    def slow(batch: Batch) -> Evaluation:
        nonlocal asked
        time.sleep(seconds)
        asked += len(batch.planes)
        return opinions()(batch)

    search_many(
        FakeEvaluator(slow),
        strangers(70),
        60,
        on_result=lambda *_: asked_until.append(asked),
    )
    early = asked_until[0] < 0.6 * asked
    assert early == bool(seconds)  # a fast one has all of them at hand at the same time


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("after", [0, 1, 12])
def test_it_ends_when_told_to_and_tells_only_what_is_finished(after: int) -> None:
    told: list[SearchResult] = []
    search_many(
        FakeEvaluator(opinions()),
        game() * 3,
        30,
        on_result=lambda _, result: told.append(result),
        stopped=lambda: len(told) >= after,
    )
    assert after <= len(told) < after + TREES
    assert all(result.visits == 30 for result in told)


def test_a_single_search_ends_when_told_to() -> None:
    batches = 0

    def counted(batch: Batch) -> Evaluation:
        nonlocal batches
        batches += 1
        return opinions()(batch)

    told: list[int] = []
    search_many(
        FakeEvaluator(counted),
        [Position(9)],
        1_000_000,
        on_result=lambda index, _: told.append(index),
        stopped=lambda: batches >= 5,
    )
    assert told == []
    assert batches <= 6


def test_where_memory_is_short_positions_are_searched_one_after_another() -> None:
    line = game(9, MOVES[:4])
    order: list[int] = []
    search_many(
        ONE_LEAF,
        line,
        50,
        SearchParams(megabytes=0.1),
        on_result=lambda index, result: order.append(index) if result.visits == 50 else None,
    )
    assert order == list(range(len(line)))


def test_graph_searches_have_room_for_all_turns() -> None:
    results = found(FakeEvaluator(opinions()), game() * 3, 60, SearchParams(graph=True))
    assert all(result.visits >= 60 for result in results)


def test_an_error_of_the_network_is_raised() -> None:
    def broken(batch: Batch) -> Evaluation:
        raise RuntimeError("the device is gone")

    with pytest.raises(RuntimeError, match="the device is gone"):
        found(FakeEvaluator(broken), game(), 10)
