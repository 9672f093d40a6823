"""Losses: each teaches its own head what decode makes of it, and no other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size
from tengen.network.architecture_names import named_architecture
from tengen.network.decoding import RawOutputs, decode
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.network_data import Scaling
from tengen.network.torch.model import Outputs
from tengen.replay.kernels.encode import SURE
from tengen.replay.rows import HORIZONS, new_rows
from tengen.training.heads_and_losses import (
    LOSSES,
    TrainingNetwork,
    TrainingOutputs,
    loss_weights,
    losses_of,
)
from tengen.training.params import TrainingParams
from tengen.training.replay_buffer import TrainingBatch

SIDE, ROWS = 4, 6
MOVES = SIDE * SIDE + 1


def new_batch(seed: int = 1) -> TrainingBatch:
    """Boards of 4x4; the last row has no reply."""
    draw = torch.Generator().manual_seed(seed)

    def chances(*shape: int) -> Tensor:
        return (2 * torch.randn(shape, generator=draw)).softmax(-1)

    planes = torch.zeros(ROWS, 22, SIDE, SIDE)
    planes[:, 0] = 1
    policy, reply = (chances(ROWS, MOVES) for _ in range(2))
    policy[:, 3] = 0
    reply[-1] = 0
    owners = torch.randint(-1, 2, (ROWS, SIDE, SIDE), generator=draw).float()
    zeros = TrainingBatch(*map(torch.from_numpy, new_rows(ROWS, KATAGO, Size(SIDE, SIDE))))
    return zeros._replace(
        planes=planes,
        policy=policy / policy.sum(1, keepdim=True),
        reply=reply / reply.sum(1, keepdim=True).clamp_min(1e-9),
        value=chances(ROWS, 3),
        score=10 * torch.randn(ROWS, generator=draw),
        short_values=chances(ROWS, HORIZONS, 3),
        short_scores=10 * torch.randn(ROWS, HORIZONS, generator=draw),
        search_value=chances(ROWS, 3),
        lead=10 * torch.randn(ROWS, generator=draw),
        ownership=SURE * owners,
        known=torch.ones(ROWS, 4),
    )


class Heads(NamedTuple):
    """Outputs as parameters of their own, one set for each row: a network that learns by heart."""

    outputs: Outputs
    training: TrainingOutputs


def new_heads() -> Heads:
    draw = torch.Generator().manual_seed(2)

    def start(output: Tensor) -> Tensor:
        return torch.randn(output.shape, generator=draw).requires_grad_()

    batch = new_batch()
    with torch.no_grad():
        network = TrainingNetwork(named_architecture("b1c8"))
        outputs, training = network(batch.planes, batch.globals)
    return Heads(Outputs(*map(start, outputs)), TrainingOutputs(*map(start, training)))


def learned(heads: Heads, batch: TrainingBatch, weights: Tensor, steps: int = 800) -> Tensor:
    """Fit the heads to a batch; returns the losses at the end."""
    optimizer = torch.optim.Adam([*heads.outputs, *heads.training], 0.05)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        losses_of(*heads, batch, weights, 0.25).total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        rates.step()
    return losses_of(*heads, batch, weights, 0.25).heads


def entropy(chances: Tensor) -> Tensor:
    return -(chances * chances.clamp_min(1e-30).log()).sum(-1)


def decoded(heads: Heads, batch: TrainingBatch) -> Evaluation:
    raw = RawOutputs(*(output.detach().numpy() for output in heads.outputs))
    return decode(raw, Batch(batch.planes.numpy(), batch.globals.numpy()), Scaling())


@pytest.fixture(scope="module")
def fitted() -> tuple[Heads, TrainingBatch, dict[str, float]]:
    torch.set_num_threads(1)
    heads, batch = new_heads(), new_batch()
    weights = torch.ones(len(LOSSES))
    weights[LOSSES.index("score_error")] = 1e-3
    losses = learned(heads, batch, weights)
    return heads, batch, dict(zip(LOSSES, losses.tolist(), strict=True))


Fitted = tuple[Heads, TrainingBatch, dict[str, float]]


def test_policies_learn_their_targets(fitted: Fitted) -> None:
    heads, batch, losses = fitted
    policy = heads.outputs.policy[:, 0].detach().softmax(1)
    torch.testing.assert_close(policy, batch.policy, atol=0.01, rtol=0)
    assert losses["policy"] == pytest.approx(float(entropy(batch.policy).mean()), abs=0.01)
    # The row without a reply counts as nothing.
    replies = float(entropy(batch.reply[:-1]).sum() / ROWS)
    assert losses["reply"] == pytest.approx(replies, abs=0.01)
    soft = batch.policy**0.25
    soft /= soft.sum(1, keepdim=True)
    assert losses["soft_policy"] == pytest.approx(float(entropy(soft).mean()), abs=0.01)


def test_values_learn_results_and_a_share_of_the_search(fitted: Fitted) -> None:
    heads, batch, losses = fitted
    expected = 0.75 * batch.value + 0.25 * batch.search_value
    value = decoded(heads, batch).value
    np.testing.assert_allclose(value, expected.numpy(), atol=0.01)
    assert losses["value"] == pytest.approx(float(entropy(expected).mean()), abs=0.01)
    short = heads.training.short_term_value.detach().softmax(2)
    torch.testing.assert_close(short, batch.short_values, atol=0.01, rtol=0)


def test_points_are_learned_as_they_are_decoded(fitted: Fitted) -> None:
    heads, batch, _ = fitted
    evaluation = decoded(heads, batch)
    counted = 1 - evaluation.value[:, 2]  # a game without a result has no points
    np.testing.assert_allclose(evaluation.score / counted, batch.score.numpy(), atol=0.1)
    np.testing.assert_allclose(evaluation.lead / counted, batch.lead.numpy(), atol=0.1)
    scores = heads.training.short_term_score.detach() * 20
    torch.testing.assert_close(scores, batch.short_scores, atol=0.1, rtol=0)


def test_ownership_is_learned(fitted: Fitted) -> None:
    heads, batch, _ = fitted
    owned = decoded(heads, batch).ownership
    np.testing.assert_allclose(owned, batch.ownership.numpy() / SURE, atol=0.05)


def test_variance_time_is_left_alone(fitted: Fitted) -> None:
    score = fitted[0].outputs.score.detach()
    assert torch.equal(score[:, 3], new_heads().outputs.score.detach()[:, 3])


@pytest.mark.parametrize("stdev", [2.0, 12.0])
def test_the_spread_is_the_deviation_of_the_scores(stdev: float) -> None:
    """Many games from one position, of which a network can only tell the mean."""
    rows = 1000
    batch = new_batch()
    batch = TrainingBatch(*(field[:1].expand(rows, *field.shape[1:]) for field in batch))
    draw = torch.Generator().manual_seed(4)
    batch = batch._replace(
        score=3 + stdev * torch.randn(rows, generator=draw),
        short_values=torch.tensor([0.7, 0.3, 0.0]).expand(rows, HORIZONS, 3),
        short_scores=batch.short_scores + 5 * torch.randn(rows, HORIZONS, generator=draw),
    )
    one = torch.zeros(1, 6, requires_grad=True)
    heads = new_heads()
    rest = Outputs(*(o[:1].expand(rows, *o.shape[1:]) for o in heads.outputs))
    training = TrainingOutputs(*(o[:1].expand(rows, *o.shape[1:]) for o in heads.training))
    training = training._replace(
        short_term_value=torch.tensor([0.5, 0.5, 1e-9]).log().expand(rows, HORIZONS, 3),
        short_term_score=batch.short_scores.mean(0).expand(rows, HORIZONS) / 20,
    )
    optimizer = torch.optim.Adam([one], 0.05)
    weights = torch.ones(len(LOSSES))
    weights[LOSSES.index("score_error")] = 1e-3
    for _ in range(400):
        optimizer.zero_grad()
        outputs = rest._replace(score=one.expand(rows, 6))
        losses_of(outputs, training, batch, weights, 0.25).total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    raw = RawOutputs(*(output[:1].detach().numpy() for output in outputs))
    raw.value[:] = 10, 0, -100  # which has a result
    evaluation = decode(
        raw, Batch(batch.planes[:1].numpy(), np.zeros((1, 19), np.float32)), Scaling()
    )
    assert evaluation.score[0] == pytest.approx(3, abs=1)
    assert evaluation.spread[0] == pytest.approx(stdev, rel=0.15)
    # 0.7 - 0.3 was foretold as 0; scores were 5 off.
    assert evaluation.value_error[0] == pytest.approx(0.4, rel=0.05)
    assert evaluation.score_error[0] == pytest.approx(5, rel=0.15)


# What each loss may move: outputs, and of the score the columns.
# The heads that a loss moves, where that is not the head of its own name.
OWN = {
    "score": {"score 0"},
    "spread": {"score 1"},
    "lead": {"score 2"},
    "short_value": {"short_term_value"},
    "short_score": {"short_term_score"},
    "value_error": {"score 4"},
    "score_error": {"score 5"},
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_moves_its_own_head_alone_and_falls(name: str) -> None:
    heads, batch = new_heads(), new_batch()
    weights = torch.zeros(len(LOSSES))
    weights[LOSSES.index(name)] = 1
    before = losses_of(*heads, batch, weights, 0.25)
    before.total.backward()  # type: ignore[no-untyped-call]
    moved = set()
    for part in heads:
        for field, tensor in part._asdict().items():
            assert tensor.grad is not None
            if field == "score":
                columns = tensor.grad.abs().sum(0)
                moved |= {f"score {i}" for i in range(6) if columns[i] > 0}
            elif tensor.grad.any():
                moved.add(field)
    assert moved == OWN.get(name, {name})
    after = learned(heads, batch, weights, steps=30)
    assert after[LOSSES.index(name)] < before.heads[LOSSES.index(name)]


# What each column of `known` is about.
OF_KNOWN = (
    {"value", "short_value", "value_error"},
    {"score", "spread", "short_score", "score_error"},
    {"lead"},
    {"ownership"},
)


@pytest.mark.parametrize("column", range(4))
def test_what_a_record_does_not_tell_costs_nothing(column: int) -> None:
    heads, batch = new_heads(), new_batch()
    full = losses_of(*heads, batch, torch.ones(len(LOSSES)), 0.25).heads
    half = batch.known.clone()
    half[: ROWS // 2, column] = 0
    spoiled = batch._replace(
        known=half,  # what is not known may be anything
        score=torch.where(half[:, 1] > 0, batch.score, 500.0),
        lead=torch.where(half[:, 2] > 0, batch.lead, 500.0),
        value=torch.where(half[:, :1] > 0, batch.value, torch.tensor([0.0, 1.0, 0.0])),
    )
    found = losses_of(*heads, spoiled, torch.ones(len(LOSSES)), 0.25).heads
    changed = {name for k, name in enumerate(LOSSES) if found[k] != full[k]}
    assert changed == OF_KNOWN[column]
    known = TrainingBatch(*(field[ROWS // 2 :] for field in batch))
    rest = Heads(
        Outputs(*(o[ROWS // 2 :] for o in heads.outputs)),
        TrainingOutputs(*(o[ROWS // 2 :] for o in heads.training)),
    )
    alone = losses_of(*rest, known, torch.ones(len(LOSSES)), 0.25).heads
    for name in OF_KNOWN[column]:
        k = LOSSES.index(name)
        assert found[k].item() == pytest.approx(alone[k].item() / 2, rel=1e-5)


def test_a_teacher_tells_how_uncertain_it_is() -> None:
    heads, batch = new_heads(), new_batch()
    taught = batch._replace(uncertainty=torch.tensor([7.0, 0.3**2, 4.0**2]).expand(ROWS, 3))
    weights = torch.zeros(len(LOSSES))
    for name, weight in (("spread", 1.0), ("value_error", 1.0), ("score_error", 1e-3)):
        weights[LOSSES.index(name)] = weight
    learned(heads, taught, weights)
    evaluation = decoded(heads, taught)
    np.testing.assert_allclose(evaluation.value_error, 0.3, rtol=0.05)
    np.testing.assert_allclose(evaluation.score_error, 4, rtol=0.05)
    raw = heads.outputs.score.detach()[:, 1]
    np.testing.assert_allclose(20 * torch.nn.functional.softplus(raw), 7, rtol=0.05)


def test_the_total_weighs_the_losses() -> None:
    weights = loss_weights(TrainingParams(value_weight=3.0))
    losses = losses_of(*new_heads(), new_batch(), weights, 0.25)
    by_name = dict(zip(LOSSES, weights.tolist(), strict=True))
    assert by_name["value"] == 3
    assert by_name["reply"] == pytest.approx(TrainingParams().reply_weight)
    assert losses.total.item() == pytest.approx(float((weights * losses.heads).sum()), rel=1e-5)


def test_accuracy_counts_decided_games_only() -> None:
    batch, heads = new_batch(), new_heads()
    won = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0], [0, 1, 0]])
    said = torch.tensor([[2.0, 0, 0], [0, 2, 0], [0, 2, 0], [2, 0, 0], [0, 2, 0], [0, 2, 0]])
    losses = losses_of(
        heads.outputs._replace(value=said),
        heads.training,
        batch._replace(value=won),
        torch.ones(len(LOSSES)),
        0.25,
    )
    assert losses.accuracy.item() == pytest.approx(3 / 4)
