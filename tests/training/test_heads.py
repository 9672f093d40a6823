"""What a network says besides its outputs while it learns."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tengen.network.architecture_names import named_architecture
from tengen.network.torch.model import Outputs
from tengen.replay.rows import HORIZONS
from tengen.training.heads_and_losses import TrainingNetwork
from tests.network.boards import SMALL, random_boards


@pytest.mark.parametrize("name", SMALL)
def test_every_part_of_a_network_learns(name: str) -> None:
    network = TrainingNetwork(named_architecture(name)).train()
    outputs, training = network(*random_boards(4, 7, 7))
    total = sum(tensor.square().mean() for tensor in (*outputs, *training))
    assert isinstance(total, Tensor)
    total.backward()  # type: ignore[no-untyped-call]
    still = [key for key, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert still == []


def test_training_heads_leave_the_outputs_as_they_are() -> None:
    training = TrainingNetwork(named_architecture("b2c32")).eval()
    planes, globals_ = random_boards(3, 9, 9)
    with torch.no_grad():
        outputs, more = training(planes, globals_)
        plain = training.network(planes, globals_)
    for field, ours, theirs in zip(Outputs._fields, outputs, plain, strict=True):
        assert torch.equal(ours, theirs), field
    assert more.reply.shape == more.soft_policy.shape == more.soft_reply.shape == (3, 82)
    assert more.short_term_value.shape == (3, HORIZONS, 3)
    assert more.short_term_score.shape == (3, HORIZONS)
