"""Commands about the session: names, rules, parameters under KataGo's names, clocks.

Only parameters about people, which not every network knows, wait for the network.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from tengen.engine.katago_params import (
    GTP,
    KATAGO_PARAMS,
    PROFILE,
    SPOKEN_VERSION,
    KataGoParam,
    needs_people,
    with_root_optimism,
)
from tengen.frontends.command_options import GTP_SEARCH, GtpOptions
from tengen.frontends.gtp.protocol import GtpError, command, parse_float, parse_int
from tengen.frontends.gtp.session import Commands, GtpSession
from tengen.frontends.katago_settings import with_param
from tengen.game.color import Color
from tengen.search.clock import MAX_SECONDS, TimeControl, set_left

# KGS means positional superko by its Chinese rules.
_KGS_RULES = {
    "chinese": "chinese-kgs",
    "japanese": "japanese",
    "aga": "aga",
    "new_zealand": "new-zealand",
}
# KataGo tells these as text, the others as JSON.
_TOLD_AS_TEXT = (
    *("analysisWideRootNoise", "analysisIgnorePreRootHistory", "genmoveAntiMirror", "antiMirror"),
    *("humanSLProfile", "allowResignation", "ponderingEnabled", "delayMoveScale", "delayMoveMax"),
    "reportAnalysisWinratesAs",
)
NAMES = tuple(name for name, param in KATAGO_PARAMS.items() if GTP in param.takers)


class SettingsCommands(Commands):
    # The engine itself

    @command()
    def protocol_version(self) -> str:
        return "2"

    @command()
    def name(self) -> str:
        return self.session.settings.name

    @command()
    def version(self) -> str:
        return SPOKEN_VERSION

    @command()
    def known_command(self, name: str) -> str:
        return "true" if name in self.session.command_names else "false"

    @command()
    def list_commands(self) -> str:
        return "\n".join(self.session.command_names)

    @command("quit", "stop", "kgs-game_over", "cgos-gameover")
    def end_search(self, *_: str) -> None:
        self.session.rest()

    @command("cputime", "gomill-cpu_time")
    def cpu_time(self) -> str:
        return f"{time.process_time():.3f}"

    @command("gogui-interrupt", "cgos-opponent_rating")
    def accept(self, *_: str) -> None:
        """Do nothing: GoGui asks by this name whether `# interrupt` is understood."""

    @command("cgos-opponent_name")
    def cgos_opponent_name(self, *name: str) -> None:
        self.session.opponent = " ".join(name)

    # Rules

    @command("kata-get-rules")
    def get_rules(self) -> str:
        rules = self.session.position.rules.as_json()
        return json.dumps(rules, sort_keys=True, separators=(",", ":"))

    @command("kata-set-rules")
    def set_rules(self, *rules: str) -> None:
        if not rules:
            raise GtpError("syntax error: write kata-set-rules RULES")
        self.session.set_terms(" ".join(rules))

    @command("kata-set-rule")
    def set_rule(self, rule: str, value: str) -> None:
        key = "scoring" if rule == "score" else rule  # the other name of scoring
        self.session.set_terms({**self.session.position.rules.as_json(), key: value})

    @command("kgs-rules")
    def kgs_rules(self, rules: str) -> None:
        if rules.lower() not in _KGS_RULES:
            raise GtpError(f"unknown rules {rules[:40]!r}; known are {', '.join(_KGS_RULES)}")
        self.session.set_terms(_KGS_RULES[rules.lower()])

    # Parameters

    @command("kata-list-params")
    def list_params(self) -> str:
        return " ".join(NAMES)

    @command("kata-get-param")
    def get_param(self, param: str) -> str:
        value = _param_value(self.session.settings, _param(param))
        if param not in _TOLD_AS_TEXT:
            return json.dumps(value)
        return f"{value:g}" if isinstance(value, float) else json.dumps(value).strip('"')

    @command("kata-get-params")
    def get_params(self) -> str:
        settings = self.session.settings
        values = {name: _param_value(settings, KATAGO_PARAMS[name]) for name in NAMES}
        values |= {name: self.get_param(name) for name in _TOLD_AS_TEXT}
        return json.dumps(values, sort_keys=True)

    @command("kata-set-param")
    def set_param(self, param: str, value: str = "") -> None:
        _change(self.session, {param: value})

    @command("kata-set-params")
    def set_params(self, *params: str) -> None:
        try:
            given = json.loads(" ".join(params))
        except ValueError as error:
            raise GtpError(f"not a JSON object: {error}") from None
        if not isinstance(given, dict):
            raise GtpError("write kata-set-params with a JSON object")
        _change(self.session, given)

    @command("gogui-param")
    def gogui_param(self, name: str | None = None, *value: str) -> str | None:
        """All parameters with their types for GoGui's dialog, or one that is changed."""
        if name is None:
            texts = {known: self.get_param(known) for known in NAMES}
            words = {"true": "1", "false": "0"}
            return "\n".join(
                f"[{'bool' if text in words else 'string'}] {known} {words.get(text, text)}"
                for known, text in texts.items()
            )
        if not value:
            raise GtpError("syntax error: write gogui-param [NAME VALUE]")
        _change(self.session, {name: " ".join(value)})
        return None

    # Clocks

    @command()
    def time_settings(self, main_time: float, byo_yomi_time: float, byo_yomi_stones: int) -> None:
        self.session.set_time_control(_canadian(main_time, byo_yomi_time, byo_yomi_stones))

    @command("kgs-time_settings", "kata-time_settings")
    def named_time_settings(self, kind: str, *times: str) -> None:
        self.session.set_time_control(_time_control(kind.lower(), times))

    @command("kata-list_time_settings")
    def list_time_settings(self) -> str:
        return " ".join(_TIME_SETTINGS)

    @command()
    def time_left(self, color: Color, time: float, stones: int) -> None:
        clocks = self.session.clocks
        clocks[color] = set_left(clocks[color], time, stones)

    @command("kata-debug-print-tc")
    def print_clocks(self) -> str:
        return "\n".join(f"{color.name.title()} {self.session.clocks[color]}" for color in Color)


