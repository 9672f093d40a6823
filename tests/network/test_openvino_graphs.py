"""Which graphs are compiled for a network, and how many are kept."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.network.architecture import Activation
from tengen.network.backends import openvino_evaluator
from tengen.network.backends.batch_sizes import padded_size
from tengen.network.backends.openvino import openvino_core
from tengen.network.backends.openvino_evaluator import (
    OpenVinoEvaluator,
    Precision,
    shared_tensor,
)
from tengen.network.cache import CachingEvaluator, EvaluationCache
from tengen.network.evaluator import Evaluation, drop_graphs, evaluate
from tests.network.test_openvino import BLOCKS, assert_same, random_batch, random_network


class Graph:
    """A compiled graph whose end can be seen."""

    def __init__(self, compiled: Any) -> None:
        self.create_infer_request = compiled.create_infer_request


class WatchfulCore:
    """OpenVINO's core; knows the shapes it has compiled graphs for, and those that still exist."""

    def __init__(self) -> None:
        self.core = openvino_core()
        self.get_property = self.core.get_property
        self.compiled: list[tuple[int, ...]] = []  # batch or -1, height, width
        self.most_at_a_time = 0
        self._graphs: list[tuple[tuple[int, ...], weakref.ref[Graph]]] = []

    def compile_model(self, graph: Any, device: str, settings: dict[str, Any]) -> Graph:
        found = Graph(self.core.compile_model(graph, device, settings))
        batch, _, height, width = graph.inputs[0].get_partial_shape()
        shape = -1 if batch.is_dynamic else len(batch), len(height), len(width)
        self.compiled.append(shape)
        self._graphs.append((shape, weakref.ref(found)))
        self.most_at_a_time = max(self.most_at_a_time, len(self.kept))
        return found

    @property
    def kept(self) -> list[tuple[int, ...]]:
        return [shape for shape, graph in self._graphs if graph() is not None]


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> WatchfulCore:
    watchful = WatchfulCore()
    monkeypatch.setattr(openvino_evaluator, "openvino_core", lambda: watchful)
    monkeypatch.setattr(openvino_evaluator, "GRAPHS_BY_BOARD", 2)
    monkeypatch.setattr(openvino_evaluator, "GRAPHS_BY_BATCH", 2)
    monkeypatch.setattr(openvino_evaluator, "LONG_IDLE", 10)
    return watchful


def opened(core: WatchfulCore) -> OpenVinoEvaluator:
    evaluator = OpenVinoEvaluator(
        random_network(BLOCKS["ordinary"], Activation.RELU), Precision.FLOAT32
    )
    assert core.compiled == []  # before it is known what for
    return evaluator


def test_the_graphs_of_the_boards_used_last_are_kept(core: WatchfulCore) -> None:
    evaluator = opened(core)
    batches = {side: random_batch((side, side)) for side in (3, 4, 5)}
    first = {side: evaluate(evaluator, batches[side]) for side in (3, 4)}
    evaluate(evaluator, random_batch((3, 3), (3, 3)))
    evaluate(evaluator, batches[5])
    assert core.kept == [(-1, 3, 3), (-1, 5, 5)]
    assert_same(evaluate(evaluator, batches[4]), first[4])
    assert core.kept == [(-1, 3, 3), (-1, 5, 5), (1, 4, 4)]  # for what occurs again


def test_batch_sizes_in_turns_do_not_take_graphs_from_each_other(core: WatchfulCore) -> None:
    evaluator = opened(core)
    batches = {n: random_batch(*n * [(4, 4)]) for n in (1, 2, 3, 4)}
    first = {n: evaluate(evaluator, batch) for n, batch in batches.items()}
    for _ in range(9):
        for n, batch in batches.items():
            assert_same(evaluate(evaluator, batch), first[n])
    assert core.compiled == core.kept == [(-1, 4, 4), (1, 4, 4), (2, 4, 4)]


