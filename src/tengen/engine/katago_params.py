"""KataGo's names of parameters: which field of ours each one sets, its type, range and front ends.

For `kata-set-param` (GTP), `overrideSettings` (JSON analysis) and the section [search] of settings
files. Ranges are KataGo's, with 0 added where it turns something off here.
"""

from __future__ import annotations

import math
from enum import Flag, auto
from typing import Any, NamedTuple

MOST_VISITS = 2**31 - 2  # what a tree can count; larger limits mean no more
MOST_SECONDS = 1e9
LONGEST_PV = 1000

SIDE_TO_MOVE = "SIDETOMOVE"
PERSPECTIVES = SIDE_TO_MOVE, "BLACK", "WHITE"
_OTHER_PERSPECTIVES = {
    "B": "BLACK",
    "W": "WHITE",
    "SIDE": SIDE_TO_MOVE,
    "SIDE_TO_MOVE": SIDE_TO_MOVE,
}
_TRUE, _FALSE = ("true", "1", "on", "yes"), ("false", "0", "off", "no")


class Takers(Flag):
    """The front ends that take a parameter, or accept it without effect."""

    GTP = auto()
    ANALYSIS = auto()
    IGNORED_BY_ANALYSIS = auto()  # chooses a move to play, which no query asks for


GTP, ANALYSIS, BOTH = Takers.GTP, Takers.ANALYSIS, Takers.GTP | Takers.ANALYSIS
GTP_ALONE = Takers.GTP | Takers.IGNORED_BY_ANALYSIS


class KataGoParam(NamedTuple):
    """A parameter under KataGo's name."""

    name: str
    field: str  # of SearchParams, or of the front end's own settings
    kind: type
    takers: Takers
    low: float = 0.0
    high: float = 1.0
    most: float = math.inf  # larger values stand for this one
    of_search: bool = False
    is_switch: bool = False  # true: the usual number, false: 0


def _search(
    name: str, field: str, low: float = 0.0, high: float = 1.0, takers: Takers = BOTH
) -> KataGoParam:
    return KataGoParam(name, field, float, takers, low, high, of_search=True)


_ALL = (
    # Limits, reports and play: fields of the front ends' settings.
    KataGoParam("adaptive", "adaptive", bool, GTP),  # Tengen's own
    KataGoParam("allowResignation", "resign", bool, GTP),
    KataGoParam("analysisPVLen", "pv_length", int, BOTH, 1, LONGEST_PV),
    KataGoParam("analysisWideRootNoise", "analysis_noise", float, GTP, 0, 5),
    KataGoParam("ignorePreRootHistory", "ignore_history", bool, ANALYSIS),
    KataGoParam("lagBuffer", "lag", float, GTP, 0, 3600),
    KataGoParam("maxPlayouts", "playouts", int, ANALYSIS, 1, 2**50, MOST_VISITS),
    KataGoParam("maxTime", "seconds", float, BOTH, 0, 1e20, MOST_SECONDS),
    KataGoParam("maxVisits", "visits", int, BOTH, 1, 2**50, MOST_VISITS),
    KataGoParam("ponderingEnabled", "ponder", bool, GTP),
    KataGoParam("reportAnalysisWinratesAs", "perspective", str, BOTH),
    KataGoParam("resignConsecTurns", "resign_turns", int, GTP, 1, 100),
    KataGoParam("resignMinMovesPerBoardArea", "resign_least_moves", float, GTP, 0, 1),
    KataGoParam("resignThreshold", "resign_winrate", float, GTP, -1, 1),
    KataGoParam("rootNoiseEnabled", "root_noise", bool, ANALYSIS),
    KataGoParam("rootPolicyTemperature", "root_temperature", float, ANALYSIS, 0.01, 100),
    KataGoParam("rootPolicyTemperatureEarly", "root_temperature_early", float, ANALYSIS, 0.01, 100),
    KataGoParam("rootSymmetryPruning", "symmetry_pruning", bool, BOTH),
    # The search: fields of SearchParams.
    _search("chosenMoveTemperature", "temperature", 0, 5, GTP_ALONE),
    _search("chosenMoveTemperatureEarly", "temperature_early", 0, 5, GTP_ALONE),
    _search("chosenMoveTemperatureHalflife", "temperature_halflife", 0.1, 100_000, GTP_ALONE),
    _search("cpuctExploration", "exploration", 0, 10),
    _search("cpuctExplorationBase", "exploration_base", 10, 100_000),
    _search("cpuctExplorationLog", "exploration_log", 0, 10),
    _search("cpuctUtilityStdevPrior", "stdev_prior", 1e-6, 10),
    _search("cpuctUtilityStdevPriorWeight", "stdev_prior_weight", 0, 100),
    _search("cpuctUtilityStdevScale", "stdev_scale"),
    _search("dynamicScoreCenterScale", "score_scale", 0.01, 5),
    _search("dynamicScoreCenterZeroWeight", "centre_to_zero"),
    _search("dynamicScoreUtilityFactor", "dynamic_score"),
    _search("fpuReductionMax", "fpu_reduction", 0, 2),
    _search("lcbStdevs", "lcb_stdevs", 0, 12),
    _search("minVisitPropForLCB", "lcb_least"),
    _search("numVirtualLossesPerThread", "virtual_loss", 0.01, 1000),
    _search("rootDirichletNoiseWeight", "noise_share", takers=ANALYSIS),
    _search("rootFpuReductionMax", "root_fpu_reduction", 0, 2),
    _search("staticScoreUtilityFactor", "static_score"),
    _search("uncertaintyCoeff", "uncertainty"),
    _search("uncertaintyMaxWeight", "most_weight", 1, 100),
    _search("valueWeightExponent", "value_weight"),
    _search("wideRootNoise", "wide_root_noise", 0, 5),
    KataGoParam("useGraphSearch", "graph", bool, BOTH, of_search=True),
    KataGoParam("useLcbForSelection", "lcb_stdevs", bool, ANALYSIS, of_search=True, is_switch=True),
    KataGoParam("useUncertainty", "uncertainty", bool, ANALYSIS, of_search=True, is_switch=True),
)
KATAGO_PARAMS = {param.name: param for param in _ALL}
SEARCH_FIELDS = {p.name: p.field for p in _ALL if p.of_search and not p.is_switch}


def parse_value(param: KataGoParam, value: object) -> Any:
    """A value of JSON, or its text, as the field's type; raises ValueError for any other."""
    if param.kind is bool:
        return _parse_bool(value)
    if param.kind is str:
        return _parse_perspective(value)
    whole = param.kind is int
    wanted = f"a {'whole ' * whole}number from {param.low:g} to {param.high:g} is needed"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(wanted)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(wanted) from None
    if not param.low <= number <= param.high or (whole and not number.is_integer()):
        raise ValueError(wanted)
    return param.kind(min(number, param.most))


def _parse_bool(value: object) -> bool:
    word = value.strip().lower() if isinstance(value, str) else value
    if word is True or word in _TRUE:
        return True
    if word is False or word in _FALSE:
        return False
    raise ValueError("true or false is needed")


def _parse_perspective(value: object) -> str:
    word = value.strip().upper() if isinstance(value, str) else ""
    word = _OTHER_PERSPECTIVES.get(word, word)
    if word not in PERSPECTIVES:
        raise ValueError(f"one of {', '.join(PERSPECTIVES)} is needed")
    return word
