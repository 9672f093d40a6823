"""The settings of training: the learning rate over a run, and the window that rows come from."""

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
    """How to learn. Raises ValueError for impossible values."""

    # Rows in a batch. Twice as many learn clearly less from the same rows; half as many leave a
    # GPU waiting for small kernels. 256 suits a CPU.
    batch: int = 1024
    # How often each row is drawn on average. More overfits, less wastes games.
    samples_per_row: float = 8.0

    # adamw, or sgd as in KataGo's long runs, which needs another rate.
    optimizer: str = "adamw"
    # Learning rate for batches of this size; 2e-3 was stable with batches twice as large.
    rate: float = 1.5e-3
    beta1: float = 0.9  # of adamw
    beta2: float = 0.98  # of adamw; lower than usual, to follow new games sooner
    momentum: float = 0.9  # of sgd
    # Weight decay of matrices and convolutions. Behind normalization the scale of weights has no
    # effect on the output; without decay they grow and learn more slowly.
    decay: float = 0.03
    clip: float = 4.0  # largest norm of the gradient; rarely reached after the first steps
    warm_up: int = 300  # steps until the full rate is reached
    # How the rate changes over the run: cosine (constant for the first half, then falling),
    # steps, or constant.
    schedule: str = "cosine"
    # Self-play uses an exponential average of the weights, at first over some 250 steps.
    ema: float = 0.996
    # Later the average is over this share of all steps so far: the more slowly a network changes,
    # the longer an average is worth it.
    ema_share: float = 0.04
    # Weight of the search's value in the value target; the rest is the game's result, which has
    # more noise.
    search_share: float = 0.25

    # Weights of the losses: KataGo's where it has them, for points in units of 20.
    policy_weight: float = 1.0
    reply_weight: float = 0.15  # the opponent's next move: an auxiliary target for the trunk
    # Flattened targets distinguish between moves that were hardly searched. KataGo uses 8, which is
    # not yet measured here.
    soft_policy_weight: float = 2.0
    soft_reply_weight: float = 0.3
    value_weight: float = 1.5  # a result is one bit, a policy many
    score_weight: float = 0.6
    spread_weight: float = 0.4  # the standard deviation of the score
    lead_weight: float = 2.4  # learned from the search's score, which has far less noise
    ownership_weight: float = 1.0
    short_value_weight: float = 1.2  # mean over the horizons
    short_score_weight: float = 0.5
    value_error_weight: float = 2.0  # squared errors of values are small
    score_error_weight: float = 2e-5  # squared errors of points are large

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
    """The learning rate after this many steps and this share of the run (0 if it has no end)."""
    rate = params.rate * min(1.0, (steps + 1) / max(1, params.warm_up))
    match params.schedule:
        case "cosine":
            fallen = min(1.0, max(0.0, (share - FLAT_SHARE) / (1 - FLAT_SHARE)))
            rate *= LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * fallen))
        case "steps":
            rate *= 0.1 ** sum(share >= at for at in STEPS_AT)
    return rate


def average_weight(params: TrainingParams, steps: int) -> float:
    """The weight of the newest weights in the running average, after this many steps."""
    return min(1 - params.ema, 1 / max(1.0, params.ema_share * steps))


def steps_allowed(params: TrainingParams, rows: int) -> int:
    """How many steps `samples_per_row` allows once this many rows were played."""
    return int(params.samples_per_row * rows / params.batch)


@dataclass(frozen=True)
class WindowParams:
    """KataGo's window, which grows with a power of all rows ever made."""

    # Up to here all rows are in the window. A smaller window overfits; a larger one keeps the
    # almost random games of the first minutes for too long.
    start: int = 200_000
    # Below 1, so that old games leave: after 100 times `start` rows the window is 17 times `start`.
    exponent: float = 0.75
    # How fast the window grows at `start`: by 0.4 rows for each new one.
    scale: float = 0.4


def window_size(total_rows: int, params: WindowParams) -> int:
    """How many of the latest rows to draw from, of all the rows ever made."""
    if total_rows <= params.start:
        return total_rows
    grown = ((total_rows / params.start) ** params.exponent - 1) / params.exponent
    return min(total_rows, int(params.start * (1 + params.scale * grown)))
