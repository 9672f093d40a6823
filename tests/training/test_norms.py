"""Norms while they learn: batch norm by its definition, and its correction for many board sizes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tengen.network.architecture import Activation
from tengen.network.architecture_names import named_architecture
from tengen.network.torch.blocks import Norm, boards_of, follow_batches, renormalise
from tengen.training.initial_network import initial_network

EPSILON = 1e-5
CHANNELS = 4


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def new_norm(renorm: float | None, momentum: float = 0.01) -> Norm:
    """A norm with weights and statistics, in double precision."""
    norm = Norm(CHANNELS, Activation.IDENTITY, momentum).double().train()
    norm.scale.data.normal_()
    norm.bias.data.normal_()
    norm.mean.normal_()
    norm.variance.uniform_(0.5, 3)
    norm.prepare_to_learn()
    if renorm is not None:
        renormalise([norm], torch.tensor(renorm, dtype=torch.float64))
    return norm


def points_of(x: Tensor) -> Tensor:
    """[channels, points]"""
    return x.transpose(0, 1).flatten(1)


def by_definition(
    x: Tensor, norm: Norm, most_stretch: float = 1.0, most_shift: float = 0.0
) -> Tensor:
    """Batch renormalization as the paper writes it; with these limits, batch norm."""
    points = points_of(x)
    mean = points.mean(1)
    deviation = (points.var(1, unbiased=False) + EPSILON).sqrt()
    running = (norm.variance + EPSILON).sqrt()
    r = (deviation / running).detach().clamp(1 / most_stretch, most_stretch)
    d = ((mean - norm.mean) / running).detach().clamp(-most_shift, most_shift)
    each = (slice(None), None, None)
    normed = (x - mean[each]) / deviation[each] * r[each] + d[each]
    return normed * norm.scale[each] + norm.bias[each]


def boards(x: Tensor) -> Tensor:
    return torch.ones_like(x[:, :1])


@pytest.mark.parametrize(
    ("renorm", "limits"),
    [(None, (1.0, 0.0)), (0.0, (1.0, 0.0)), (0.1, (1.2, 0.5)), (1.0, (3.0, 5.0))],
)
@pytest.mark.parametrize("far", [1.0, 8.0])
def test_norms_and_their_gradients_are_those_of_the_definition(
    renorm: float | None, limits: tuple[float, float], far: float
) -> None:
    """Far from the running statistics limits hold, near them they do not."""
    torch.manual_seed(1)
    norm = new_norm(renorm)
    x = (torch.randn(3, CHANNELS, 5, 6, dtype=torch.float64) * 2 * far + far).requires_grad_()
    pull = torch.randn_like(x)
    inputs = (x, norm.scale, norm.bias)
    y = by_definition(x, norm, *limits)
    expected = (y, *torch.autograd.grad((y * pull).sum(), inputs))
    y = norm(x, boards_of(boards(x)))
    found = (y, *torch.autograd.grad((y * pull).sum(), inputs))
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # its compiler's own
def test_compiled_norms_have_the_same_gradients() -> None:
    """Torch may compute parts of the forward pass again, when statistics must be as they were."""
    torch.manual_seed(6)
    norm = new_norm(1.0, momentum=0.5)
    pull = torch.randn(3, CHANNELS, 5, 5, dtype=torch.float64)

    def loss(x: Tensor) -> Tensor:
        return (torch.tanh(norm(x, boards_of(boards(x)))) * pull).sum()

    # Compiled as for a GPU up to the code that is generated, which would take half a minute.
    compiled = torch.compile(loss, backend="aot_eager_decomp_partition", dynamic=False)
    for _ in range(2):
        x = (torch.randn_like(pull) * 2 + 1).requires_grad_()
        inputs = (x, norm.scale, norm.bias)
        expected = torch.autograd.grad(loss(x), inputs)
        found = torch.autograd.grad(compiled(x), inputs)
        follow_batches([norm])
        for mine, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


def test_within_its_limits_a_renormalised_batch_is_seen_as_in_play() -> None:
    torch.manual_seed(2)
    norm, x = new_norm(1.0), torch.randn(8, CHANNELS, 5, 5, dtype=torch.float64) + 0.5
    in_play = norm.eval()(x, boards_of(boards(x)))
    learning = norm.train()(x, boards_of(boards(x)))
    torch.testing.assert_close(learning, in_play, rtol=1e-9, atol=1e-9)
    norm.renorm = None
    assert not torch.allclose(norm(x, boards_of(boards(x))), in_play, atol=0.1)


@pytest.mark.parametrize("renorm", [None, 0.0, 1.0])
def test_running_statistics_follow_the_batches(renorm: float | None) -> None:
    torch.manual_seed(3)
    norm = new_norm(renorm, momentum=0.5)
    mean, variance = norm.mean.clone(), norm.variance.clone()
    x = torch.randn(64, CHANNELS, 4, 4, dtype=torch.float64) * 3 + 2
    norm(x, boards_of(boards(x)))
    follow_batches([norm])
    torch.testing.assert_close(norm.mean, (mean + points_of(x).mean(1)) / 2)
    expected = (variance + points_of(x).var(1, unbiased=False)) / 2
    torch.testing.assert_close(norm.variance, expected, rtol=1e-3, atol=0)


def test_statistics_of_alternating_sizes_are_their_mean() -> None:
    torch.manual_seed(4)
    norm = new_norm(1.0, momentum=0.02)
    small, large = (
        torch.randn(16, CHANNELS, side, side, dtype=torch.float64) + mean
        for side, mean in ((3, -1.0), (6, 2.0))
    )
    for step in range(600):
        x = large if step % 3 else small  # twice as often
        norm(x, boards_of(boards(x)))
        follow_batches([norm])
    expected = (points_of(small).mean(1) + 2 * points_of(large).mean(1)) / 3
    torch.testing.assert_close(norm.mean, expected, rtol=0, atol=0.04)


def test_preparing_to_learn_leaves_the_answers_as_they_are() -> None:
    norm = Norm(2, Activation.RELU).eval()
    norm.epsilon.fill_(0.01)
    x = torch.randn(3, 2, 4, 4)
    before = norm(x, boards_of(boards(x)))
    norm.prepare_to_learn()
    torch.testing.assert_close(norm(x, boards_of(boards(x))), before)


@pytest.mark.parametrize("renorm", [None, 0.5])
def test_training_in_half_precision_stays_close(renorm: float | None) -> None:
    """As on a GPU: planes and activations in bf16, weights, statistics and outputs in float32."""
    torch.manual_seed(5)
    planes = (torch.rand(16, 22, 5, 5) < 0.3).float()
    planes[:, 0] = 1
    globals_ = torch.randn(16, 19)
    gradients = []
    for dtype in (torch.float32, torch.bfloat16):
        network = initial_network(named_architecture("b2c32"), 5)
        norms = [module for module in network.modules() if isinstance(module, Norm)]
        for norm in norms:
            norm.prepare_to_learn()
        if renorm is not None:
            renormalise(norms, torch.tensor(renorm))
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
