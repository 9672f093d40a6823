"""Norms while they learn: fast, and equal to what batch norm is by its definition."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tengen.network.architecture import Activation, named_architecture
from tengen.network.torch.blocks import Norm, NormOnBoards, boards_of
from tengen.training.initial import initial_network


def boards_of_sizes(sizes: list[int], side: int) -> Tensor:
    mask = torch.zeros(len(sizes), 1, side, side, dtype=torch.float64)
    for i, size in enumerate(sizes):
        mask[i, :, :size, :size] = 1
    return mask


def by_definition(x: Tensor, mask: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Each channel's points on the boards, less their mean, over their deviation."""
    points = x.permute(1, 0, 2, 3)[:, mask[:, 0] == 1]  # [channels, points]
    deviation = (points.var(1, unbiased=False) + 1e-5).sqrt()
    normed = (x - points.mean(1)[:, None, None]) / deviation[:, None, None]
    return (normed * scale[:, None, None] + bias[:, None, None]) * mask


@pytest.mark.parametrize("sizes", [[5, 5, 5], [2, 5, 4]])
def test_norms_and_their_gradients_are_those_of_the_definition(sizes: list[int]) -> None:
    torch.manual_seed(1)
    mask = boards_of_sizes(sizes, 5)
    x = (torch.randn(3, 4, 5, 5, dtype=torch.float64) * 2 + 1).requires_grad_()
    pull = torch.randn(3, 4, 5, 5, dtype=torch.float64)
    norm = Norm(4, Activation.IDENTITY).double().train()
    norm.scale.data.normal_()
    norm.bias.data.normal_()
    inputs = (x, norm.scale, norm.bias)
    y = by_definition(x, mask, norm.scale, norm.bias)
    expected = (y, *torch.autograd.grad((y * pull).sum(), inputs))
    for full in [False, True] if min(sizes) == 5 else [False]:
        norm.prepare_to_learn(full)
        y = norm(x, boards_of(mask))
        for mine, theirs in zip(
            (y, *torch.autograd.grad((y * pull).sum(), inputs)), expected, strict=True
        ):
            torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


def test_the_gradient_of_norms_on_boards_is_that_of_small_steps() -> None:
    torch.manual_seed(2)
    mask = boards_of_sizes([2, 3], 3)
    x = torch.randn(2, 2, 3, 3, dtype=torch.float64).requires_grad_()
    scale, bias = (torch.randn(2, dtype=torch.float64).requires_grad_() for _ in range(2))

    def normed(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        y: Tensor = NormOnBoards.apply(x, boards_of(mask), scale, bias)[0]  # type: ignore[no-untyped-call]
        return y * mask

    assert torch.autograd.gradcheck(normed, (x, scale, bias))


@pytest.mark.parametrize("full", [False, True])
def test_running_statistics_follow_the_batches(full: bool) -> None:
    torch.manual_seed(3)
    norm = Norm(2, Activation.RELU, momentum=0.5).train()
    norm.prepare_to_learn(full)
    x = torch.randn(64, 2, 4, 4) * 3 + 2
    norm(x, boards_of(torch.ones(64, 1, 4, 4)))
    torch.testing.assert_close(norm.mean, 0.5 * x.mean((0, 2, 3)))
    deviation = x.var((0, 2, 3), unbiased=False)
    torch.testing.assert_close(norm.variance, 0.5 + 0.5 * deviation, rtol=1e-3, atol=0)


def test_preparing_to_learn_leaves_the_answers_as_they_are() -> None:
    norm = Norm(2, Activation.RELU).eval()
    norm.epsilon.fill_(0.01)
    x, boards = torch.randn(3, 2, 4, 4), boards_of(torch.ones(3, 1, 4, 4))
    before = norm(x, boards)
    norm.prepare_to_learn(full_boards=False)
    torch.testing.assert_close(norm(x, boards), before)


@pytest.mark.parametrize("full", [False, True])
def test_training_in_half_precision_stays_close(full: bool) -> None:
    """As on a GPU: planes and activations in bf16, weights, statistics and outputs in float32."""
    torch.set_num_threads(1)
    mask = torch.ones(16, 1, 5, 5) if full else boards_of_sizes([3, 5] * 8, 5).float()
    planes = (torch.rand(16, 22, 5, 5) < 0.3) * mask
    planes[:, :1] = mask
    globals_ = torch.randn(16, 19)
    gradients = []
    for dtype in (torch.float32, torch.bfloat16):
        network = initial_network(named_architecture("b2c32"), 5)
        for module in network.modules():
            if isinstance(module, Norm):
                module.prepare_to_learn(full)
        half = dtype == torch.bfloat16
        with torch.autocast("cpu", torch.bfloat16, enabled=half, cache_enabled=False):
            outputs, training = network(planes.to(dtype), globals_)
        assert {output.dtype for output in (*outputs, *training)} == {torch.float32}
        (outputs.policy.square().mean() + outputs.ownership.square().mean()).backward()
        gradients.append(
            torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
        )
        assert network.network.tip.mean.dtype == torch.float32
    exact, rough = gradients
    assert torch.nn.functional.cosine_similarity(exact, rough, 0) > 0.98
    assert rough.norm() == pytest.approx(exact.norm().item(), rel=0.05)
