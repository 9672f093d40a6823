"""KataGo's older networks, converted to the inputs and score outputs of version 8.

The older inputs are a subset of the V7 inputs, with komi on another scale. Their weights move to
where V7 has the same values; the rest of V7 gets no weight. Own komi is clipped nearer to the
points of the board than in V7, hence a feature set of their own. Evaluations stay the same while
the game goes on and no move broke the rules. Versions up to 6 know superko and area scoring without
tax alone, and KataGo lets them play by nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tengen.features.feature_set import KATAGO_OLDER
from tengen.features.kernels.katago import GLOBALS, KOMI_SCALE, PLANES
from tengen.network.network_data import NetworkData, Scaling

_KOMI = "own komi"
_PLAYOUTS_AND_BUTTON = ("unequal playouts", "advantage in playouts", "button")


class OlderInputs(NamedTuple):
    """The V7 inputs that an older version has, in its order."""

    planes: tuple[str, ...]
    globals: tuple[str, ...]
    komi_scale: float


def _without(names: tuple[str, ...], *missing: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in missing)


_V5 = OlderInputs(
    _without(
        PLANES,
        *(name for name in PLANES if name.startswith("chain has ")),
        *(name for name in PLANES if "in a ladder" in name),
        *("own area", "opponent's area"),
    ),
    _without(
        GLOBALS,
        *("tax in seki", "tax on groups", "a pass would end the game", "parity of komi"),
        *_PLAYOUTS_AND_BUTTON,
    ),
    15.0,
)
_V3 = OlderInputs(
    PLANES, _without(GLOBALS, "tax in seki", "tax on groups", *_PLAYOUTS_AND_BUTTON), 15.0
)
_V6 = OlderInputs(PLANES, _without(GLOBALS, *_PLAYOUTS_AND_BUTTON), KOMI_SCALE)
INPUTS = {4: _V3, 6: _V5, 7: _V6}  # by version
# Why the other versions cannot be run.
OBSTACLES = {
    3: "its score is the arctangent of an output, as in no later version",
    5: "its inputs are older ones, pass-alive areas, which V7 does not show",
}

PLAIN_ERRORS = Scaling(value_error=1.0, score_error=100.0, halved_errors=True)
FIRST_ERROR = 4  # of the score outputs
_NO_TIME = -1000.0  # softplus makes it 0 turns, as for networks without this output


def as_version_8(data: NetworkData, version: int) -> NetworkData:
    """Convert a network of a version before 8 to V7's inputs and version 8's score outputs."""
    inputs, weights = INPUTS[version], dict(data.weights)
    seen = [PLANES.index(name) for name in inputs.planes]
    first = weights["conv.weight"]  # [channels, planes, height, width]
    weights["conv.weight"] = np.zeros((len(first), len(PLANES), *first.shape[2:]), np.float32)
    weights["conv.weight"][:, seen] = first
    matrix = weights["globals.weight"]  # [channels, globals]
    weights["globals.weight"] = np.zeros((len(matrix), len(GLOBALS)), np.float32)
    weights["globals.weight"][:, [GLOBALS.index(name) for name in inputs.globals]] = matrix
    weights["globals.weight"][:, GLOBALS.index(_KOMI)] *= np.float32(KOMI_SCALE / inputs.komi_scale)
    # Two score outputs are added: the mean, which was taken to be the lead, and no variance time.
    for name, no_time in (("value.score.weight", 0.0), ("value.score.bias", _NO_TIME)):
        mean, stdev = weights[name]
        weights[name] = np.stack([mean, stdev, mean, np.full_like(mean, no_time)])
    architecture = replace(
        data.architecture,
        planes=len(PLANES),
        globals=len(GLOBALS),
        features=KATAGO_OLDER.name,
        score_outputs=4,
    )
    return replace(data, architecture=architecture, weights=weights)


def with_halved_errors(data: NetworkData) -> NetworkData:
    """Convert version 9's errors to those of later versions: softplus(x) = softplus(2x / 2).

    The value's error is softplus(x) itself, the score's ten times that: hence `PLAIN_ERRORS`.
    """
    return replace(_with_scaled_errors(data, 2.0), scaling=PLAIN_ERRORS)


def with_plain_errors(data: NetworkData) -> NetworkData:
    """The inverse of `with_halved_errors`."""
    return _with_scaled_errors(data, 0.5)


def _with_scaled_errors(data: NetworkData, factor: float) -> NetworkData:
    weights = dict(data.weights)
    for name in ("value.score.weight", "value.score.bias"):
        weights[name] = weights[name].copy()
        weights[name][FIRST_ERROR:] *= factor
    return replace(data, weights=weights)
