"""The tutorial's training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tengen.network.tutorial import TutorialArchitecture, TutorialNetwork
from tengen.training.tutorial import TutorialParams, TutorialRows, learn, new_optimizer

SIDE = 5


def some_rows(count: int) -> TutorialRows:
    draw = np.random.default_rng(1)
    return TutorialRows(
        draw.integers(0, 2, (count, 7, SIDE, SIDE)).astype(np.float32),
        draw.dirichlet(np.full(SIDE * SIDE + 1, 0.1), count).astype(np.float32),
        (2.0 * draw.integers(0, 2, count) - 1).astype(np.float32),
    )


def new_network() -> TutorialNetwork:
    torch.manual_seed(1)
    return TutorialNetwork(TutorialArchitecture(SIDE, blocks=1, channels=16))


def test_the_tutorial_learns_its_rows() -> None:
    torch.set_num_threads(1)
    network, params, rows = new_network(), TutorialParams(), some_rows(129)  # one is left over
    optimizer, generator = new_optimizer(network, params), torch.Generator().manual_seed(1)
    first = learn(network, optimizer, rows, TutorialParams(epochs=1), generator)
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
            new_optimizer(network, TutorialParams()),
            rows,
            TutorialParams(epochs=2),
            torch.Generator().manual_seed(3),
        )
        ends.append(network.state_dict())
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_parameters_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="epochs"):
        TutorialParams(epochs=0)
