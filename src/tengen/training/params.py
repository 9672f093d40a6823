"""The parameters of training, with their reasons, and the learning rate over a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

OPTIMIZERS = ("adamw", "sgd")
SCHEDULES = ("cosine", "steps", "constant")

FLAT_SHARE = 0.5  # of a run, before the cosine falls
LAST_RATE = 0.02  # share of the rate that the cosine ends at
STEPS_AT = (0.6, 0.85)  # shares of a run after which the rate falls to a tenth


@dataclass(frozen=True)
class TrainingParams:
    """How to learn. Raises ValueError for what cannot be."""

    # Twice as many learn clearly less of the same rows, and half as many leave a GPU waiting for
    # small kernels. 256 suits a CPU.
    batch: int = 1024
    # Each row is seen this often on average: more learns the rows by heart, fewer wastes games.
    samples_per_row: float = 8.0

    optimizer: str = "adamw"  # or sgd, which KataGo's long runs take: it needs a rate of its own
    # For this batch; 2e-3 was stable with twice as many. A short memory of squares follows new
    # games sooner.
    rate: float = 1.5e-3
    beta1: float = 0.9
    beta2: float = 0.98
    momentum: float = 0.9  # of sgd; the usual one
    # Norms make the scale of most weights meaningless: without decay they grow, and learn less.
    decay: float = 0.03  # of matrices and convolutions alone
    clip: float = 4.0  # gradients are shortened to this; seldom longer once the start is over
    warm_up: int = 300  # steps to the full rate, while the squares of the gradients settle
    schedule: str = "cosine"  # flat, then down: most strength comes late; or steps, constant
    ema: float = 0.996  # of the weights that play: an average over some 250 steps
    # Later over this share of all steps so far: the more slowly a network learns, the more of
    # its wavering can be averaged out before the average is out of date.
    ema_share: float = 0.04
    # Share of the search's own value in the target of the value: less noise than results alone.
    search_share: float = 0.25

    # Weights of the losses. KataGo's where it has them, for points in units of 20.
    policy_weight: float = 1.0
    reply_weight: float = 0.15  # of the opponent's answer: helps the trunk, plays nothing
    # Flatter targets tell moves apart that were hardly searched. KataGo takes 8; not yet measured
    # here, so it is kept from outweighing all the rest.
    soft_policy_weight: float = 2.0
    soft_reply_weight: float = 0.3
    value_weight: float = 1.5  # an outcome is one bit, a policy many: it needs help
    score_weight: float = 0.6
    spread_weight: float = 0.4
    lead_weight: float = 2.4  # what the search expects is far less noisy than the final score
    ownership_weight: float = 1.0  # the most there is to learn from a finished game
    short_value_weight: float = 1.2  # the mean over the horizons
    short_score_weight: float = 0.5
    value_error_weight: float = 2.0  # squared errors are small
    score_error_weight: float = 2e-5  # and those of points are large

    def __post_init__(self) -> None:
        for name, known in (("optimizer", OPTIMIZERS), ("schedule", SCHEDULES)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}"
                )
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str):
                continue
            if not math.isfinite(value) or value < 0:
                raise ValueError(f"{field.name} must be a number from 0 up, not {value}")
        for name in ("batch", "samples_per_row", "rate", "clip"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0, not {getattr(self, name)}")
        for name in ("beta1", "beta2", "momentum", "ema"):
            if getattr(self, name) >= 1:
                raise ValueError(f"{name} must be less than 1, not {getattr(self, name)}")
        for name in ("search_share", "ema_share"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} must be at most 1, not {getattr(self, name)}")


def rate_at(params: TrainingParams, steps: int, share: float) -> float:
    """The learning rate after so many steps and this share of the run (0 if it has no end)."""
    rate = params.rate * min(1.0, (steps + 1) / max(1, params.warm_up))
    match params.schedule:
        case "cosine":
            fallen = min(1.0, max(0.0, (share - FLAT_SHARE) / (1 - FLAT_SHARE)))
            rate *= LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * fallen))
        case "steps":
            rate *= 0.1 ** sum(share >= at for at in STEPS_AT)
    return rate


def average_weight(params: TrainingParams, steps: int) -> float:
    """The weight of the newest weights in their average after so many steps."""
    return min(1 - params.ema, 1 / max(1.0, params.ema_share * steps))


def steps_allowed(params: TrainingParams, rows: int) -> int:
    """How many steps may have been made once so many rows were played."""
    return int(params.samples_per_row * rows / params.batch)
