"""The torch networks: masks, sizes, training heads."""

from __future__ import annotations

import pytest
import torch

from tengen.network.architecture_names import named_architecture
from tengen.network.backends.torch_evaluator import in_half
from tengen.network.torch.blocks import Norm
from tengen.network.torch.model import Network, Outputs
from tests.network.boards import SMALL, random_boards


def random_network(name: str) -> Network:
    """A network whose norms have statistics, as after training."""
    torch.manual_seed(3)
    network = Network(named_architecture(name)).eval()
    for module in network.modules():
        if isinstance(module, Norm):
            module.mean.normal_()
            module.variance.uniform_(0.5, 2)
            module.bias.data.normal_()
    return network


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("size", [(9, 9), (5, 7)])
def test_a_padded_board_is_seen_as_it_is_alone(name: str, size: tuple[int, int]) -> None:
    network = random_network(name)
    height, width = size
    planes, globals_ = random_boards(2, height, width)
    padded = torch.zeros(2, 22, 11, 12)
    padded[:, :, :height, :width] = planes
    with torch.no_grad():
        alone, in_corner = network(planes, globals_), network(padded, globals_)
    assert torch.allclose(alone.value, in_corner.value, atol=1e-4)
    assert torch.allclose(alone.score, in_corner.score, atol=1e-4)
    owned = in_corner.ownership[:, :height, :width]
    assert torch.allclose(alone.ownership, owned, atol=1e-4)
    points = in_corner.policy[:, :, :-1].view(2, -1, 11, 12)[:, :, :height, :width]
    assert torch.allclose(alone.policy[:, :, :-1], points.flatten(2), atol=1e-4)
    assert torch.allclose(alone.policy[:, :, -1], in_corner.policy[:, :, -1], atol=1e-4)


@pytest.mark.parametrize("name", SMALL)
def test_full_boards_are_seen_the_same_without_their_mask(name: str) -> None:
    network = random_network(name)
    planes, globals_ = random_boards(2, 5, 7)
    with torch.no_grad():
        masked, full = network(planes, globals_), network.on_full_boards(planes, globals_)
    for one, other in zip(masked, full, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", SMALL)
def test_half_precision_stays_close(name: str) -> None:
    network, half = random_network(name), random_network(name)
    in_half(half)
    planes, globals_ = random_boards(4, 9, 9)
    with torch.no_grad():
        exact = network(planes, globals_)
        rough = half(planes.bfloat16(), globals_.bfloat16())
    for field, ours, theirs in zip(Outputs._fields, exact, rough, strict=True):
        assert theirs.dtype == torch.float32, field
        error = (ours - theirs).abs().mean() / ours.abs().mean()
        assert error < 0.05, field