def _change(session: GtpSession, values: dict[str, Any]) -> None:
    """Change parameters, all or none; raises ValueError."""
    changed = session.settings
    for name, value in values.items():
        if needs_people(name) and value != "":
            _check_people(session, name)
        changed = with_param(changed, _param(name), value)
    session.rest()
    session.settings = changed


def _check_people(session: GtpSession, name: str) -> None:
    """Raise GtpError if there is no network that a parameter about people is for.

    A main network that imitates people also uses the profile.
    """
    if name not in NAMES:
        return
    if name == PROFILE:
        known = session.engine().imitates_people
    else:
        given = session.settings.human_model is not None
        known = given or session.engine().human_network is not None
    if not known:
        raise GtpError(
            f"{name} needs a network that was trained on the moves of people: --human-model FILE"
        )


def _param(name: str) -> KataGoParam:
    if name not in NAMES:
        raise GtpError(f"unknown parameter: {name[:80]}")
    return KATAGO_PARAMS[name]


def _param_value(settings: GtpOptions, param: KataGoParam) -> Any:
    if param.name == "resignThreshold":
        return round(2 * settings.resign_winrate - 1, 6)
    if param.name == "genmoveAntiMirror":
        return settings.plays_anti_mirror
    if not param.field:
        return settings.without_effect.get(param.name, param.usual)
    if param.of_human:
        return getattr(settings.human, param.field)
    if not param.of_search:
        value = getattr(settings, param.field)
        return param.kind(param.high) if value is None else value
    from tengen.search.params import SearchParams

    search = {**vars(SearchParams()), **GTP_SEARCH, **with_root_optimism(settings.search)}
    return param.kind(search[param.field])


def _time_control(kind: str, texts: tuple[str, ...]) -> TimeControl:
    """A time control by its name; raises ValueError."""
    if kind not in _TIME_SETTINGS:
        known = ", ".join(_TIME_SETTINGS)
        raise GtpError(f"unknown time settings {kind[:40]!r}; known are {known}")
    usage, make = _TIME_SETTINGS[kind]
    words = usage.split()
    if len(texts) < len(words):
        raise GtpError(f"syntax error: write {kind} {usage}")
    counts = ("PERIODS", "STONES")
    values = [
        parse_int(text) if word in counts else parse_float(text)
        for word, text in zip(words, texts, strict=False)
    ]
    return make(*values)


def _canadian(main: float, period: float, stones: int) -> TimeControl:
    """Canadian time as GTP writes it: overtime without stones is no time limit at all."""
    if stones == 0:
        return TimeControl.none() if period > 0 else TimeControl.absolute(main)
    return TimeControl.canadian(main, period, stones)


def _byo_yomi(main: float, period: float, periods: int) -> TimeControl:
    return TimeControl.byo_yomi(main, period, periods) if periods else TimeControl.absolute(main)


def _capped(main: float, increment: float, limit: float, per_move: float) -> TimeControl:
    limit, per_move = (time if time >= 0 else MAX_SECONDS for time in (limit, per_move))
    return TimeControl.fischer(main, increment, max(limit, main), per_move)


_TIME_SETTINGS: dict[str, tuple[str, Callable[..., TimeControl]]] = {
    "none": ("", TimeControl.none),
    "absolute": ("MAIN_TIME", TimeControl.absolute),
    "byoyomi": ("MAIN_TIME PERIOD_TIME PERIODS", _byo_yomi),
    "canadian": ("MAIN_TIME PERIOD_TIME STONES", _canadian),
    "fischer": ("MAIN_TIME INCREMENT", TimeControl.fischer),
    "fischer-capped": ("MAIN_TIME INCREMENT MAIN_TIME_LIMIT MAX_TIME_PER_MOVE", _capped),
}
