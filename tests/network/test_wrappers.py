"""Evaluators around evaluators, and the fake and torch ones they are tested with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tengen.features.feature_set import KATAGO, RICH
from tengen.game.position import Position
from tengen.network.architecture_names import named_architecture
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.network.cache import CachingEvaluator, EvaluationCache
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import Batch, Evaluation, encode, evaluate, join_batches
from tengen.network.fake import FakeEvaluator, uniform
from tengen.network.network_data import NetworkData
from tengen.network.torch.model import Network

MOVES = ["C3", "G7", "G3", "C7", "E5", "D4", "pass", "E3", "F4"]


def positions(size: int | tuple[int, int] = 9) -> list[Position]:
    return list(Position(size, "chinese", 7).play_all(MOVES[:4]).line())


@pytest.fixture(scope="module")
def network() -> TorchEvaluator:
    torch.manual_seed(5)
    architecture = named_architecture("b2c32")
    state = Network(architecture).state_dict()
    weights = {name: tensor.numpy() for name, tensor in state.items()}
    return TorchEvaluator(NetworkData("random", architecture, weights), "cpu")


def assert_equal(one: Evaluation, other: Evaluation, tolerance: float = 1e-5) -> None:
    for field, mine, theirs in zip(Evaluation._fields, one, other, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=tolerance, err_msg=field)


def test_the_cache_answers_what_it_was_asked_before(network: TorchEvaluator) -> None:
    asked: list[int] = []

    def script(batch: Batch) -> Evaluation:
        asked.append(len(batch.planes))
        return evaluate(network, batch)

    cache = EvaluationCache(megabytes=10)
    caching = CachingEvaluator(FakeEvaluator(script), cache)
    batch = encode(KATAGO, positions())
    first = evaluate(caching, batch)
    assert_equal(first, evaluate(network, batch))
    assert asked == [5]
    mixed = encode(KATAGO, [*positions()[::-1], Position(9, komi=5), positions()[0]])
    assert_equal(evaluate(caching, mixed), evaluate(network, mixed))
    assert asked == [5, 1]
    assert (cache.hits, cache.misses) == (6, 6)
    cache.clear()
    evaluate(caching, batch)
    assert asked == [5, 1, 5]


def test_the_cache_keeps_to_its_size_and_forgets_the_oldest() -> None:
    cache = EvaluationCache(megabytes=0.01)
    caching = CachingEvaluator(FakeEvaluator(), cache)
    line = list(Position(9).play_all("A1 B1 C1 D1 E1 F1 G1 H1 J1 A2 B2 C2").line())
    for position in line:
        evaluate(caching, encode(KATAGO, [position]))
        assert cache.used_bytes <= 10_000
    cache.misses = 0
    evaluate(caching, encode(KATAGO, [line[-1]]))
    assert cache.misses == 0
    evaluate(caching, encode(KATAGO, [line[0]]))
    assert cache.misses == 1


def test_a_plane_of_numbers_tells_positions_apart() -> None:
    cache = EvaluationCache(megabytes=1)
    caching = CachingEvaluator(FakeEvaluator(features=RICH), cache)
    for komi in (5.5, 6.5, 5.5):
        evaluate(caching, encode(RICH, [Position(5, komi=komi)]))
    assert (cache.misses, cache.hits) == (2, 1)


def test_networks_that_share_a_cache_are_told_apart() -> None:
    cache = EvaluationCache(megabytes=1)
    asked: list[str] = []

    def script(name: str) -> Callable[[Batch], Evaluation]:
        def answer(batch: Batch) -> Evaluation:
            asked.append(name)
            return evaluate(FakeEvaluator(), batch)

        return answer

    networks = [CachingEvaluator(FakeEvaluator(script(name)), cache) for name in ("a", "b")]
    batch = encode(KATAGO, [Position(5)])
    for each in (*networks, *networks):
        evaluate(each, batch)
    assert asked == ["a", "b"]
    cache.clear()
    evaluate(networks[1], batch)
    assert asked == ["a", "b", "b"]


def test_optimism_and_metadata_tell_positions_apart() -> None:
    cache = EvaluationCache(megabytes=1)
    caching = CachingEvaluator(FakeEvaluator(), cache)
    batch = encode(KATAGO, [Position(5)])
    no, some = (np.array([share], np.float32) for share in (0.0, 0.2))
    players = np.ones((1, 192), np.float32)
    for asked in (
        batch,
        batch._replace(optimism=no),
        batch._replace(optimism=some),
        batch._replace(metadata=players),
        batch._replace(metadata=2 * players),
        batch._replace(metadata=players),
    ):
        evaluate(caching, asked)
    assert (cache.misses, cache.hits) == (4, 2)


def test_batches_are_cut_and_joined_with_all_they_carry() -> None:
    batch = encode(KATAGO, positions()[:3])._replace(
        optimism=np.array([0.0, 0.5, 1.0], np.float32),
        metadata=np.arange(3 * 192, dtype=np.float32).reshape(3, 192),
    )
    again = join_batches([batch.rows(slice(1)), batch.rows([1, 2])])
    for mine, theirs in zip(again, batch, strict=True):
        assert mine is not None
        np.testing.assert_array_equal(mine, theirs)
    plain = batch._replace(optimism=None)
    assert join_batches([plain, plain]).optimism is None
    joined = join_batches([plain, batch]).optimism
    assert joined is not None
    assert joined.tolist() == [0, 0, 0, 0, 0.5, 1]


def test_two_batches_can_be_under_way(network: TorchEvaluator) -> None:
    one, other = encode(KATAGO, positions()[:2]), encode(KATAGO, positions()[2:])
    first, second = network.submit(one), network.submit(other)
    expected = evaluate(network, other)
    assert_equal(second.result(), expected)
    assert_equal(first.result(), evaluate(network, one))


def test_no_result_is_possible_only_under_simple_ko_or_territory_scoring() -> None:
    rules = ["chinese", "tromp-taylor", "koPOSITIONALscoreTERRITORY"]
    batch = encode(KATAGO, [Position(5, name) for name in rules])
    score = np.zeros((3, 6), np.float32)
    score[:, [0, 2]] = 0.3
    raw = RawOutputs(
        np.zeros((3, 1, 26), np.float32),
        np.zeros((3, 3), np.float32),
        score,
        np.zeros((3, 5, 5), np.float32),
    )
    data = NetworkData("none", named_architecture("b2c32"), {})
    decoded = decode(raw, batch, data.scaling)
    third = [1 / 3] * 3
    np.testing.assert_allclose(decoded.value, [third, [0.5, 0.5, 0], third], atol=1e-6)
    # 0.3 times 20 points, of which a third of the games has none.
    np.testing.assert_allclose(decoded.score, [4, 6, 4], atol=1e-5)
    np.testing.assert_allclose(decoded.lead, [4, 6, 4], atol=1e-5)


def test_a_uniform_evaluation_is_even() -> None:
    evaluation = uniform(encode(KATAGO, [Position(5)]))
    assert evaluation.value.tolist() == [[0.5, 0.5, 0.0]]
    assert evaluation.policy.shape == (1, 26)
    assert not evaluation.ownership.any()
