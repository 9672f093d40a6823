"""One network for many threads: one batch for what is asked at once, each its own answer."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tengen.network.batching import LARGE, BatchingEvaluator
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, Ready, uniform


def batch_of(values: list[float], side: int = 3) -> Batch:
    planes = np.zeros((len(values), 22, side, side), np.float32)
    planes[:, 0, 0, 0] = values
    return Batch(planes, np.zeros((len(values), 19), np.float32))


def telling(batch: Batch) -> Evaluation:
    """The lead tells which position was asked about."""
    return uniform(batch)._replace(lead=batch.planes[:, 0, 0, 0].copy())


class Gate:
    """A network that waits until it is opened, and knows the sizes of its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.asked = threading.Event()
        self.sizes: list[tuple[int, int]] = []

    def __call__(self, batch: Batch) -> Evaluation:
        self.sizes.append((len(batch.planes), batch.planes.shape[2]))
        self.asked.set()
        assert self.open.wait(10)
        return telling(batch)


def test_each_asker_gets_its_own_rows_of_one_common_batch() -> None:
    gate = Gate()
    with BatchingEvaluator(FakeEvaluator(gate)) as shared:
        first = shared.submit(batch_of([1]))
        assert gate.asked.wait(10)  # the network is busy now, so what follows is gathered
        others = [shared.submit(batch_of([10 * k, 10 * k + 1])) for k in range(2, 5)]
        gate.open.set()
        assert first.result().lead.tolist() == [1]
        assert [other.result().lead.tolist() for other in others] == [
            [20, 21],
            [30, 31],
            [40, 41],
        ]
    assert gate.sizes == [(1, 3), (6, 3)]


def test_boards_of_different_sizes_are_not_mixed_and_batches_have_a_limit() -> None:
    gate = Gate()
    with BatchingEvaluator(FakeEvaluator(gate), largest=4) as shared:
        first = shared.submit(batch_of([0]))
        assert gate.asked.wait(10)
        answers = [shared.submit(batch_of([1, 1], side)) for side in (3, 5, 3, 3, 5)]
        gate.open.set()
        for answer in (first, *answers):
            answer.result()
    assert sorted(gate.sizes) == [(1, 3), (2, 3), (4, 3), (4, 5)]


def test_a_large_batch_goes_straight_to_the_network() -> None:
    threads = []

    class Network(FakeEvaluator):
        def submit(self, batch: Batch) -> Ready:
            threads.append(threading.current_thread())
            return super().submit(batch)

    with BatchingEvaluator(Network(telling)) as shared:
        many = [float(k) for k in range(LARGE * shared.best_batch)]
        assert shared.submit(batch_of(many)).result().lead.tolist() == many
        shared.submit(batch_of(many[1:])).result()
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threads[0]
    with pytest.raises(ValueError, match="closed"):
        shared.submit(batch_of(many))


def test_what_goes_wrong_reaches_all_askers_and_the_next_question_is_answered() -> None:
    def broken(batch: Batch) -> Evaluation:
        if batch.planes[0, 0, 0, 0] == 13:
            raise RuntimeError("out of memory")
        return telling(batch)

    with BatchingEvaluator(FakeEvaluator(broken)) as shared:
        with pytest.raises(RuntimeError, match="out of memory"):
            shared.submit(batch_of([13])).result()
        assert shared.submit(batch_of([7])).result().lead.tolist() == [7]


def test_closing_answers_what_was_asked_and_refuses_more() -> None:
    before = threading.active_count()
    shared = BatchingEvaluator(FakeEvaluator(telling))
    answers = [shared.submit(batch_of([k])) for k in range(50)]
    shared.close()
    assert [answer.result().lead.tolist() for answer in answers] == [[k] for k in range(50)]
    assert threading.active_count() == before
    with pytest.raises(ValueError, match="closed"):
        shared.submit(batch_of([1]))


def test_several_batches_are_under_way_if_the_network_computes_several() -> None:
    both = threading.Barrier(2)

    class Meeting:
        """An evaluation that ends when another one is waited for, too."""

        def __init__(self, batch: Batch) -> None:
            self._batch = batch

        def result(self) -> Evaluation:
            both.wait(10)
            return telling(self._batch)

    class Network(FakeEvaluator):
        def submit(self, batch: Batch) -> Meeting:  # type: ignore[override]
            return Meeting(batch)

    with BatchingEvaluator(Network(), largest=1, in_flight=2) as shared:
        answers = [shared.submit(batch_of([k])) for k in range(4)]
        assert [answer.result().lead.tolist() for answer in answers] == [[0], [1], [2], [3]]
