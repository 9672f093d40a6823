"""Evaluations from the raw outputs of a network, in numpy; `torch/decoding.py` is for torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels.katago import SUPERKO, TERRITORY
from tengen.network.data import Scaling
from tengen.network.evaluator import Batch, Evaluation


class RawOutputs(NamedTuple):
    """The outputs of a network's heads."""

    policy: NDArray[np.float32]  # [batch, outputs, height * width + 1] logits, pass last
    value: NDArray[np.float32]  # [batch, 3] logits of win, loss and no result
    score: NDArray[np.float32]  # [batch, score outputs]
    ownership: NDArray[np.float32]  # [batch, height, width] before tanh


def decode(
    raw: RawOutputs, batch: Batch, scaling: Scaling, policy_optimism: float = 0.0
) -> Evaluation:
    """Turn raw outputs into probabilities and points.

    'No result' is impossible under superko with area scoring; elsewhere it counts as no points.
    `policy_optimism` is the share of the optimistic policy in networks that have one.
    """
    policy = raw.policy[:, 0]
    if policy_optimism and raw.policy.shape[1] > 1:
        policy = policy + policy_optimism * (raw.policy[:, 1] - policy)
    value = raw.value.astype(np.float32)
    if batch.globals.shape[1] > SUPERKO:  # other feature sets do not include the rules
        decided = (batch.globals[:, SUPERKO] > 0) & (batch.globals[:, TERRITORY] == 0)
        value[decided, 2] = -np.inf
    value = np.exp(value - value.max(1, keepdims=True))
    value /= value.sum(1, keepdims=True)
    score = raw.score
    outputs = score.shape[1]
    nothing = np.zeros(len(score), np.float32)
    counted = 1 - value[:, 2]
    mean = score[:, 0] * scaling.score_mean
    spread = _softplus(score[:, 1]) * scaling.score_stdev if outputs > 1 else nothing
    square = (mean**2 + spread**2) * counted
    return Evaluation(
        policy=policy,
        value=value,
        score=mean * counted,
        spread=np.sqrt(np.maximum(square - (mean * counted) ** 2, 0)),
        lead=(score[:, 2] * scaling.lead if outputs > 2 else mean) * counted,
        variance_time=_softplus(score[:, 3]) * scaling.variance_time if outputs > 3 else nothing,
        value_error=_error(score[:, 4], scaling.value_error, scaling) if outputs > 4 else nothing,
        score_error=_error(score[:, 5], scaling.score_error, scaling) if outputs > 5 else nothing,
        ownership=np.tanh(raw.ownership),
    )


class PendingOutputs(NamedTuple):
    """An evaluation under way whose raw outputs are waited for, and then decoded."""

    wait: Callable[[], RawOutputs]
    batch: Batch
    scaling: Scaling

    def result(self) -> Evaluation:
        """Wait for the evaluation."""
        return decode(self.wait(), self.batch, self.scaling)


def _softplus(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.logaddexp(x, np.float32(0))


def _error(x: NDArray[np.float32], factor: float, scaling: Scaling) -> NDArray[np.float32]:
    root = _softplus(x * np.float32(0.5)) if scaling.halved_errors else np.sqrt(_softplus(x))
    return root * np.float32(factor**0.5)
