"""What each head is blamed for, in the units in which `tengen.network.evaluator.decode` reads it.

A row counts for score, lead and ownership by its chance of having a result at all: these heads say
what happens if there is one. The variance time (score output 3) has no target in the rows and is
left alone; nothing of ours reads it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from tengen.network.data import Scaling
from tengen.network.torch.model import Outputs
from tengen.training.heads import TrainingOutputs
from tengen.training.params import TrainingParams
from tengen.training.rows_on_device import TrainingBatch

LOSSES = (
    "policy",
    "reply",
    "soft_policy",
    "soft_reply",
    "value",
    "score",
    "spread",
    "lead",
    "ownership",
    "short_value",
    "short_score",
    "value_error",
    "score_error",
)
SCALING = Scaling()  # of all networks that are trained here
SHORTEST = 0  # the horizon whose errors the error heads foretell
SOFTNESS = 0.25  # the power that flattens policies, as KataGo's
OFF_BOARD = -1e4  # logit of a point that does not exist
# From where on an error counts by its size instead of its square: KataGo's, in points.
SCORE_BEND, SPREAD_BEND, LEAD_BEND = 12.0, 10.0, 8.0
VALUE_ERROR_BEND, SCORE_ERROR_BEND = 0.4, 100.0  # of squared errors


class Losses(NamedTuple):
    """What a batch says of a network."""

    total: Tensor  # [] weighted sum
    heads: Tensor  # [len(LOSSES)] each loss alone, unweighted and detached
    accuracy: Tensor  # [] share of decided games whose winner was foretold


def loss_weights(params: TrainingParams) -> Tensor:
    """[len(LOSSES)] the weights in the order of LOSSES."""
    return torch.tensor([getattr(params, f"{name}_weight") for name in LOSSES])


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
    rest = [
        _cross_entropy(outputs.value, value).mean(),
        *_score_losses(outputs, batch),
        _ownership_loss(outputs, batch),
        _cross_entropy(training.short_term_value, batch.short_values).mean(),
        *_short_term_losses(outputs, training, batch),
    ]
    heads = torch.cat([_policy_losses(outputs, training, batch), torch.stack(rest)])
    return Losses((heads * weights).sum(), heads.detach(), _accuracy(outputs, batch))


def _policy_losses(outputs: Outputs, training: TrainingOutputs, batch: TrainingBatch) -> Tensor:
    """[4] of policy, reply and their soft forms, all in one go: small kernels cost their launch."""
    mask = batch.on_board.flatten(1).float()
    off_board = functional.pad((1 - mask) * OFF_BOARD, (0, 1))  # a pass is always there
    logits = torch.stack(
        [outputs.policy[:, 0], training.reply, training.soft_policy, training.soft_reply]
    )
    targets = torch.stack([batch.policy, batch.reply])
    # The soft ones are flatter, over the moves that were looked at.
    targets = torch.cat([targets, targets**SOFTNESS])  # [4, batch, moves]
    total = targets.sum(2, keepdim=True)
    targets = targets / torch.where(total > 0, total, 1)  # a row without a reply stays zero
    return _cross_entropy(logits + off_board, targets).mean(1)


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """[...] from [..., choices]; a target of zeros costs nothing."""
    return -(target * functional.log_softmax(logits, -1)).sum(-1)


def _score_losses(outputs: Outputs, batch: TrainingBatch) -> tuple[Tensor, ...]:
    """Of score, spread and lead, in units of their scaling."""
    counted = 1 - batch.value[:, 2]
    mean, spread, lead = outputs.score[:, 0], outputs.score[:, 1], outputs.score[:, 2]
    score = _huber(mean, batch.score / SCALING.score_mean, SCORE_BEND / SCALING.score_mean)
    # The mean of |x| is the standard deviation times √(2 / π), for what is spread normally.
    miss = (mean.detach() * SCALING.score_mean - batch.score).abs() * math.sqrt(math.pi / 2)
    stdev = SCALING.score_stdev
    off = _huber(functional.softplus(spread), miss / stdev, SPREAD_BEND / stdev)
    ahead = _huber(lead, batch.lead / SCALING.lead, LEAD_BEND / SCALING.lead)
    return tuple((loss * counted).mean() for loss in (score, off, ahead))


def _huber(x: Tensor, target: Tensor, bend: float) -> Tensor:
    return functional.huber_loss(x, target, reduction="none", delta=bend)


def _ownership_loss(outputs: Outputs, batch: TrainingBatch) -> Tensor:
    """Mean over the points of each board; (1 + tanh x) / 2 is the logistic function of 2 x."""
    target = (batch.ownership + 1) / 2
    points = functional.binary_cross_entropy_with_logits(
        2 * outputs.ownership, target, reduction="none"
    )
    mask = batch.on_board.float()
    boards = (points * mask).sum((1, 2)) / mask.sum((1, 2))
    return (boards * (1 - batch.value[:, 2])).mean()


def _short_term_losses(
    outputs: Outputs, training: TrainingOutputs, batch: TrainingBatch
) -> tuple[Tensor, ...]:
    """Of the short-term scores, and of the errors of the shortest horizon's value and score."""
    scores = batch.short_scores / SCALING.score_mean
    score = _huber(training.short_term_score, scores, SCORE_BEND / SCALING.score_mean).mean()
    chances = training.short_term_value[:, SHORTEST].detach().softmax(1)
    real = batch.short_values[:, SHORTEST]
    value_miss = (chances[:, 0] - chances[:, 1]) - (real[:, 0] - real[:, 1])
    points = training.short_term_score[:, SHORTEST].detach() * SCALING.score_mean
    score_miss = points - batch.short_scores[:, SHORTEST]
    value_error = _squared_error(outputs.score[:, 4], SCALING.value_error)
    score_error = _squared_error(outputs.score[:, 5], SCALING.score_error)
    return (
        score,
        _huber(value_error, value_miss.square(), VALUE_ERROR_BEND).mean(),
        _huber(score_error, score_miss.square(), SCORE_ERROR_BEND).mean(),
    )


def _squared_error(x: Tensor, factor: float) -> Tensor:
    """What an error output says, squared; see `halved_errors` of Scaling."""
    return functional.softplus(x / 2).square() * factor


def _accuracy(outputs: Outputs, batch: TrainingBatch) -> Tensor:
    with torch.no_grad():
        decided = batch.value[:, 0] != batch.value[:, 1]
        foretold = (outputs.value[:, 0] > outputs.value[:, 1]) == (
            batch.value[:, 0] > batch.value[:, 1]
        )
        return (foretold & decided).sum() / decided.sum().clamp_min(1)
