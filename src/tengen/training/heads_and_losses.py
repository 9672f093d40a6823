"""Training-only heads, and the loss of every head.

Losses are in the units in which `tengen.network.decoding.decode` reads the outputs. A row counts
for a head as far as its target is `known` (replay/rows.py): score, lead and ownership say what
happens if there is a result. The variance time (score output 3) has no target and is not trained.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.network.architecture import Architecture
from tengen.network.network_data import Scaling
from tengen.network.torch.blocks import apply, convolution
from tengen.network.torch.model import Network, Outputs, PolicyHead, with_pass
from tengen.replay.kernels.encode import (
    KNOWS_LEAD,
    KNOWS_OWNERSHIP,
    KNOWS_SCORE,
    KNOWS_VALUE,
    SURE,
)
from tengen.replay.rows import HORIZONS
from tengen.training.params import TrainingParams
from tengen.training.replay_buffer import TrainingBatch

_WEIGHTS = [each.name for each in fields(TrainingParams) if each.name.endswith("_weight")]
LOSSES = tuple(name.removesuffix("_weight") for name in _WEIGHTS)
SCALING = Scaling()  # of all networks that are trained here
SHORTEST = 0  # the horizon whose errors the error heads predict
SPREAD, VALUE_ERROR, SCORE_ERROR = range(3)  # columns of a row's `uncertainty`
SOFTNESS = 0.25  # the power that flattens policies, as KataGo's
# From where on an error counts by its size instead of its square: KataGo's, in points.
SCORE_BEND, SPREAD_BEND, LEAD_BEND = 12.0, 10.0, 8.0
VALUE_ERROR_BEND, SCORE_ERROR_BEND = 0.4, 100.0  # of squared errors


class TrainingOutputs(NamedTuple):
    """The outputs of the heads that only training uses, for the side to play."""

    reply: Tensor  # [batch, H * W + 1] logits of the opponent's next move
    soft_policy: Tensor  # [batch, H * W + 1] logits of the policy target made flatter
    soft_reply: Tensor  # [batch, H * W + 1] logits of the reply target made flatter
    short_term_value: Tensor  # [batch, HORIZONS, 3] logits of win, loss and no result
    short_term_score: Tensor  # [batch, HORIZONS] in the units of the score output


class TrainingNetwork(nn.Module):
    """A network with its training heads, for boards of one size; `network` alone plays."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.network = Network(a)
        self.policies = convolution(a.policy_mid, 3, 1)
        self.passes = nn.Linear(3 * a.policy_pool, 3, bias=False)
        self.values = nn.Linear(a.value_hidden, HORIZONS * 3)
        self.scores = nn.Linear(a.value_hidden, HORIZONS)

    def forward(self, planes: Tensor, globals: Tensor) -> tuple[Outputs, TrainingOutputs]:  # noqa: A002
        """All outputs; the trunk and the shared parts of the heads are computed once."""
        network = self.network
        x, boards = network.trunk(planes, globals, full_boards=True)
        policy, value = network.policy, network.value
        assert isinstance(policy, PolicyHead)
        seen, pooled = policy.look(x, boards)
        inner, hidden = value.look(x, boards)
        with torch.autocast(x.device.type, enabled=False):  # as they are computed for playing
            outputs = Outputs(policy.logits(seen, pooled), *value.answers(inner, hidden))
            policies = with_pass(apply(self.policies, seen), apply(self.passes, pooled))
            values = apply(self.values, hidden).view(-1, HORIZONS, 3)
            scores = apply(self.scores, hidden)
        reply, soft_policy, soft_reply = torch.unbind(policies, 1)
        return outputs, TrainingOutputs(reply, soft_policy, soft_reply, values, scores)


class Losses(NamedTuple):
    """The losses of a batch."""

    total: Tensor  # [] weighted sum
    heads: Tensor  # [len(LOSSES)] each loss alone, unweighted and detached
    accuracy: Tensor  # [] share of decided games whose winner was predicted


def loss_weights(params: TrainingParams) -> Tensor:
    """[len(LOSSES)] the settings of the losses' weights."""
    return torch.tensor([getattr(params, name) for name in _WEIGHTS])


def losses_of(
    outputs: Outputs,
    training: TrainingOutputs,
    batch: TrainingBatch,
    weights: Tensor,  # as `loss_weights` gives them
    search_share: float,
) -> Losses:
    """All losses of a batch, means over its rows."""
    outputs = Outputs(*(output.float() for output in outputs))
    training = TrainingOutputs(*(output.float() for output in training))
    value = torch.lerp(batch.value, batch.search_value, search_share)
    losses = {
        **_policy_losses(outputs, training, batch),
        "value": (_cross_entropy(outputs.value, value) * batch.known[:, KNOWS_VALUE]).mean(),
        **_score_losses(outputs, batch),
        "ownership": _ownership_loss(outputs, batch),
        **_short_term_losses(outputs, training, batch),
    }
    assert len(losses) == len(LOSSES)  # each has its weight
    heads = torch.stack([losses[name] for name in LOSSES])
    return Losses((heads * weights).sum(), heads.detach(), _accuracy(outputs, batch))


