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

MOST_VISITS = 2**31 - 2  # the most visits that a tree can count; larger limits are clipped
MOST_SECONDS = 1e9
LONGEST_PV = 1000

UNLIMITED_VISITS, UNLIMITED_SECONDS = 2**50, 1e20  # KataGo's number for "no limit"

PROFILE = "humanSLProfile"
# Fields of SearchParams as KataGo has them for games and analyses, not for self-play.
PLAYING: Mapping[str, Any] = MappingProxyType(
    {
        "conservative_pass": True,
        "friendly_passes": True,
        "passing_hacks": True,
        "more_passing_hacks": True,
        "ending_bonus": 0.5,
        "prune_useless": True,
        "noise_total": 10.83,
    }
)

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


def _switch(name: str, field: str) -> KataGoParam:
    return KataGoParam(name, field, bool, BOTH, of_search=True)


def _inert(
    name: str, usual: bool | float | str, low: float = 0.0, high: float = 1.0
) -> KataGoParam:
    return KataGoParam(name, "", type(usual), GTP, low, high, usual=usual)


def _of_play(
    name: str, field: str, low: float = 0.0, high: float = 1.0, most: float = math.inf
) -> KataGoParam:
    kind = int if field.endswith(("visits", "playouts")) else float
    return KataGoParam(name, field, kind, GTP_ALONE, low, high, most)


