"""What clients can change while a session runs, under the names that KataGo gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from tengen.frontends.gtp.dispatch import parse_bool, parse_float
from tengen.frontends.gtp.options import GtpOptions
from tengen.frontends.gtp.protocol import GtpError
from tengen.game.color import Color

SIDE_TO_MOVE = "SIDETOMOVE"
PERSPECTIVES = (SIDE_TO_MOVE, "BLACK", "WHITE")
LARGEST = 1e9  # of any setting


@dataclass(frozen=True)
class GtpSettings:
    """How to play and report. Raises GtpError for what cannot be."""

    visits: int | None = None
    seconds: float | None = None
    adaptive: bool = False  # fewer visits where the move is clear
    lag: float = 0.1  # seconds that a move may cost beyond its thought
    ponder: bool = False
    resign: bool = True
    resign_winrate: float = 0.05
    resign_turns: int = 3
    resign_least_moves: float = 0.2
    perspective: str = SIDE_TO_MOVE  # whose winrates and points are reported
    pv_length: int = 15
    analysis_noise: float = 0.0  # makes analysis look at more moves
    symmetry_pruning: bool = False
    search: Mapping[str, float | bool] = field(default_factory=dict)  # of SearchParams, changed

    def __post_init__(self) -> None:
        for name in ("visits", "seconds"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= LARGEST:
                raise GtpError(f"{name} must be over 0, not {value!r}")
        for name in ("lag", "resign_winrate", "resign_least_moves", "analysis_noise"):
            if not 0 <= getattr(self, name) <= LARGEST:
                raise GtpError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        for name in ("resign_turns", "pv_length"):
            if not 1 <= getattr(self, name) <= LARGEST:
                raise GtpError(f"{name} must be 1 or more, not {getattr(self, name)!r}")
        if self.perspective not in PERSPECTIVES:
            raise GtpError(f"{self.perspective[:40]!r} is none of {', '.join(PERSPECTIVES)}")

    def sign_for(self, to_play: Color) -> int:
        """1 if reports are for the side to play, -1 if they are for its opponent."""
        return 1 if self.perspective in (SIDE_TO_MOVE, to_play.name) else -1


def initial_settings(options: GtpOptions) -> GtpSettings:
    """The settings that a session starts with; raises GtpError."""
    shared = {each.name for each in fields(options)} & {each.name for each in fields(GtpSettings)}
    return GtpSettings(**{name: getattr(options, name) for name in shared})


class _Parameter(NamedTuple):
    """A setting under KataGo's name."""

    field: str
    kind: type


_SETTINGS: dict[str, _Parameter] = {
    "adaptive": _Parameter("adaptive", bool),  # not KataGo's
    "allowResignation": _Parameter("resign", bool),
    "analysisPVLen": _Parameter("pv_length", int),
    "analysisWideRootNoise": _Parameter("analysis_noise", float),
    "lagBuffer": _Parameter("lag", float),
    "maxTime": _Parameter("seconds", float),
    "maxVisits": _Parameter("visits", int),
    "ponderingEnabled": _Parameter("ponder", bool),
    "reportAnalysisWinratesAs": _Parameter("perspective", str),
    "resignConsecTurns": _Parameter("resign_turns", int),
    "resignMinMovesPerBoardArea": _Parameter("resign_least_moves", float),
    "resignThreshold": _Parameter("resign_winrate", float),
    "rootSymmetryPruning": _Parameter("symmetry_pruning", bool),
}
# KataGo's name: the field of SearchParams.
_SEARCH: dict[str, str] = {
    "chosenMoveTemperature": "temperature",
    "chosenMoveTemperatureEarly": "temperature_early",
    "chosenMoveTemperatureHalflife": "temperature_halflife",
    "cpuctExploration": "exploration",
    "cpuctExplorationBase": "exploration_base",
    "cpuctExplorationLog": "exploration_log",
    "cpuctUtilityStdevPrior": "stdev_prior",
    "cpuctUtilityStdevPriorWeight": "stdev_prior_weight",
    "cpuctUtilityStdevScale": "stdev_scale",
    "dynamicScoreCenterScale": "score_scale",
    "dynamicScoreCenterZeroWeight": "centre_to_zero",
    "dynamicScoreUtilityFactor": "dynamic_score",
    "fpuReductionMax": "fpu_reduction",
    "lcbStdevs": "lcb_stdevs",
    "minVisitPropForLCB": "lcb_least",
    "rootFpuReductionMax": "root_fpu_reduction",
    "staticScoreUtilityFactor": "static_score",
    "uncertaintyCoeff": "uncertainty",
    "useGraphSearch": "graph",
    "valueWeightExponent": "value_weight",
    "wideRootNoise": "wide_root_noise",
}
NAMES = (*_SETTINGS, *_SEARCH)


def read(settings: GtpSettings, name: str) -> str:
    """The value of a setting as text; raises GtpError."""
    return json.dumps(_value(settings, name)).strip('"')


def read_all(settings: GtpSettings) -> str:
    """All settings as one line of JSON."""
    return json.dumps({name: _value(settings, name) for name in sorted(NAMES)})


def _value(settings: GtpSettings, name: str) -> Any:
    if name == "resignThreshold":
        return round(2 * settings.resign_winrate - 1, 6)
    if name in _SETTINGS:
        return getattr(settings, _SETTINGS[name].field)
    if name in _SEARCH:
        from tengen.search.params import SearchParams

        parameter = _SEARCH[name]
        return settings.search.get(parameter, getattr(SearchParams(), parameter))
    raise GtpError(f"unknown parameter: {name[:80]}")


def changed(settings: GtpSettings, name: str, text: str) -> GtpSettings:
    """The settings with one of them changed; raises ValueError."""
    if name in _SEARCH:
        return _with_search(settings, _SEARCH[name], text)
    if name not in _SETTINGS:
        raise GtpError(f"unknown parameter: {name[:80]}")
    changed_field, kind = _SETTINGS[name]
    value: Any
    if kind is bool:
        value = parse_bool(text)
    elif kind is int:
        value = round(parse_float(text))
    elif kind is float:
        value = parse_float(text)
    else:
        value = text.upper()
    if name == "resignThreshold":
        value = (1 + value) / 2
    return replace(settings, **{changed_field: value})


def _with_search(settings: GtpSettings, name: str, text: str) -> GtpSettings:
    from tengen.search.params import SearchParams

    is_switch = isinstance(getattr(SearchParams(), name), bool)
    value = parse_bool(text) if is_switch else parse_float(text)
    search: dict[str, Any] = {**settings.search, name: value}
    SearchParams(**search)  # raises ValueError for what cannot be
    return replace(settings, search=search)
