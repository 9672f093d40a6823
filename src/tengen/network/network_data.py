"""A network as data: its architecture, its weights and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.network.architecture import Architecture
from tengen.network.trained_on import TrainedOn, trained_on

Weights: TypeAlias = dict[
    str, NDArray[np.float32]
]  # by the names that the torch network gives them


class Scaling(NamedTuple):
    """The factors that turn score outputs into points, turns and errors."""

    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25  # of the squared error, as the next
    score_error: float = 30.0
    # A squared error is softplus(x) in KataGo's older files, softplus(x / 2) ** 2 since version 14.
    halved_errors: bool = True


@dataclass(frozen=True, eq=False)
class NetworkData:
    """Everything that a network file holds."""

    name: str
    architecture: Architecture
    weights: Weights
    scaling: Scaling = field(default_factory=Scaling)
    provenance: dict[str, str] = field(default_factory=dict)  # where it comes from, for people

    @property
    def trained_on(self) -> TrainedOn:
        """The boards and rules it was trained on; raises ValueError for what is not understood."""
        return trained_on(self.provenance, self.architecture.board_size)
