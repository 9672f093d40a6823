"""Searches of many positions: in order, side by side, as they are needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice

import pytest

from tengen.engine.engine import Engine
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform


def lines() -> list[Position]:
    """Positions that can be told apart by their first move."""
    return [Position(5).play(point) for point in Position(5).legal_moves()]


def test_results_come_in_the_order_of_the_positions_and_as_of_single_searches() -> None:
    positions = lines()
    with Engine(FakeEvaluator()) as engine:
        results = list(engine.search_many(positions, visits=20))
        assert [result.position for result in results] == positions
        assert {result.visits for result in results} == {20}
        engine.clear()
        alone = engine.search(positions[3], visits=20)
        assert results[3].winrate == pytest.approx(alone.winrate)


def test_searches_share_batches() -> None:
    sizes: list[int] = []

    def noting(batch: Batch) -> Evaluation:
        sizes.append(len(batch.planes))
        return uniform(batch)

    with Engine(FakeEvaluator(noting), leaves=1) as engine:
        for _ in engine.search_many(lines(), visits=8):
            pass
    assert max(sizes) > 4  # leaves of several searches: each has one in flight


def test_positions_are_read_as_they_are_needed_and_leaving_ends_the_searches() -> None:
    read: list[int] = []

    def endless() -> Iterator[Position]:
        for number in count():
            read.append(number)
            yield Position(5)

    with Engine(FakeEvaluator()) as engine:
        first = list(islice(engine.search_many(endless(), visits=5), 3))
        assert len(first) == 3
        assert len(read) < 5_000
        assert engine.search(Position(5), visits=2).visits >= 2  # nothing is in its way


def test_progress_is_told_with_the_total_if_that_is_known() -> None:
    heard: list[tuple[int, int | None]] = []
    with Engine(FakeEvaluator()) as engine:
        positions = lines()[:3]
        list(engine.search_many(positions, visits=2, progress=lambda *now: heard.append(now)))
        assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
        heard.clear()
        list(engine.search_many(iter(positions), visits=2, progress=lambda *n: heard.append(n)))
        assert heard[-1] == (3, None)


def test_a_bar_is_shown_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with Engine(FakeEvaluator()) as engine:
        assert list(engine.search_many([], visits=2, progress=True)) == []
        list(engine.search_many(lines()[:2], visits=2, progress=True))
    heard = capsys.readouterr()
    assert "2/2" in heard.err
    assert heard.out == ""


def test_results_have_texts_short_reprs_and_rows() -> None:
    position = Position(5).play("C3")
    with Engine(FakeEvaluator()) as engine:
        result = engine.search(position, visits=30)
        evaluation = engine.evaluate([position]).result()
    best = result.moves[0]
    assert position.is_legal(best.text)
    assert position.play(best.text) == position.play(best.move)
    assert result.text == best.text == result.pv_text.split()[0]
    for shown in (repr(result), repr(best), repr(evaluation)):
        assert len(shown) < 100
        assert "array" not in shown
    rows = result.rows()
    assert [row["move"] for row in rows] == [move.text for move in result.moves]
    assert {(row["to_play"], row["move_number"]) for row in rows} == {("white", 1)}
    assert all(type(value) in (int, float, str) for row in rows for value in row.values())
    told = json.loads(json.dumps(result.to_dict()))
    assert told["moves"][0]["move"] == best.text
    # White is to play: what is White's is not Black's.
    assert told["black_winrate"] == pytest.approx(1 - told["winrate"])
    assert told["black_lead"] == pytest.approx(-told["lead"])


def test_a_decision_has_a_text() -> None:
    with Engine(FakeEvaluator()) as engine:
        decision = engine.genmove(Position(5), level="beginner", seed=1)
        assert Position(5).play(decision.text) == Position(5).play(decision.move)
        assert decision._replace(resign=True).text == "resign"
