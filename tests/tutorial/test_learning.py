"""The tutorial's training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tengen.tutorial.learning import learn, new_optimizer
from tengen.tutorial.network import TwoHeadNetwork, initial_network
from tengen.tutorial.recipe import LearningParams
from tengen.tutorial.self_play import Examples

SIDE = 5


def some_rows(count: int) -> Examples:
    draw = np.random.default_rng(1)
    return Examples(
        draw.integers(0, 2, (count, 7, SIDE, SIDE)).astype(np.float32),
        draw.dirichlet(np.full(SIDE * SIDE + 1, 0.1), count).astype(np.float32),
        (2.0 * draw.integers(0, 2, count) - 1).astype(np.float32),
    )


def new_network() -> TwoHeadNetwork:
    return initial_network(SIDE, blocks=1, channels=16, seed=1)


def test_the_tutorial_learns_its_rows() -> None:
    torch.set_num_threads(1)
    network, params, rows = new_network(), LearningParams(), some_rows(129)  # one is left over
    optimizer, generator = new_optimizer(network, params), torch.Generator().manual_seed(1)
    first = learn(network, optimizer, rows, LearningParams(epochs=1), generator)
    for _ in range(8):
        last = learn(network, optimizer, rows, params, generator)
    assert first.value > 0.9  # as good as saying 0 every time
    assert last.value < 0.1
    entropy = -(rows.policy * np.log(np.maximum(rows.policy, 1e-30))).sum(1).mean()
    assert entropy < last.policy < entropy + 0.5 < first.policy
    assert not network.training


def test_a_seed_says_what_is_learned() -> None:
    torch.set_num_threads(1)
    rows, ends = some_rows(40), []
    for _ in range(2):
        network = new_network()
        learn(
            network,
            new_optimizer(network, LearningParams()),
            rows,
            LearningParams(epochs=2),
            torch.Generator().manual_seed(3),
        )
        ends.append(network.state_dict())
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_parameters_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="epochs"):
        LearningParams(epochs=0)
