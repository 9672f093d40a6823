"""KataGo's names of parameters: which field of ours each one sets, its type, range and front ends.

For `kata-set-param` (GTP), `overrideSettings` (JSON analysis) and the sections [search] and [human]
of settings files. Ranges are KataGo's, with 0 added where it turns something off here. Parameters
that have no effect here are known all the same: clients set them, and expect to read what they set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Flag, auto
from types import MappingProxyType
from typing import Any, NamedTuple

import tengen

SPOKEN_VERSION = f"1.17.2+tengen{tengen.__version__}"  # KataGo's, in the shape that it has there

MOST_VISITS = 2**31 - 2  # what a tree can count; larger limits mean no more
MOST_SECONDS = 1e9
LONGEST_PV = 1000

UNLIMITED_VISITS, UNLIMITED_SECONDS = 2**50, 1e20  # what KataGo calls no limit

PROFILE = "humanSLProfile"
SIDE_TO_MOVE = "SIDETOMOVE"
PERSPECTIVES = SIDE_TO_MOVE, "BLACK", "WHITE"
_PERSPECTIVE_WORDS = {
    **{word: word for word in PERSPECTIVES},
    "B": "BLACK",
    "W": "WHITE",
    "SIDE": SIDE_TO_MOVE,
    "SIDE_TO_MOVE": SIDE_TO_MOVE,
}
_PLAYER_WORDS = {"B": "B", "BLACK": "B", "W": "W", "WHITE": "W", "E": "E", "": "E"}
_AUTO_WORDS = {"AUTO": "auto", "TRUE": "true", "FALSE": "false"}
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
    field: str  # of SearchParams, HumanStyle or the front end's own settings; "": without effect
    kind: type
    takers: Takers
    low: float = 0.0
    high: float = 1.0
    most: float = math.inf  # larger values stand for this one
    of_search: bool = False
    of_human: bool = False  # a field of HumanStyle
    is_switch: bool = False  # true: the usual number, false: 0
    words: Mapping[str, str] = MappingProxyType({})  # of a text, upper case: what each stands for
    usual: bool | float | str | None = None  # KataGo's own value, where there is no field


def _search(
    name: str, field: str, low: float = 0.0, high: float = 1.0, takers: Takers = BOTH
) -> KataGoParam:
    return KataGoParam(name, field, float, takers, low, high, of_search=True)


def _human(name: str, field: str, high: float = 1.0, kind: type = float) -> KataGoParam:
    return KataGoParam(name, field, kind, BOTH, 0, high, of_human=True)


def _inert(
    name: str,
    usual: bool | float | str,
    low: float = 0.0,
    high: float = 1.0,
    takers: Takers = GTP,
) -> KataGoParam:
    return KataGoParam(name, "", type(usual), takers, low, high, usual=usual)


# Threads, time, pondering and the choice of a move, managed otherwise here. No query asks for them.
_MANAGED_OTHERWISE = (
    _inert("delayMoveMax", 1e6, 0, 1e6),
    _inert("delayMoveScale", 0.0, 0, 10_000),
    _inert("endgameTurnTimeDecay", 100.0, 0, 1000),
    _inert("maxPlayoutsPondering", UNLIMITED_VISITS, 1, UNLIMITED_VISITS),
    _inert("maxTimePondering", UNLIMITED_SECONDS, 0, UNLIMITED_SECONDS),
    _inert("maxVisitsPondering", UNLIMITED_VISITS, 1, UNLIMITED_VISITS),
    _inert("midgameTimeFactor", 1.0, 0.01, 100),
    _inert("midgameTurnPeakTime", 130.0, 0, 1000),
    _inert("minPlayoutsPerThread", 8.0, 0, 1e20),
    _inert("numSearchThreads", 1, 1, 4096),
    _inert("obviousMovesPolicyEntropyTolerance", 0.3, 0.001, 2),
    _inert("obviousMovesPolicySurpriseTolerance", 0.15, 0.001, 2),
    _inert("obviousMovesTimeFactor", 1.0, 0.01),
    _inert("overallocateTimeFactor", 1.0, 0.01, 100),
    _inert("searchFactorAfterOnePass", 1.0),
    _inert("searchFactorAfterTwoPass", 1.0),
    _inert("treeReuseCarryOverTimeFactor", 0.0),
    _inert("chosenMovePrune", 1.0, 0, 1e10),
    _inert("chosenMoveSubtract", 0.0, 0, 1e10),
    _inert("genmoveAntiMirror", True),
    _inert("subtreeValueBiasTableNumShards", 65536, 65536, 65536),  # which KataGo keeps fixed
)
_ALL = (
    # Limits, reports and play: fields of the front ends' settings.
    KataGoParam("adaptive", "adaptive", bool, GTP),  # Tengen's own
    KataGoParam("allowResignation", "resign", bool, GTP),
    KataGoParam("analysisPVLen", "pv_length", int, BOTH, 1, LONGEST_PV),
    KataGoParam("analysisWideRootNoise", "analysis_noise", float, GTP, 0, 5),
    KataGoParam("analysisIgnorePreRootHistory", "analysis_ignore_history", bool, GTP),
    KataGoParam("ignorePreRootHistory", "ignore_history", bool, BOTH),
    KataGoParam("lagBuffer", "lag", float, GTP, 0, 3600),
    KataGoParam("maxPlayouts", "playouts", int, BOTH, 1, UNLIMITED_VISITS, MOST_VISITS),
    KataGoParam("maxTime", "seconds", float, BOTH, 0, UNLIMITED_SECONDS, MOST_SECONDS),
    KataGoParam("maxVisits", "visits", int, BOTH, 1, UNLIMITED_VISITS, MOST_VISITS),
    KataGoParam("ponderingEnabled", "ponder", bool, GTP),
    KataGoParam("reportAnalysisWinratesAs", "perspective", str, BOTH, words=_PERSPECTIVE_WORDS),
    KataGoParam("resignConsecTurns", "resign_turns", int, GTP, 1, 100),
    KataGoParam("resignMinMovesPerBoardArea", "resign_least_moves", float, GTP, 0, 1),
    KataGoParam("resignThreshold", "resign_winrate", float, GTP, -1, 1),
    KataGoParam("rootNoiseEnabled", "root_noise", bool, BOTH),
    KataGoParam("rootPolicyTemperature", "root_temperature", float, BOTH, 0.01, 100),
    KataGoParam("rootPolicyTemperatureEarly", "root_temperature_early", float, BOTH, 0.01, 100),
    KataGoParam("rootSymmetryPruning", "symmetry_pruning", bool, BOTH),
    KataGoParam("rootNumSymmetriesToSample", "symmetries", int, BOTH, 1, 8),
    KataGoParam("playoutDoublingAdvantage", "playout_advantage", float, BOTH, -3, 3),
    KataGoParam("playoutDoublingAdvantagePla", "advantage_of", str, BOTH, words=_PLAYER_WORDS),
    # The search: fields of SearchParams.
    _search("chosenMoveTemperature", "temperature", 0, 5, GTP_ALONE),
    _search("chosenMoveTemperatureEarly", "temperature_early", 0, 5, GTP_ALONE),
    _search("chosenMoveTemperatureHalflife", "temperature_halflife", 0.1, 100_000, GTP_ALONE),
    _search("chosenMoveTemperatureOnlyBelowProb", "temperature_below", 0, 1, GTP_ALONE),
    _search("cpuctExploration", "exploration", 0, 10),
    _search("cpuctExplorationBase", "exploration_base", 10, 100_000),
    _search("cpuctExplorationLog", "exploration_log", 0, 10),
    _search("cpuctUtilityStdevPrior", "stdev_prior", 1e-6, 10),
    _search("cpuctUtilityStdevPriorWeight", "stdev_prior_weight", 0, 100),
    _search("cpuctUtilityStdevScale", "stdev_scale"),
    _search("drawEquivalentWinsForWhite", "white_draw_wins"),
    _search("dynamicScoreCenterScale", "score_scale", 0.01, 5),
    _search("dynamicScoreCenterZeroWeight", "centre_to_zero"),
    _search("dynamicScoreUtilityFactor", "dynamic_score"),
    _search("fpuReductionMax", "fpu_reduction", 0, 2),
    _search("lcbStdevs", "lcb_stdevs", 0, 12),
    _search("minVisitPropForLCB", "lcb_least"),
    _search("nnPolicyTemperature", "policy_temperature", 0.01, 5),
    _search("noResultUtilityForWhite", "white_no_result_utility", -1, 1),
    _search("noisePruneUtilityScale", "noise_pruning_scale", 0.001, 10),
    _search("noisePruningCap", "noise_pruning_cap", 0, 1e50),
    _search("numVirtualLossesPerThread", "virtual_loss", 0.01, 1000),
    _search("policyOptimism", "optimism"),
    _search("rootDirichletNoiseWeight", "noise_share"),
    _search("rootFpuReductionMax", "root_fpu_reduction", 0, 2),
    _search("rootPolicyOptimism", "root_optimism"),
    _search("staticScoreUtilityFactor", "static_score"),
    _search("subtreeValueBiasFactor", "value_bias"),
    _search("subtreeValueBiasWeightExponent", "value_bias_exponent"),
    _search("uncertaintyCoeff", "uncertainty"),
    _search("uncertaintyMaxWeight", "most_weight", 1, 100),
    _search("valueWeightExponent", "value_weight"),
    _search("wideRootNoise", "wide_root_noise", 0, 5),
    _search("winLossUtilityFactor", "win_utility"),
    KataGoParam("fpuParentWeightByVisitedPolicy", "fpu_trusts_tried", bool, BOTH, of_search=True),
    KataGoParam("useGraphSearch", "graph", bool, BOTH, of_search=True),
    KataGoParam("useLcbForSelection", "lcb_stdevs", bool, BOTH, of_search=True, is_switch=True),
    KataGoParam("useNoisePruning", "noise_pruning", bool, BOTH, of_search=True),
    KataGoParam("useUncertainty", "uncertainty", bool, BOTH, of_search=True, is_switch=True),
    # The search and the choice of moves, which do not follow these.
    KataGoParam(
        "alwaysComputePassAliveUnderSuicideRules", "", str, GTP, words=_AUTO_WORDS, usual="auto"
    ),
    _inert("antiMirror", False),
    _inert("conservativePass", True),
    _inert("enableMorePassingHacks", True),
    _inert("enablePassingHacks", True),
    _inert("fillDameBeforePass", True),
    _inert("fpuLossProp", 0.0),
    _inert("fpuParentWeight", 0.0, 0, 0),  # KataGo does not let it be set
    _inert("fpuParentWeightByVisitedPolicyPow", 2.0, 0, 5),
    _inert("futileVisitsThreshold", 0.0),
    _inert("graphSearchCatchUpLeakProb", 0.0),
    _inert("graphSearchRepBound", 11, 3, 50),
    _inert("ignoreAllHistory", False),
    _inert("rootDesiredPerChildVisitsCoeff", 0.0, 0, 100),
    _inert("rootDirichletNoiseTotalConcentration", 10.83, 0.001, 10_000),
    _inert("rootEndingBonusPoints", 0.5, -1, 1),
    _inert("rootFpuLossProp", 0.0),
    _inert("rootPruneUselessMoves", True),
    _inert("subtreeValueBiasFreeProp", 0.8),
    _inert("uncertaintyExponent", 1.0, 0, 2),
    _inert("useNonBuggyLcb", True),
    # People, whose names begin with humanSL; without a network that imitates them, KataGo refuses
    # to change these.
    _human(PROFILE, "profile", kind=str),
    _human("humanSLChosenMoveIgnorePass", "ignore_pass", kind=bool),
    _human("humanSLChosenMovePiklLambda", "move_lambda", 1e9),
    _human("humanSLChosenMoveProp", "move_share"),
    _human("humanSLCpuctExploration", "exploration", 1000),
    _human("humanSLCpuctPermanent", "permanent_exploration", 1000),
    *(
        _human(f"humanSL{name}ExploreProb{kind.title()}", f"{field}_{kind}")
        for name, field in (("Opp", "other"), ("Pla", "own"), ("Root", "root"))
        for kind in ("weightful", "weightless")
    ),
    *(param._replace(takers=GTP_ALONE) for param in _MANAGED_OTHERWISE),
)
KATAGO_PARAMS = {param.name: param for param in _ALL}
FIELDS_IN_FILES = {p.name: p.field for p in _ALL if (p.of_search and not p.is_switch) or p.of_human}


def needs_people(name: str) -> bool:
    """Does KataGo take this parameter only where there is a network that imitates people?"""
    return name.startswith("humanSL")


def parse_value(param: KataGoParam, value: object) -> Any:
    """A value of JSON, or its text, as the field's type; raises ValueError for any other."""
    if param.kind is bool:
        return _parse_bool(value)
    if param.name == PROFILE:
        return _parse_profile(value)
    if param.kind is str:
        word = value.strip().upper() if isinstance(value, str) else "no text"
        if word not in param.words:
            known = ", ".join(dict.fromkeys(param.words.values()))
            raise ValueError(f"one of {known} is needed")
        return param.words[word]
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


def _parse_profile(value: object) -> str:
    from tengen.features.human_profile import parse_profile

    name = value.strip() if isinstance(value, str) else str(value)
    parse_profile(name)
    return name


def _parse_bool(value: object) -> bool:
    word = value.strip().lower() if isinstance(value, str) else value
    if word is True or word in _TRUE:
        return True
    if word is False or word in _FALSE:
        return False
    raise ValueError("true or false is needed")
