"""What clients can change while a session runs, by KataGo's names of parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tengen.engine.katago_params import (
    GTP,
    KATAGO_PARAMS,
    PERSPECTIVES,
    SIDE_TO_MOVE,
    KataGoParam,
    parse_value,
)
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp_options import GtpOptions
from tengen.frontends.katago_reports import sign_for
from tengen.game.color import Color


@dataclass(frozen=True)
class GtpSettings:
    """How to play and report; raises GtpError for values out of range."""

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
            if value is not None and not value > 0:
                raise GtpError(f"{name} must be over 0, not {value!r}")
        for name in ("lag", "resign_winrate", "resign_least_moves", "analysis_noise"):
            if not getattr(self, name) >= 0:
                raise GtpError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        for name in ("resign_turns", "pv_length"):
            if not getattr(self, name) >= 1:
                raise GtpError(f"{name} must be 1 or more, not {getattr(self, name)!r}")
        if self.perspective not in PERSPECTIVES:
            raise GtpError(f"{self.perspective!r} is none of {', '.join(PERSPECTIVES)}")

    def sign_for(self, to_play: Color) -> int:
        """1 if reports are for the side to play, -1 if they are for its opponent."""
        return sign_for(self.perspective, to_play)


def initial_settings(options: GtpOptions) -> GtpSettings:
    """The settings that a session starts with; raises GtpError."""
    shared = {each.name for each in fields(options)} & {each.name for each in fields(GtpSettings)}
    return GtpSettings(**{name: getattr(options, name) for name in shared})


NAMES = tuple(name for name, param in KATAGO_PARAMS.items() if GTP in param.takers)


def read(settings: GtpSettings, name: str) -> str:
    """The value of a parameter as text; raises GtpError."""
    return json.dumps(_value(settings, _param(name))).strip('"')


def read_all(settings: GtpSettings) -> str:
    """All parameters as one line of JSON."""
    return json.dumps({name: _value(settings, _param(name)) for name in sorted(NAMES)})


def changed(settings: GtpSettings, name: str, text: str) -> GtpSettings:
    """The settings with one parameter changed; raises ValueError."""
    param = _param(name)
    value = parse_value(param, text)
    if name == "resignThreshold":  # which KataGo counts from -1 to 1
        value = (1 + value) / 2
    if not param.of_search:
        return replace(settings, **{param.field: value})
    from tengen.search.params import SearchParams

    search: dict[str, Any] = {**settings.search, param.field: value}
    SearchParams(**search)  # raises ValueError for values out of range
    return replace(settings, search=search)


def _param(name: str) -> KataGoParam:
    if name not in NAMES:
        raise GtpError(f"unknown parameter: {name[:80]}")
    return KATAGO_PARAMS[name]


def _value(settings: GtpSettings, param: KataGoParam) -> Any:
    if param.name == "resignThreshold":
        return round(2 * settings.resign_winrate - 1, 6)
    if not param.of_search:
        return getattr(settings, param.field)
    if param.field in settings.search:
        return settings.search[param.field]
    from tengen.search.params import SearchParams

    return getattr(SearchParams(), param.field)
