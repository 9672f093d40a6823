"""How far two evaluators of a network are apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.network.architecture import Activation
from tengen.network.backends.registry import open_reference
from tengen.network.comparison import EXACT, compare, random_positions
from tengen.network.network_data import NetworkData
from tests.network.test_openvino import BLOCKS, random_network

NETWORK = random_network(BLOCKS["ordinary"], Activation.RELU)


def changed(data: NetworkData, by: float) -> NetworkData:
    """The network with another first weight."""
    name = next(iter(data.weights))
    weights = data.weights[name].copy()
    weights.flat[0] += np.float32(by)
    return replace(data, weights={**data.weights, name: weights})


@pytest.mark.parametrize("library", ["torch", "openvino", "onnxruntime"])
def test_libraries_agree(library: str) -> None:
    first, second = open_reference(NETWORK, library), open_reference(NETWORK)
    found = compare(first, second, random_positions(6, seed=3), EXACT)
    assert all(each.within_bound for each in found)
    assert {each.output for each in found} == {"policy", "winrate", "score", "ownership"}


def test_another_weight_is_seen() -> None:
    first, second = open_reference(NETWORK, "openvino"), open_reference(changed(NETWORK, 0.5))
    assert not all(
        each.within_bound for each in compare(first, second, random_positions(6, 3), EXACT)
    )


def test_no_numbers_are_no_agreement() -> None:
    first = open_reference(NETWORK, "openvino")
    broken = open_reference(changed(NETWORK, float("inf")), "torch")
    with pytest.raises(ValueError, match=NETWORK.name):
        compare(first, broken, random_positions(2, 3), EXACT)


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(ValueError, match="there are openvino, torch, onnxruntime"):
        open_reference(NETWORK, "tensorflow")


def test_positions_are_the_same_for_a_seed() -> None:
    assert random_positions(7, 1) == random_positions(7, 1) != random_positions(7, 2)
    assert {each.size for each in random_positions(3, 1, board_size=7)} == {(7, 7)}