# Threads, of which there is one here, and time, which the clock counts. No query asks for them.
_MANAGED_OTHERWISE = (
    _inert("minPlayoutsPerThread", 8.0, 0, 1e20),
    _inert("numSearchThreads", 1, 1, 4096),
    _inert("treeReuseCarryOverTimeFactor", 0.0),
    _inert("subtreeValueBiasTableNumShards", 65536, 65536, 65536),  # which KataGo keeps fixed
)
_ALL = (
    # Limits, reports and choice of moves: fields of the front ends' settings.
    KataGoParam("adaptive", "adaptive", bool, GTP),  # Tengen's own
    KataGoParam("allowResignation", "resign", bool, GTP),
    KataGoParam("analysisPVLen", "pv_length", int, BOTH, 1, LONGEST_PV),
    KataGoParam("analysisWideRootNoise", "analysis_noise", float, GTP, 0, 5),
    KataGoParam("analysisIgnorePreRootHistory", "analysis_ignore_history", bool, GTP),
    KataGoParam("genmoveAntiMirror", "anti_mirror", bool, GTP_ALONE),
    KataGoParam("ignorePreRootHistory", "ignore_history", bool, BOTH),
    KataGoParam("ignoreAllHistory", "ignore_all_history", bool, BOTH),
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
    _of_play("delayMoveMax", "delay_most", 0, 1e6),
    _of_play("delayMoveScale", "delay", 0, 10_000),
    _of_play("endgameTurnTimeDecay", "endgame_decay", 0, 1000),
    _of_play("maxPlayoutsPondering", "ponder_playouts", 1, UNLIMITED_VISITS, MOST_VISITS),
    _of_play("maxTimePondering", "ponder_seconds", 0, UNLIMITED_SECONDS, MOST_SECONDS),
    _of_play("maxVisitsPondering", "ponder_visits", 1, UNLIMITED_VISITS, MOST_VISITS),
    _of_play("midgameTimeFactor", "midgame_time", 0.01, 100),
    _of_play("midgameTurnPeakTime", "midgame_peak", 0, 1000),
    _of_play("obviousMovesPolicyEntropyTolerance", "obvious_entropy", 0.001, 2),
    _of_play("obviousMovesPolicySurpriseTolerance", "obvious_surprise", 0.001, 2),
    _of_play("obviousMovesTimeFactor", "obvious_time", 0.01),
    _of_play("overallocateTimeFactor", "more_time", 0.01, 100),
    _of_play("searchFactorAfterOnePass", "after_pass"),
    _of_play("searchFactorAfterTwoPass", "after_two_passes"),
    # The search: fields of SearchParams.
    _search("chosenMovePrune", "chosen_prune", 0, 1e10, GTP_ALONE),
    _search("chosenMoveSubtract", "chosen_subtract", 0, 1e10, GTP_ALONE),
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
    _search("fpuLossProp", "fpu_loss"),
    _search("fpuParentWeightByVisitedPolicyPow", "fpu_trust_power", 0, 5),
    _search("fpuReductionMax", "fpu_reduction", 0, 2),
    _search("futileVisitsThreshold", "futile_share"),
    _search("lcbStdevs", "lcb_stdevs", 0, 12),
    _search("minVisitPropForLCB", "lcb_least"),
    _search("nnPolicyTemperature", "policy_temperature", 0.01, 5),
    _search("noResultUtilityForWhite", "white_no_result_utility", -1, 1),
    _search("noisePruneUtilityScale", "noise_pruning_scale", 0.001, 10),
    _search("noisePruningCap", "noise_pruning_cap", 0, 1e50),
    _search("numVirtualLossesPerThread", "virtual_loss", 0.01, 1000),
    _search("policyOptimism", "optimism"),
    _search("rootDesiredPerChildVisitsCoeff", "per_child_visits", 0, 100),
    _search("rootDirichletNoiseTotalConcentration", "noise_total", 0.001, 10_000),
    _search("rootDirichletNoiseWeight", "noise_share"),
    _search("rootEndingBonusPoints", "ending_bonus", -1, 1),
    _search("rootFpuLossProp", "root_fpu_loss"),
    _search("rootFpuReductionMax", "root_fpu_reduction", 0, 2),
    _search("rootPolicyOptimism", "root_optimism"),
    _search("staticScoreUtilityFactor", "static_score"),
    _search("subtreeValueBiasFactor", "value_bias"),
    _search("subtreeValueBiasFreeProp", "value_bias_freed"),
    _search("subtreeValueBiasWeightExponent", "value_bias_exponent"),
    _search("uncertaintyCoeff", "uncertainty"),
    _search("uncertaintyExponent", "uncertainty_exponent", 0, 2),
    _search("uncertaintyMaxWeight", "most_weight", 1, 100),
    _search("valueWeightExponent", "value_weight"),
    _search("wideRootNoise", "wide_root_noise", 0, 5),
    _search("winLossUtilityFactor", "win_utility"),
    _switch("antiMirror", "anti_mirror"),
    _switch("conservativePass", "conservative_pass"),
    _switch("enableMorePassingHacks", "more_passing_hacks"),
    _switch("enablePassingHacks", "passing_hacks"),
    _switch("fillDameBeforePass", "fill_dame"),
    _switch("fpuParentWeightByVisitedPolicy", "fpu_trusts_tried"),
    _switch("rootPruneUselessMoves", "prune_useless"),
    _switch("useGraphSearch", "graph"),
    KataGoParam("useLcbForSelection", "lcb_stdevs", bool, BOTH, of_search=True, is_switch=True),
    _switch("useNoisePruning", "noise_pruning"),
    _switch("useNonBuggyLcb", "lcb_for_first"),
    KataGoParam("useUncertainty", "uncertainty", bool, BOTH, of_search=True, is_switch=True),
    # No effect: a network decides which areas it is shown, and graph search handles repetitions.
    KataGoParam(
        "alwaysComputePassAliveUnderSuicideRules", "", str, GTP, words=_AUTO_WORDS, usual="auto"
    ),
    _inert("fpuParentWeight", 0.0, 0, 0),  # KataGo does not let it be set
    _inert("graphSearchCatchUpLeakProb", 0.0),
    _inert("graphSearchRepBound", 11, 3, 50),
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


def with_root_optimism(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of SearchParams that were set, with the root no more optimistic than other positions.

    As in KataGo, unless the root's optimism was set, too.
    """
    from tengen.search.params import SearchParams

    usual = SearchParams().root_optimism
    least = min(usual, given.get("optimism", usual))
    return {**given} if least == usual else {"root_optimism": least, **given}


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