def test_a_batch_size_no_longer_in_use_makes_room(core: WatchfulCore) -> None:
    evaluator = opened(core)
    for n in (1, 1, 2, 2):
        evaluate(evaluator, random_batch(*n * [(4, 4)]))
    four = random_batch(*4 * [(4, 4)])
    expected = evaluate(evaluator, four)
    for _ in range(20):
        evaluate(evaluator, random_batch((4, 4), (4, 4)))
        assert_same(evaluate(evaluator, four), expected)
    assert core.kept == [(-1, 4, 4), (2, 4, 4), (4, 4, 4)]
    assert core.compiled.count((4, 4, 4)) == 1


def test_room_is_made_before_another_graph_is_compiled(core: WatchfulCore) -> None:
    evaluator = opened(core)
    for side in (3, 4, 5, 6):
        evaluate(evaluator, random_batch((side, side)))
    assert len(core.compiled) == 4
    assert core.most_at_a_time == len(core.kept) == 2


def test_graphs_are_bounded_in_bytes(core: WatchfulCore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_evaluator, "GRAPHS_BY_BOARD", 100)
    evaluator = opened(core)
    for side in (3, 4, 5, 6):
        evaluate(evaluator, random_batch((side, side)))
    assert len(core.kept) == 4
    monkeypatch.setattr(openvino_evaluator, "GRAPH_BYTES", evaluator._graphs.n_bytes * 3 // 4)
    evaluate(evaluator, random_batch((7, 7)))
    assert core.kept == [(-1, 6, 6), (-1, 7, 7)]  # larger boards take more
    monkeypatch.setattr(openvino_evaluator, "GRAPH_BYTES", 1)
    evaluate(evaluator, random_batch((8, 8)))
    assert core.kept == [(-1, 7, 7), (-1, 8, 8)]  # two boards in turns are not compiled each time


def test_a_large_network_gets_graphs_by_batch_only_for_attention_and_only_where_they_pay(
    core: WatchfulCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openvino_evaluator, "LARGEST_BY_BATCH", 100)  # weights
    monkeypatch.setattr(openvino_evaluator, "PAYS_FROM_WITH_ATTENTION", 5)
    batch = random_batch((4, 4))
    for kind, expected in (("ordinary", []), ("attention", [(1, 4, 4)])):
        core.compiled.clear()
        evaluator = OpenVinoEvaluator(
            random_network(BLOCKS[kind], Activation.RELU), Precision.FLOAT32
        )
        first = evaluate(evaluator, batch)
        for _ in range(3):
            evaluate(evaluator, batch)
        assert core.compiled == [(-1, 4, 4)]
        for _ in range(6):
            assert_same(evaluate(evaluator, batch), first)
        assert core.compiled == [(-1, 4, 4), *expected]


def test_large_batches_come_in_few_sizes(
    core: WatchfulCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new size in the graph that all share costs time, and memory that is never given back."""
    computed = []

    def noted(array: NDArray[np.float32]) -> Any:
        computed.append(len(array))
        return shared_tensor(array)

    evaluator = opened(core)
    batch = random_batch(*[(3, 3)] * 128)
    whole = evaluate(evaluator, batch)
    monkeypatch.setattr(openvino_evaluator, "shared_tensor", noted)
    for n in range(1, 129):
        computed.clear()
        found = evaluate(evaluator, batch.rows(slice(n)))
        assert_same(found, Evaluation(*(field[:n] for field in whole)))
        assert n <= max(computed) <= max(n + 2, 1.125 * n)
    assert len({padded_size(n) for n in range(33, 129)}) == 16  # every fourth, then every eighth
    assert core.kept[0] == (-1, 3, 3)


def test_graphs_by_batch_take_no_room_from_others(
    core: WatchfulCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = opened(core)
    evaluate(evaluator, random_batch((4, 4)))
    monkeypatch.setattr(openvino_evaluator, "GRAPH_BYTES", evaluator._graphs.n_bytes * 3 // 2)
    for _ in range(6):
        evaluate(evaluator, random_batch((4, 4)))
    assert core.compiled == core.kept == [(-1, 4, 4)]


def test_graphs_can_be_dropped(core: WatchfulCore) -> None:
    evaluator = opened(core)
    batch = random_batch((4, 4))
    first = evaluate(evaluator, batch)
    drop_graphs(CachingEvaluator(evaluator, EvaluationCache(1)))
    assert core.kept == []
    assert_same(evaluate(evaluator, batch), first)
