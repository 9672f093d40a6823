"""How one query is searched and reported: defaults, and what `overrideSettings` changes of them.

What is not known or cannot be is left out and told as a warning: clients send settings meant for
other versions, and a query must not fail for that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tengen.search.params import SearchParams

MOST_VISITS = 2**31 - 2  # what a tree can count
MOST_SECONDS = 1e9
LONGEST_PV = 1000
PERSPECTIVES = {"BLACK": "BLACK", "B": "BLACK", "WHITE": "WHITE", "W": "WHITE"}
SIDE_TO_MOVE = "SIDETOMOVE"
# As KataGo in analysis: somewhat more moves than a player would look at.
ANALYSIS_PARAMS = SearchParams(wide_root_noise=0.04)


@dataclass(frozen=True)
class QuerySettings:
    """How to search a position and report on it."""

    visits: int = 500
    playouts: int | None = None
    seconds: float | None = None
    perspective: str = "BLACK"  # or WHITE, or SIDETOMOVE
    pv_length: int = 15  # moves after the first
    symmetry_pruning: bool = False
    ignore_history: bool = False
    root_noise: bool = False
    root_temperature: float = 1.0
    root_temperature_early: float | None = None  # None: the same
    params: SearchParams = field(default=ANALYSIS_PARAMS)

    @property
    def noisy_root(self) -> bool:
        """Does the root want other priors than the network's own?"""
        early = self.root_temperature_early
        return self.root_noise or self.root_temperature != 1 or early not in (None, 1.0)

    def search_params(self) -> SearchParams:
        """The parameters with the root's temperature; its noise only where it was asked for."""
        late = self.root_temperature
        early = late if self.root_temperature_early is None else self.root_temperature_early
        return replace(
            self.params,
            root_temperature=late,
            root_temperature_early=early,
            noise_share=self.params.noise_share if self.root_noise else 0.0,
            forced_playouts=0.0,
        )


class _Known(NamedTuple):
    """A setting under KataGo's name: its field here, and from where to where it runs."""

    field: str
    low: float = 0.0
    high: float = 1.0


# Fields of QuerySettings.
_WHOLE = {
    "maxVisits": _Known("visits", 1, 2**50),
    "maxPlayouts": _Known("playouts", 1, 2**50),
    "analysisPVLen": _Known("pv_length", 1, LONGEST_PV),
}
_NUMBERS = {
    "maxTime": _Known("seconds", 0, 1e20),
    "rootPolicyTemperature": _Known("root_temperature", 0.01, 100),
    "rootPolicyTemperatureEarly": _Known("root_temperature_early", 0.01, 100),
}
_SWITCHES = {
    "rootSymmetryPruning": "symmetry_pruning",
    "ignorePreRootHistory": "ignore_history",
    "rootNoiseEnabled": "root_noise",
}
# Fields of SearchParams.
_PARAMS = {
    "cpuctExploration": _Known("exploration", 0, 10),
    "cpuctExplorationLog": _Known("exploration_log", 0, 10),
    "cpuctExplorationBase": _Known("exploration_base", 10, 100_000),
    "cpuctUtilityStdevPrior": _Known("stdev_prior", 1e-6, 10),
    "cpuctUtilityStdevPriorWeight": _Known("stdev_prior_weight", 0, 100),
    "cpuctUtilityStdevScale": _Known("stdev_scale"),
    "dynamicScoreCenterScale": _Known("score_scale", 0.01, 5),
    "dynamicScoreCenterZeroWeight": _Known("centre_to_zero"),
    "dynamicScoreUtilityFactor": _Known("dynamic_score"),
    "staticScoreUtilityFactor": _Known("static_score"),
    "fpuReductionMax": _Known("fpu_reduction", 0, 2),
    "rootFpuReductionMax": _Known("root_fpu_reduction", 0, 2),
    "lcbStdevs": _Known("lcb_stdevs", 1, 12),
    "minVisitPropForLCB": _Known("lcb_least"),
    "numVirtualLossesPerThread": _Known("virtual_loss", 0.01, 1000),
    "rootDirichletNoiseWeight": _Known("noise_share"),
    "uncertaintyCoeff": _Known("uncertainty", 1e-4, 1),
    "uncertaintyMaxWeight": _Known("most_weight", 1, 100),
    "valueWeightExponent": _Known("value_weight"),
    "wideRootNoise": _Known("wide_root_noise", 0, 5),
}
# Switches that turn a number of SearchParams off.
_PARAM_SWITCHES = {"useLcbForSelection": "lcb_stdevs", "useUncertainty": "uncertainty"}
# They choose a move to play, which nobody asks for here; KataGo takes no notice either.
_WITHOUT_EFFECT = (
    "chosenMoveTemperature",
    "chosenMoveTemperatureEarly",
    "chosenMoveTemperatureHalflife",
)


def override(settings: QuerySettings, given: Mapping[str, Any]) -> tuple[QuerySettings, list[str]]:
    """The settings changed by `overrideSettings`, and a text for each that was left out."""
    left_out = []
    for name, value in given.items():
        try:
            settings = _changed(settings, name, value)
        except ValueError as error:
            left_out.append(f"{name[:80]} ({error})")
    return settings, left_out


def _changed(settings: QuerySettings, name: str, value: Any) -> QuerySettings:
    """The settings with one of them changed; raises ValueError that says what would be right."""
    if name in _WHOLE:
        known = _WHOLE[name]
        whole = min(int(_number(value, known, whole=True)), MOST_VISITS)
        return _with(settings, known.field, whole)
    if name in _NUMBERS:
        known = _NUMBERS[name]
        number = min(_number(value, known), MOST_SECONDS)
        return _with(settings, known.field, number)
    if name in _SWITCHES:
        return _with(settings, _SWITCHES[name], _switch(value))
    if name in _PARAMS:
        known = _PARAMS[name]
        return _with_param(settings, known.field, _number(value, known))
    if name in _PARAM_SWITCHES:
        changed = _PARAM_SWITCHES[name]
        usual = getattr(ANALYSIS_PARAMS, changed)
        return _with_param(settings, changed, usual if _switch(value) else 0.0)
    if name == "useGraphSearch":
        return _with_param(settings, "graph", _switch(value))
    if name == "reportAnalysisWinratesAs":
        return replace(settings, perspective=_perspective(value))
    if name in _WITHOUT_EFFECT:
        return settings
    raise ValueError("not known here")


def _with(settings: QuerySettings, name: str, value: float | bool) -> QuerySettings:
    change: dict[str, Any] = {name: value}
    return replace(settings, **change)


def _with_param(settings: QuerySettings, name: str, value: float | bool) -> QuerySettings:
    change: dict[str, Any] = {name: value}
    return replace(settings, params=replace(settings.params, **change))


def _number(value: Any, known: _Known, whole: bool = False) -> float:
    """A number, written as one or as text."""
    wanted = f"a {'whole ' * whole}number from {known.low:g} to {known.high:g} is needed"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(wanted)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(wanted) from None
    if not math.isfinite(number) or not known.low <= number <= known.high:
        raise ValueError(wanted)
    if whole and not number.is_integer():
        raise ValueError(wanted)
    return number


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError("true or false is needed")


def _perspective(value: Any) -> str:
    text = value.strip().upper() if isinstance(value, str) else ""
    if text in PERSPECTIVES:
        return PERSPECTIVES[text]
    if text in (SIDE_TO_MOVE, "SIDE_TO_MOVE", "SIDE"):
        return SIDE_TO_MOVE
    raise ValueError("BLACK, WHITE or SIDETOMOVE is needed")
