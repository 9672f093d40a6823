"""Evaluations from the raw outputs of a network; `torch/decoding.py` does it on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.kernels.katago import SUPERKO, TERRITORY
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.network_data import Scaling

LARGEST = 1e6  # the largest output accepted, in points, turns or errors; no board has as many


class RawOutputs(NamedTuple):
    """The outputs of a network's heads."""

    policy: NDArray[np.float32]  # [batch, outputs, height * width + 1] logits, pass last
    value: NDArray[np.float32]  # [batch, 3] logits of win, loss and no result
    score: NDArray[np.float32]  # [batch, score outputs]
    ownership: NDArray[np.float32]  # [batch, height, width] before tanh


class BrokenNetworkError(ValueError):
    """A network's outputs are not usable numbers; the message names the network."""


def decode(
    raw: RawOutputs, batch: Batch, scaling: Scaling, name: str = "the network"
) -> Evaluation:
    """Turn the raw outputs of a network into probabilities and points.

    Raises BrokenNetworkError, with the network's name, where an output is not finite or exceeds a
    million points: a search would use it like any other value, and play at random.
    'No result' is impossible under superko with area scoring; elsewhere it counts as no points.
    The policy is the plain one, or if the network has an optimistic one, the batch's mix of both.
    """
    for head, output in raw._asdict().items():
        if not np.isfinite(output).all():
            raise BrokenNetworkError(
                f"{name}: its {head} output is not finite; the network is damaged or its training "
                "diverged, so use another one"
            )
    policy = raw.policy[:, 0]
    if batch.optimism is not None and raw.policy.shape[1] > 1:
        policy = policy + batch.optimism[:, None] * (raw.policy[:, 1] - policy)
    value = raw.value.astype(np.float32)
    if batch.globals.shape[1] > SUPERKO:  # other feature sets do not include the rules
        decided = (batch.globals[:, SUPERKO] > 0) & (batch.globals[:, TERRITORY] == 0)
        value[decided, 2] = -np.inf
    value = np.exp(value - value.max(1, keepdims=True))
    value /= value.sum(1, keepdims=True)
    with np.errstate(all="ignore"):  # what overflows is refused
        numbers = score_numbers(raw.score, 1 - value[:, 2], scaling, _softplus)
    if not (np.abs(np.stack(numbers)) < LARGEST).all():
        raise BrokenNetworkError(
            f"{name}: its score output is beyond all that a board can hold; the network is damaged "
            "or its training diverged, so use another one"
        )
    return Evaluation._make((policy, value, *numbers, np.tanh(raw.ownership)))


def score_numbers(score: Any, counted: Any, scaling: Scaling, softplus: Any) -> tuple[Any, ...]:
    """The fields of an evaluation from `score` to `score_error`, as arrays or tensors [batch].

    `counted` is the probability that the game has a result; without one there are no points.
    Outputs that a network does not have give 0, and the lead is then the mean.
    """

    def error(x: Any, factor: float) -> Any:
        root = softplus(x / 2) if scaling.halved_errors else softplus(x) ** 0.5
        return root * factor**0.5

    outputs = score.shape[1]
    nothing = counted * 0
    mean = score[:, 0] * scaling.score_mean
    spread = softplus(score[:, 1]) * scaling.score_stdev if outputs > 1 else nothing
    return (
        mean * counted,
        (counted * (spread**2 + mean**2 * (1 - counted))) ** 0.5,
        (score[:, 2] * scaling.lead if outputs > 2 else mean) * counted,
        softplus(score[:, 3]) * scaling.variance_time if outputs > 3 else nothing,
        error(score[:, 4], scaling.value_error) if outputs > 4 else nothing,
        error(score[:, 5], scaling.score_error) if outputs > 5 else nothing,
    )


class PendingOutputs(NamedTuple):
    """An evaluation under way whose raw outputs are waited for, and then decoded."""

    wait: Callable[[], RawOutputs]
    batch: Batch
    scaling: Scaling
    name: str  # the network's

    def result(self) -> Evaluation:
        """Wait for the evaluation."""
        return decode(self.wait(), self.batch, self.scaling, self.name)


def _softplus(x: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.logaddexp(x, np.float32(0))
