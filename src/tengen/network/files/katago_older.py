"""KataGo's older networks, converted to the inputs and score outputs of version 8.

The inputs of versions 6 and 7 are a subset of the V7 inputs, with komi on another scale. Their
weights move to where V7 has the same values; the rest of V7 gets no weight. Evaluations stay the
same while the game goes on, no move broke the rules, and own komi is at most one more than the
points of the board, where the older inputs clip it (V7's clip it 19 points further on).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tengen.features.kernels.katago import GLOBALS, KOMI_SCALE, PLANES
from tengen.network.data import Scaling
from tengen.network.files import katago_format as kata
from tengen.network.files.errors import AGAIN, NetworkFileError

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
_V6 = OlderInputs(PLANES, _without(GLOBALS, *_PLAYOUTS_AND_BUTTON), KOMI_SCALE)
INPUTS = {6: _V5, 7: _V6}  # by version
# Why the other versions cannot be run: they have inputs that no V7 input equals.
_OTHER_AREAS = "the area under territory scoring and tax in a way that V7 does not show"
OBSTACLES = {3: _OTHER_AREAS, 4: _OTHER_AREAS, 5: "pass-alive areas, which V7 does not show"}

OLDER_SCORE_OUTPUTS = 2  # mean and standard deviation; the lead was taken to be the mean
PLAIN_ERRORS_VERSION = 9
PLAIN_ERRORS = Scaling(value_error=1.0, score_error=100.0, halved_errors=True)
FIRST_ERROR = 4  # of the score outputs
_NO_TIME = -1000.0  # softplus makes it 0 turns, as for networks without this output


def with_v7_inputs(model: kata.KataGoModel) -> kata.KataGoModel:
    """Convert a network of a version before 8 to V7's inputs and version 8's score outputs.

    The stated version stays. Raises NetworkFileError if V7's inputs do not include the version's.
    """
    version = model.version
    if version not in INPUTS:
        what = f"model version {version} has older inputs: {OBSTACLES[version]}"
        raise NetworkFileError(f"{model.name}: {what}; versions {min(INPUTS)} and later can be run")
    inputs = INPUTS[version]
    trunk, value = model.trunk, model.value
    stated = (model.planes, trunk.conv.inputs, model.globals, trunk.globals.inputs)
    planes, globals_ = len(inputs.planes), len(inputs.globals)
    if stated != (planes, planes, globals_, globals_):
        what = f"model version {version} has {planes} planes and {globals_} globals, this file not"
        raise NetworkFileError(f"{model.name}: {what}; {AGAIN}")
    if (value.score.outputs, value.score_bias.channels) != (OLDER_SCORE_OUTPUTS,) * 2:
        what = f"model version {version} has {OLDER_SCORE_OUTPUTS} score outputs, this file not"
        raise NetworkFileError(f"{model.name}: {what}; {AGAIN}")
    return replace(
        model,
        planes=len(PLANES),
        globals=len(GLOBALS),
        trunk=replace(
            trunk, conv=_v7_planes(trunk.conv, inputs), globals=_v7_globals(trunk.globals, inputs)
        ),
        value=_with_lead(value),
    )


def _v7_planes(conv: kata.Convolution, inputs: OlderInputs) -> kata.Convolution:
    weights = np.zeros((conv.height, conv.width, len(PLANES), conv.outputs), np.float32)
    weights[:, :, [PLANES.index(name) for name in inputs.planes]] = conv.weights
    return replace(conv, inputs=len(PLANES), weights=weights)


def _v7_globals(matrix: kata.Matrix, inputs: OlderInputs) -> kata.Matrix:
    weights = np.zeros((len(GLOBALS), matrix.outputs), np.float32)
    weights[[GLOBALS.index(name) for name in inputs.globals]] = matrix.weights
    weights[GLOBALS.index(_KOMI)] *= np.float32(KOMI_SCALE / inputs.komi_scale)
    return replace(matrix, inputs=len(GLOBALS), weights=weights)


def _with_lead(value: kata.ValueHead) -> kata.ValueHead:
    """Add two score outputs: the mean as the lead, and a variance time of zero."""
    mean, stdev = value.score.weights.T
    weights = np.stack([mean, stdev, mean, np.zeros_like(mean)], axis=1)
    biases = value.score_bias.values
    bias = np.array([biases[0], biases[1], biases[0], _NO_TIME], np.float32)
    return replace(
        value,
        score=replace(value.score, outputs=len(bias), weights=weights),
        score_bias=replace(value.score_bias, channels=len(bias), values=bias),
    )


def with_halved_errors(model: kata.KataGoModel) -> kata.KataGoModel:
    """Convert version 9's errors to those of later versions: softplus(x) = softplus(2x / 2).

    The value's error is softplus(x) itself, the score's ten times that: hence `PLAIN_ERRORS`.
    """
    value = model.value
    twice = np.where(np.arange(value.score.outputs) < FIRST_ERROR, 1, 2).astype(np.float32)
    score = replace(value.score, weights=value.score.weights * twice)
    bias = replace(value.score_bias, values=value.score_bias.values * twice)
    return replace(model, value=replace(value, score=score, score_bias=bias))