def _policy_losses(
    outputs: Outputs, training: TrainingOutputs, batch: TrainingBatch
) -> dict[str, Tensor]:
    """The four losses of policies in one go, since on a GPU each small kernel costs a launch."""
    logits = torch.stack(
        [outputs.policy[:, 0], training.reply, training.soft_policy, training.soft_reply]
    )
    targets = torch.stack([batch.policy, batch.reply])
    # The soft targets are flatter, over the moves that were searched.
    targets = torch.cat([targets, targets**SOFTNESS])  # [4, batch, moves]
    total = targets.sum(2, keepdim=True)
    targets = targets / torch.where(total > 0, total, 1)  # a row without a reply stays zero
    losses = _cross_entropy(logits, targets).mean(1)
    return dict(zip(("policy", "reply", "soft_policy", "soft_reply"), losses, strict=True))


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """[...] from [..., choices]; a target of zeros costs nothing."""
    return -(target * functional.log_softmax(logits, -1)).sum(-1)


def _score_losses(outputs: Outputs, batch: TrainingBatch) -> dict[str, Tensor]:
    """In units of the outputs' scaling."""
    mean, spread, lead = outputs.score[:, 0], outputs.score[:, 1], outputs.score[:, 2]
    score = _huber(mean, batch.score / SCALING.score_mean, SCORE_BEND / SCALING.score_mean)
    # The mean of |x| is √(2 / π) times the standard deviation, for a normal distribution.
    miss = (mean.detach() * SCALING.score_mean - batch.score).abs() * math.sqrt(math.pi / 2)
    miss = _uncertainty_target(batch, SPREAD, miss)
    stdev = SCALING.score_stdev
    off = _huber(functional.softplus(spread), miss / stdev, SPREAD_BEND / stdev)
    ahead = _huber(lead, batch.lead / SCALING.lead, LEAD_BEND / SCALING.lead)
    with_score, with_lead = batch.known[:, KNOWS_SCORE], batch.known[:, KNOWS_LEAD]
    return {
        "score": (score * with_score).mean(),
        "spread": (off * with_score).mean(),
        "lead": (ahead * with_lead).mean(),
    }


def _uncertainty_target(batch: TrainingBatch, which: int, measured: Tensor) -> Tensor:
    """[batch] an uncertainty: the teacher's where there is one, else the measured one."""
    taught = batch.uncertainty[:, which]  # 0 without a teacher
    return torch.where(taught > 0, taught, measured)


def _huber(x: Tensor, target: Tensor, bend: float) -> Tensor:
    return functional.huber_loss(x, target, reduction="none", delta=bend)


def _ownership_loss(outputs: Outputs, batch: TrainingBatch) -> Tensor:
    """Mean over the points of each board; (1 + tanh x) / 2 is the logistic function of 2 x."""
    target = (batch.ownership / SURE + 1) / 2
    points = functional.binary_cross_entropy_with_logits(
        2 * outputs.ownership, target, reduction="none"
    )
    return (points.mean((1, 2)) * batch.known[:, KNOWS_OWNERSHIP]).mean()


def _short_term_losses(
    outputs: Outputs, training: TrainingOutputs, batch: TrainingBatch
) -> dict[str, Tensor]:
    """The short-term values and scores, and the predicted errors at the shortest horizon."""
    with_value, with_score = batch.known[:, KNOWS_VALUE], batch.known[:, KNOWS_SCORE]
    value = _cross_entropy(training.short_term_value, batch.short_values).mean(1)
    scores = batch.short_scores / SCALING.score_mean
    score = _huber(training.short_term_score, scores, SCORE_BEND / SCALING.score_mean).mean(1)
    chances = training.short_term_value[:, SHORTEST].detach().softmax(1)
    real = batch.short_values[:, SHORTEST]
    value_miss = (chances[:, 0] - chances[:, 1]) - (real[:, 0] - real[:, 1])
    points = training.short_term_score[:, SHORTEST].detach() * SCALING.score_mean
    score_miss = points - batch.short_scores[:, SHORTEST]
    value_error = _huber(
        _squared_error(outputs.score[:, 4], SCALING.value_error),
        _uncertainty_target(batch, VALUE_ERROR, value_miss.square()),
        VALUE_ERROR_BEND,
    )
    score_error = _huber(
        _squared_error(outputs.score[:, 5], SCALING.score_error),
        _uncertainty_target(batch, SCORE_ERROR, score_miss.square()),
        SCORE_ERROR_BEND,
    )
    return {
        "short_value": (value * with_value).mean(),
        "short_score": (score * with_score).mean(),
        "value_error": (value_error * with_value).mean(),
        "score_error": (score_error * with_score).mean(),
    }


def _squared_error(x: Tensor, factor: float) -> Tensor:
    """The square of an error output; see `halved_errors` of Scaling."""
    return functional.softplus(x / 2).square() * factor


EXAMINED = ("policy", "value", "same move")


def examined(outputs: Outputs, batch: TrainingBatch) -> Tensor:
    """[len(EXAMINED)] sums over a batch: losses of policy and value, and moves that are the same.

    The value is measured against results alone, not search values.
    """
    policy = outputs.policy[:, 0]
    same = (policy.argmax(1) == batch.policy.argmax(1)) & (batch.policy.sum(1) > 0)
    value = _cross_entropy(outputs.value, batch.value) * batch.known[:, KNOWS_VALUE]
    return torch.stack([_cross_entropy(policy, batch.policy).sum(), value.sum(), same.sum()])


def _accuracy(outputs: Outputs, batch: TrainingBatch) -> Tensor:
    with torch.no_grad():
        decided = batch.value[:, 0] != batch.value[:, 1]
        predicted = (outputs.value[:, 0] > outputs.value[:, 1]) == (
            batch.value[:, 0] > batch.value[:, 1]
        )
        return (predicted & decided).sum() / decided.sum().clamp_min(1)
